"""Those who disturb: what they ask of whom, and that everything is put right."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from eosctl.errors import EosctlError, UsageError
from eosctl.lab.engine import Capability
from eosctl.verify.nemesis import (
    CombinedNemesis,
    CommandNemesis,
    EngineNemesis,
    SandboxNemesis,
    engine_ranges,
    sandbox_ranges,
)
from eosctl.verify.plan import FaultRange, PlannedFault


class Control:
    """Remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, command: str, arguments: dict[str, Any]) -> None:
        self.asked.append((command, arguments))


def commands(kind: str, amount: int = 0) -> list[tuple[str, dict[str, Any]]]:
    control = Control()
    nemesis = SandboxNemesis(control)
    fault = PlannedFault(0, 0, kind, 2, amount)

    async def story() -> None:
        await nemesis.begin(fault)
        await nemesis.end(fault)
        await nemesis.heal()

    asyncio.run(story())
    return control.asked


def test_a_killed_broker_is_started_once() -> None:
    assert commands("kill-broker") == [
        ("kill-broker", {"broker": 2}),
        ("heal", {}),
        ("start-broker", {"broker": 2}),
        ("heal", {}),
    ]
    assert commands("stop-broker")[0] == ("stop-broker", {"broker": 2})


def test_frames_are_hit_in_both_directions() -> None:
    assert commands("drop-frames", 7)[:2] == [
        ("fault", {"action": "drop", "count": 7, "source": 2}),
        ("fault", {"action": "drop", "count": 7, "destination": 2}),
    ]
    assert commands("delay-frames", 50)[0] == ("fault", {"action": "delay", "delay_ms": 50, "source": 2})


def test_clocks_are_set_right() -> None:
    assert commands("skew-clock", -300)[:3] == [
        ("skew-clock", {"node": 2, "ms": -300}),
        ("heal", {}),
        ("skew-clock", {"node": 2, "ms": 0}),
    ]


def test_a_single_broker_has_no_links_to_be_cut() -> None:
    assert {one.kind for one in sandbox_ranges([1], [1])} == {"kill-broker", "stop-broker", "skew-clock"}
    assert {"isolate-broker", "kill-controller"} < {one.kind for one in sandbox_ranges([1, 2, 3], [100])}


class Machine:
    """An engine that remembers."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []

    def brokers(self) -> tuple[Any, ...]:
        return ()

    def capabilities(self) -> frozenset[Capability]:
        return frozenset({Capability.KILL, Capability.PAUSE})

    def __getattr__(self, name: str) -> Any:
        async def do(broker_id: int) -> None:
            self.done.append((name, broker_id))

        return do


def test_processes_are_killed_and_paused_and_come_back() -> None:
    machine = Machine()
    nemesis = EngineNemesis(machine)  # type: ignore[arg-type]

    async def story() -> None:
        for kind in ("kill-broker", "pause-broker", "stop-broker"):
            fault = PlannedFault(0, 0, kind, 1)
            await nemesis.begin(fault)
            await nemesis.end(fault)

    asyncio.run(story())
    names = [name for name, _ in machine.done]
    assert names == ["kill", "restart", "pause", "resume", "stop", "restart"]
    assert {one.kind for one in engine_ranges(machine)} == {"kill-broker", "pause-broker"}  # type: ignore[arg-type]


def program(folder: Path, text: str) -> Path:
    path = folder / "nemesis"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


def test_a_program_is_called_with_begin_and_end(tmp_path: Path) -> None:
    nemesis = CommandNemesis(program(tmp_path, f'echo "$@" >> {tmp_path}/calls'))
    fault = PlannedFault(0, 0, "command", 3)

    async def story() -> None:
        await nemesis.begin(fault)
        await nemesis.end(fault)
        await nemesis.begin(fault)
        await nemesis.heal()
        await nemesis.heal()

    asyncio.run(story())
    assert (tmp_path / "calls").read_text().splitlines() == ["begin 3", "end 3", "begin 3", "end 3"]


def test_a_program_that_fails_is_told(tmp_path: Path) -> None:
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
            ((FaultRange("kill-broker", (1,)),), SandboxNemesis(one)),
            ((FaultRange("stop-broker", (1,)),), SandboxNemesis(other)),
        ]
    )
    assert [fault.kind for fault in combined.ranges] == ["kill-broker", "stop-broker"]

    async def story() -> None:
        await combined.begin(PlannedFault(0, 0, "stop-broker", 1))
        await combined.heal()

    asyncio.run(story())
    assert one.asked == [("heal", {})]
    assert [name for name, _ in other.asked] == ["stop-broker", "heal", "start-broker"]
