"""Executes a fault schedule on a simulated cluster, and undoes all faults at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from eosctl.lab.schedule import DrawnKind, Fault, Schedule
from eosctl.lab.simulation import Simulation
from eosctl.sandbox.network import CLIENTS, FaultAction, LinkFault
from eosctl.wire.api_keys import ApiKey

_ACTIONS = {
    DrawnKind.DROP_FRAMES: FaultAction.DROP,
    DrawnKind.DUPLICATE_FRAMES: FaultAction.DUPLICATE,
    DrawnKind.REORDER_FRAMES: FaultAction.REORDER,
}


async def disturb(simulation: Simulation, schedule: Schedule) -> None:
    """Start and end every fault at its time; faults may overlap. Return when the last one has ended."""
    await asyncio.gather(*(_suffer(simulation, fault) for fault in schedule))
    heal(simulation)


def heal(simulation: Simulation) -> None:
    """Start every stopped node, repair every link, and reset every clock."""
    core = simulation.core
    core.network.heal()
    simulation.pace.extra_ms = 0
    for node in core.nodes.values():
        node.runtime.skew_ms = 0
    for node_id in core.node_ids:
        _start(simulation, node_id)


async def _suffer(simulation: Simulation, fault: Fault) -> None:
    core = simulation.core
    await asyncio.sleep(fault.at_ms / 1000)
    match fault.kind:
        case DrawnKind.KILL_BROKER | DrawnKind.STOP_BROKER | DrawnKind.KILL_CONTROLLER:
            _stop(simulation, fault.target, clean=fault.kind is DrawnKind.STOP_BROKER)
            await _last(fault)
            _start(simulation, fault.target)
        case DrawnKind.DISCONNECT_CLIENTS:
            simulation.disconnect_clients(fault.target)
        case DrawnKind.STALL_CLIENTS:
            simulation.stall_clients(fault.target, fault.duration_ms)
            await _last(fault)
        case DrawnKind.SLOW_CLIENTS:
            simulation.pace.extra_ms = fault.amount
            await _last(fault)
            simulation.pace.extra_ms = 0
        case DrawnKind.LATE_OFFSET_COMMIT:
            await _hold_an_offset_commit(simulation, fault)
        case DrawnKind.SKEW_CLOCK:
            node = core.nodes.get(fault.target)
            if node is not None:
                node.runtime.skew_ms = fault.amount
                await _last(fault)
                node.runtime.skew_ms = 0
        case _:
            link_faults = _link_faults(fault)
            for one in link_faults:
                core.network.add_fault(one)
            await _last(fault)
            for one in link_faults:
                core.network.remove_fault(one)


async def _hold_an_offset_commit(simulation: Simulation, fault: Fault) -> None:
    """Delay the next TxnOffsetCommit at any broker; its sender may be fenced by then."""
    late = LinkFault(
        FaultAction.DELAY,
        source=CLIENTS,
        api_key=ApiKey.TXN_OFFSET_COMMIT,
        requests=True,
        count=1,
        delay_ms=fault.amount,
    )
    brokers = simulation.core.brokers()
    for broker in brokers:
        broker.client_faults.faults.append(late)
    await _last(fault)
    for broker in brokers:
        broker.client_faults.faults.remove(late)


def _link_faults(fault: Fault) -> Sequence[LinkFault]:
    other = fault.other or None
    ends = ((fault.target, other), (other, fault.target))
    if fault.kind in (DrawnKind.ISOLATE_BROKER, DrawnKind.CUT_LINK):
        return [LinkFault(FaultAction.DROP, source=source, destination=to) for source, to in ends]
    if fault.kind is DrawnKind.DELAY_FRAMES:
        return [LinkFault(FaultAction.DELAY, source=a, destination=b, delay_ms=fault.amount) for a, b in ends]
    return [LinkFault(_ACTIONS[fault.kind], source=a, destination=b, count=fault.amount) for a, b in ends]


async def _last(fault: Fault) -> None:
    await asyncio.sleep(fault.duration_ms / 1000)


def _stop(simulation: Simulation, node_id: int, *, clean: bool) -> None:
    if node_id in simulation.core.nodes:
        simulation.core.stop_node(node_id, clean=clean)
        if node_id in simulation.core.broker_ids:
            simulation.disconnect_clients(node_id)


def _start(simulation: Simulation, node_id: int) -> None:
    if node_id not in simulation.core.nodes:
        simulation.core.start_node(node_id)
