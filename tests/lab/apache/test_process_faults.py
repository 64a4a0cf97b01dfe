"""Faults of real brokers, on processes that only change their states."""

from __future__ import annotations

import asyncio

import pytest

from eosctl.errors import EosctlError
from eosctl.lab.apache.brokers import BrokerHandle, BrokerProcesses, BrokerState
from eosctl.lab.apache.faults import ProcessFaults
from eosctl.lab.engine import UnsupportedFault
from eosctl.lab.virtual_loop import run_virtual
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.faults.order import parse_order


class Processes:
    """Three brokers whose processes only change their states."""

    def __init__(self) -> None:
        self.states = dict.fromkeys((1, 2, 3), BrokerState.RUNNING)

    def brokers(self) -> tuple[BrokerHandle, ...]:
        return tuple(BrokerHandle(node, "127.0.0.1", 9000 + node, state) for node, state in self.states.items())

    async def stop(self, broker_id: int) -> None:
        self.states[broker_id] = BrokerState.STOPPED

    async def kill(self, broker_id: int) -> None:
        self.states[broker_id] = BrokerState.STOPPED

    async def pause(self, broker_id: int) -> None:
        self.states[broker_id] = BrokerState.PAUSED

    async def resume(self, broker_id: int) -> None:
        self.states[broker_id] = BrokerState.RUNNING

    async def restart(self, broker_id: int) -> None:
        self.states[broker_id] = BrokerState.RUNNING


def up_count(processes: BrokerProcesses) -> int:
    return sum(broker.state is BrokerState.RUNNING for broker in processes.brokers())


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("kill node=2", BrokerState.STOPPED),
        ("stop node=2", BrokerState.STOPPED),
        ("pause node=2", BrokerState.PAUSED),
        ("restart node=2", BrokerState.RUNNING),
    ],
)
def test_a_fault_changes_one_process_and_its_end_brings_it_back(words: str, state: BrokerState) -> None:
    async def scenario() -> list[str]:
        processes = Processes()
        faults = ProcessFaults(processes)
        active = await faults.inject(parse_order(words.split()))
        assert processes.states == {1: BrokerState.RUNNING, 2: state, 3: BrokerState.RUNNING}
        await faults.end(active.number)
        assert up_count(processes) == 3
        return [event.what for event in faults.events]

    assert run_virtual(scenario(), 0) == (["begins", "ends"] if state is not BrokerState.RUNNING else ["begins"])


def test_a_fault_with_a_time_ends_by_itself() -> None:
    async def scenario() -> None:
        processes = Processes()
        faults = ProcessFaults(processes)
        await faults.inject(parse_order(["pause", "node=1", "for=5s"]))
        await asyncio.sleep(4.9)
        assert processes.states[1] is BrokerState.PAUSED
        await asyncio.sleep(0.2)
        assert processes.states[1] is BrokerState.RUNNING
        assert not faults.active

    run_virtual(scenario(), 0)


def test_random_faults_hit_running_brokers_and_heal_starts_all() -> None:
    async def scenario() -> None:
        processes = Processes()
        commands = fault_commands(ProcessFaults(processes))
        for _ in range(3):
            await commands["inject"]({"words": ["kill", "node=any"], "seed": 3})
        assert up_count(processes) == 0
        with pytest.raises(EosctlError, match="No broker can be chosen"):
            await commands["inject"]({"words": ["kill", "node=any"]})
        assert await commands["end-faults"]({}) == 3
        assert up_count(processes) == 3

    run_virtual(scenario(), 0)


def test_an_unsupported_process_fault_names_the_alternative() -> None:
    async def scenario() -> None:
        faults = ProcessFaults(Processes())
        for words in ("skew node=1 ms=5", "drop from=1", "kill node=1 lose=2"):
            with pytest.raises(UnsupportedFault) as refused:
                await faults.inject(parse_order(words.split()))
            assert "sandbox proxy" in refused.value.next_step
        with pytest.raises(EosctlError, match="There is no broker 9"):
            await faults.inject(parse_order(["kill", "node=9"]))
        await faults.inject(parse_order(["pause", "node=1"]))
        with pytest.raises(EosctlError, match="Broker 1 is paused"):
            await faults.inject(parse_order(["kill", "node=1"]))

    run_virtual(scenario(), 0)
