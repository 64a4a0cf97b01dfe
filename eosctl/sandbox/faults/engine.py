"""The fault engine: injects faults, ends them, and records both.

Use::

    engine = FaultEngine(host, seed=7)
    active = await engine.inject(parse_order("delay from=clients api=END_TXN ms=500 count=1"))
    await engine.end(active.number)      # or automatically, with for=5s
    await engine.heal()                  # ends all active faults, starts every node

It works with any `FaultHost`: a cluster on sockets, or a simulated one. Faults that belong to a broker (its clients'
streams, its clock, its bugs) are applied again after a restart. Random choices (`node=any`, `chance=0.1`) depend on the
seed alone.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from eosctl.errors import EosctlError, UsageError
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.core import ClusterCore
from eosctl.sandbox.faults.bugs import BUGS, find_bug
from eosctl.sandbox.faults.choice import check_nodes, choose_nodes
from eosctl.sandbox.faults.coordinators import begin_replay_storm, move_coordinator
from eosctl.sandbox.faults.disks import lose_page_cache
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.links import is_of_clients, link_faults, node_of_stream
from eosctl.sandbox.faults.materialization import LateMaterialization
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.faults.register import ActiveFault, FaultEvent, FaultRegister
from eosctl.sandbox.log.directories import directory_paths
from eosctl.sandbox.metadata.image import TOPIC_RESOURCE
from eosctl.sandbox.network import LinkFault
from eosctl.sandbox.node import Node
from eosctl.storage.names import parse_partition_directory

LATE_LIMIT_MS: Final = 1_000.0
"""Maximum delay of a late materialization, unless the fault sets another one."""

IMMEDIATELY: Final = frozenset(
    {
        FaultKind.START,
        FaultKind.RESTART,
        FaultKind.FAIL_DISK,
        FaultKind.MOVE_COORDINATOR,
        FaultKind.UNLOAD_COORDINATOR,
    }
)
#: Applied to each node, and again to a node that starts.
_OF_NODES: Final = frozenset(
    {FaultKind.SKEW, FaultKind.LATE_MATERIALIZATION, FaultKind.REPLAY_STORM, FaultKind.EXHAUST_PRODUCER_IDS}
)


class FaultHost(Protocol):
    """A cluster into which faults are injected."""

    @property
    def core(self) -> ClusterCore:
        """Return the nodes."""

    async def kill_broker(self, broker_id: int) -> None:
        """Kill a node like `kill -9`."""

    async def stop_broker(self, broker_id: int) -> None:
        """Shut a node down cleanly."""

    async def start_broker(self, broker_id: int) -> None:
        """Start a stopped node."""

    def drop_clients(self, node_id: int) -> None:
        """Disconnect a broker's clients."""


class FaultEngine(FaultRegister):
    """The faults of a cluster, by number."""

    def __init__(self, host: FaultHost, *, seed: int = 0, record: Callable[[FaultEvent], None] | None = None) -> None:
        super().__init__(host.core.loop, seed=seed, record=record)
        self._host = host
        self._bugs: dict[str, bool] = {}
        self._core.on_start = self._started

    @property
    def _core(self) -> ClusterCore:
        return self._host.core

    def bug_states(self) -> dict[str, bool]:
        """Return the state of each known bug that the release can have."""
        release = self._core.shape.emulation.release
        return {bug.name: self._bugs.get(bug.name, bug.is_default) for bug in BUGS if release in bug.releases}

    def switch_bug(self, name: str, on: bool) -> None:
        """Enable or disable a known bug on all brokers, across restarts.

        Raises:
            UsageError: The bug is unknown, or the emulated release cannot have it.
        """
        bug = find_bug(name, self._core.shape.emulation.release)
        self._bugs[bug.name] = on
        for broker in self._core.brokers():
            bug.switch(broker, on)

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Inject a fault; return when it has started.

        Raises:
            EosctlError: The cluster cannot have the fault now: unknown node, stopped node, or no other replica.
        """
        order = choose_nodes(order, [broker.node_id for broker in self._core.brokers()], self.chance)
        check_nodes(order, self._core.node_ids)
        self._check(order)
        active = self._numbered(order)
        what = await self._begin(active)
        self._note(active, what or "begins")
        if order.kind not in IMMEDIATELY:
            self._keep_active(active)
        return active

    async def heal(self) -> None:
        """End all active faults, the latest first, and start every stopped node."""
        await super().heal()
        for node_id in self._core.hosted_ids:
            if node_id not in self._core.nodes:
                await self._host.start_broker(node_id)

    # --- beginning ----------------------------------------------------------------------------------------------

    async def _begin(self, active: ActiveFault) -> str:
        order, node = active.order, active.order.node or 0
        match order.kind:
            case FaultKind.KILL | FaultKind.RESTART:
                return await self._kill(order)
            case FaultKind.STOP:
                await self._host.stop_broker(node)
            case FaultKind.START:
                await self._host.start_broker(node)
            case FaultKind.PAUSE:
                self._core.pause_node(node)
            case FaultKind.MOVE_COORDINATOR | FaultKind.UNLOAD_COORDINATOR:
                return await move_coordinator(self._core, order)
            case FaultKind.FULL_DISK | FaultKind.FAIL_DISK:
                self._break_disk(active)
            case FaultKind.DISCONNECT if order.api is None:
                for broker_id in self._core.broker_ids if order.node is None else [order.node]:
                    self._host.drop_clients(broker_id)
            case FaultKind.BUG:
                before = self.bug_states()[order.name]
                self.switch_bug(order.name, order.on)
                active.undo.append(lambda: self.switch_bug(order.name, before))
            case kind if kind in _OF_NODES:
                for each in self._core.nodes.values():
                    self._affect(active, each)
            case _:
                self._disturb_links(active)
        return ""

    async def _kill(self, order: FaultOrder) -> str:
        node = order.node or 0
        flush_messages = _flush_policy(self._core.nodes[node].broker)
        await self._host.kill_broker(node)
        what = "killed"
        if order.lose or order.torn:
            directories = directory_paths(self._core.directory_of(node), self._core.shape.log_dir_count)
            count = max(1, order.lose)
            lost = lose_page_cache(directories, count, torn=order.torn, flush_messages=flush_messages)
            what += ", its disk lost " + (", ".join(f"{name} {size} bytes" for name, size in lost.items()) or "nothing")
        if order.kind is FaultKind.RESTART:
            await self._host.start_broker(node)
            what += ", started again"
        return what

    def _break_disk(self, active: ActiveFault) -> None:
        order = active.order
        directories = self._core.broker(order.node or 0).logs.all
        if not 1 <= order.directory <= len(directories):
            raise EosctlError(
                f"Broker {order.node} has no log directory {order.directory}.",
                f"It has {len(directories)}.",
                "See --log-dirs.",
            )
        directory = directories[order.directory - 1]
        if order.kind is FaultKind.FAIL_DISK:
            directory.fail(OSError(errno.EIO, os.strerror(errno.EIO)))
            return

        def free() -> None:
            directory.refusal = None

        directory.refusal = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        active.undo.append(free)

    def _disturb_links(self, active: ActiveFault) -> None:
        active.link_faults = link_faults(active.order, self._core.node_ids, self.chance)
        for fault in active.link_faults:
            if not is_of_clients(fault):
                self._core.network.add_fault(fault)
            else:
                for broker in self._core.brokers():
                    self._put_on_streams(fault, broker)

    def _put_on_streams(self, fault: LinkFault, broker: Broker) -> None:
        if node_of_stream(fault) in (None, broker.node_id):
            broker.client_faults.faults.append(fault)

    def _remove(self, fault: LinkFault) -> None:
        if not is_of_clients(fault):
            self._core.network.remove_fault(fault)
        for broker in self._core.brokers():
            if fault in broker.client_faults.faults:
                broker.client_faults.faults.remove(fault)

    def _affect(self, active: ActiveFault, node: Node) -> None:
        """Apply the part of a fault that belongs to a node: clock, producer ids, or coordinator delays."""
        order = active.order
        if order.node not in (None, node.plan.node_id):
            return
        if order.kind is FaultKind.SKEW:
            node.runtime.skew_ms += order.ms

            def set_right() -> None:
                node.runtime.skew_ms -= order.ms

            active.undo.append(set_right)
        elif node.broker is not None:
            active.undo.append(_EFFECTS[order.kind](node.broker, order))

    # --- ending -------------------------------------------------------------------------------------------------

    async def _undo(self, active: ActiveFault) -> None:
        for fault in active.link_faults:
            self._remove(fault)
        for undo in active.undo:
            undo()
        await self._bring_back(active.order)
        self._core.ticks.schedule()

    async def _bring_back(self, order: FaultOrder) -> None:
        node = order.node or 0
        match order.kind:
            case FaultKind.KILL | FaultKind.STOP | FaultKind.FULL_DISK if node not in self._core.nodes:
                await self._host.start_broker(node)
            case FaultKind.PAUSE if node in self._core.nodes:
                self._core.resume_node(node)

    # --- who and when -------------------------------------------------------------------------------------------

    def _started(self, node: Node) -> None:
        broker = node.broker
        for active in self.active:
            if active.order.kind in _OF_NODES:
                self._affect(active, node)
            for fault in active.link_faults if broker is not None else ():
                if is_of_clients(fault):
                    self._put_on_streams(fault, broker)  # type: ignore[arg-type]
        for name, on in self._bugs.items() if broker is not None else ():
            find_bug(name, self._core.shape.emulation.release).switch(broker, on)  # type: ignore[arg-type]

    def _check(self, order: FaultOrder) -> None:
        node = order.node
        if order.kind in _NEEDS_RUNNING and node not in self._core.nodes:
            raise EosctlError(
                f"Node {node} does not run.",
                f"{order.kind} is for a node that does.",
                f"Start it: eosctl sandbox fault start node={node}",
            )
        if order.kind is FaultKind.START and node in self._core.nodes:
            raise EosctlError(
                f"Node {node} runs already.",
                "Only a stopped one can be started.",
                "See who runs: eosctl sandbox status",
            )
        if order.kind in _NEEDS_BROKER and node is not None and node not in self._core.broker_ids:
            raise EosctlError(
                f"Node {node} is a controller.", f"Only brokers can suffer {order.kind}.", "Name a broker."
            )
        if order.kind is FaultKind.BUG:
            find_bug(order.name, self._core.shape.emulation.release)
        if order.kind is FaultKind.LATE_MATERIALIZATION and not self._core.shape.emulation.is_3_9:
            raise UsageError(
                "The group coordinator of 4.x has no late materialization.",
                "KAFKA-17507 is in the classic coordinator, up to 3.9.0.",
                "Start the sandbox with --emulate 3.9.",
            )


_NEEDS_RUNNING: Final = frozenset(
    {FaultKind.KILL, FaultKind.STOP, FaultKind.RESTART, FaultKind.PAUSE, FaultKind.FULL_DISK, FaultKind.FAIL_DISK}
)
_NEEDS_BROKER: Final = frozenset({FaultKind.FULL_DISK, FaultKind.FAIL_DISK, FaultKind.DISCONNECT})


def _delay_materialization(broker: Broker, order: FaultOrder) -> Callable[[], None]:
    groups = broker.groups
    former, hooks = groups.materialize, (groups.offsets.on_pending, groups.offsets.on_appended)
    late = LateMaterialization(broker, order.when, lambda: order.ms or LATE_LIMIT_MS)
    groups.materialize = late

    def in_time() -> None:
        late.release_all()
        groups.materialize = former
        groups.offsets.on_pending, groups.offsets.on_appended = hooks

    return in_time


def _withhold_producer_ids(broker: Broker, order: FaultOrder) -> Callable[[], None]:
    broker.producer_ids.withhold()

    def restore_producer_ids() -> None:
        if not broker.stopped:
            broker.producer_ids.release()

    return restore_producer_ids


_EFFECTS: Final[Mapping[FaultKind, Callable[[Broker, FaultOrder], Callable[[], None]]]] = {
    FaultKind.LATE_MATERIALIZATION: _delay_materialization,
    FaultKind.REPLAY_STORM: lambda broker, order: begin_replay_storm(broker, order.ms),
    FaultKind.EXHAUST_PRODUCER_IDS: _withhold_producer_ids,
}


def _flush_policy(broker: Broker | None) -> Callable[[str], int]:
    """Return a function from a partition directory to its `flush.messages`."""

    def flush_messages(directory: str) -> int:
        found = parse_partition_directory(directory)
        if broker is None or found is None:
            return sys.maxsize
        overrides = broker.metadata.config(TOPIC_RESOURCE, found.topic)
        return int(broker.config.topic_value(overrides, "flush.messages"))

    return flush_messages
