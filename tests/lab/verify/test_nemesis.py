"""Those who disturb: what they ask of whom, and that everything is put right."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from eosctl.errors import EosctlError, UsageError
from eosctl.lab.apache.brokers import BrokerHandle, BrokerState
from eosctl.lab.verify.nemesis import (
    CombinedNemesis,
    CommandNemesis,
    ProcessNemesis,
    SandboxNemesis,
    process_ranges,
    sandbox_ranges,
    sandbox_words,
)
from eosctl.lab.verify.plan import FaultRange, PlannedFault
from eosctl.lab.verify.proxied import proxy_ranges, proxy_words
from eosctl.sandbox.faults.links import is_of_clients, link_faults
from eosctl.sandbox.faults.order import parse_order


class Control:
    """Records requests, and numbers faults as a sandbox does."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, command: str, arguments: dict[str, Any]) -> dict[str, int]:
        self.asked.append(arguments["words"] if command == "inject" else f"{command} {arguments['number']}")
        return {"number": len(self.asked)}


def test_every_fault_has_a_valid_sandbox_syntax() -> None:
    for one in sandbox_ranges([1, 2, 3], [100]):
        words = sandbox_words(PlannedFault(0, 0, one.kind, one.targets[-1], one.amount[-1]))
        assert [str(parse_order(each)) for each in words], one.kind


def test_every_fault_of_a_proxy_is_one_that_it_can_make() -> None:
    for one in proxy_ranges([1, 2, 3]):
        for words in proxy_words(PlannedFault(0, 0, one.kind, one.targets[-1], one.amount[-1])):
            found = link_faults(parse_order(words), [1, 2, 3], random.Random(1))
            assert found, words
            assert all(map(is_of_clients, found)), words


def test_a_fault_is_ended_once_the_last_part_first() -> None:
    control = Control()
    nemesis = SandboxNemesis(control)
    fault = PlannedFault(0, 0, "drop", 2, 7)

    async def scenario() -> None:
        await nemesis.begin(fault)
        await nemesis.end(fault)
        await nemesis.heal()

    asyncio.run(scenario())
    assert control.asked == ["drop from=2 count=7", "drop to=2 count=7", "end-fault 2", "end-fault 1"]


def test_a_single_broker_has_no_links_to_be_cut() -> None:
    alone = {one.kind for one in sandbox_ranges([1], [1])}
    assert {"kill", "late-end-txn"} < alone
    assert "cut" not in alone
    many = sandbox_ranges([1, 2, 3], [100])
    assert "cut" in {one.kind for one in many}
    assert [one.targets for one in many if one.kind.endswith("kill")] == [(1, 2, 3), (100,)]


class Machine:
    """A broker's process that records what is done to it."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self.state = BrokerState.RUNNING

    def brokers(self) -> tuple[BrokerHandle, ...]:
        return (BrokerHandle(1, "127.0.0.1", 9001, self.state),)

    def __getattr__(self, name: str) -> Any:
        after = {"pause": BrokerState.PAUSED, "kill": BrokerState.STOPPED, "stop": BrokerState.STOPPED}

        async def do(broker_id: int) -> None:
            self.done.append((name, broker_id))
            self.state = after.get(name, BrokerState.RUNNING)

        return do


def test_processes_are_killed_and_paused_and_come_back() -> None:
    machine = Machine()
    nemesis = ProcessNemesis(machine)  # type: ignore[arg-type]

    async def scenario() -> None:
        for kind in ("kill", "pause", "stop"):
            fault = PlannedFault(0, 0, kind, 1)
            await nemesis.begin(fault)
            await nemesis.end(fault)

    asyncio.run(scenario())
    names = [name for name, _ in machine.done]
    assert names == ["kill", "restart", "pause", "resume", "stop", "restart"]
    assert {one.kind for one in process_ranges([1])} == {"kill", "stop", "pause"}


def program(folder: Path, text: str) -> Path:
    path = folder / "nemesis"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


def test_a_program_is_called_with_begin_and_end(tmp_path: Path) -> None:
    nemesis = CommandNemesis(program(tmp_path, f'echo "$@" >> {tmp_path}/calls'))
    fault = PlannedFault(0, 0, "command", 3)

    async def scenario() -> None:
        await nemesis.begin(fault)
        await nemesis.end(fault)
        await nemesis.begin(fault)
        await nemesis.heal()
        await nemesis.heal()

    asyncio.run(scenario())
    assert (tmp_path / "calls").read_text().splitlines() == ["begin 3", "end 3", "begin 3", "end 3"]


def test_a_failing_program_is_reported(tmp_path: Path) -> None:
    nemesis = CommandNemesis(program(tmp_path, "exit 7"))
    with pytest.raises(EosctlError, match="ended with status 7"):
        asyncio.run(nemesis.begin(PlannedFault(0, 0, "command", 1)))


def test_a_program_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no program"):
        CommandNemesis(tmp_path / "nothing")
    (tmp_path / "text").write_text("no program")
    with pytest.raises(EosctlError, match="Cannot run"):
        asyncio.run(CommandNemesis(tmp_path / "text").begin(PlannedFault(0, 0, "command", 1)))


def test_each_fault_goes_to_whose_it_is_and_all_heal() -> None:
    one, other = Control(), Control()
    combined = CombinedNemesis(
        [
            ((FaultRange("kill", (1,)),), SandboxNemesis(one)),
            ((FaultRange("stop", (1,)),), SandboxNemesis(other)),
        ]
    )
    assert [fault.kind for fault in combined.ranges] == ["kill", "stop"]

    async def scenario() -> None:
        await combined.begin(PlannedFault(0, 0, "stop", 1))
        await combined.heal()

    asyncio.run(scenario())
    assert one.asked == []
    assert other.asked == ["stop node=1", "end-fault 1"]
