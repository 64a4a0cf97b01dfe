"""Fault executors: the sandbox's control socket, processes of brokers, and user programs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

from eosctl.errors import EosctlError, UsageError
from eosctl.lab.apache.brokers import BrokerProcesses
from eosctl.lab.apache.faults import ProcessFaults
from eosctl.lab.faults import CONTROLLERS, word_of
from eosctl.lab.verify.conduct import Nemesis
from eosctl.lab.verify.plan import FaultRange, PlannedFault
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.order import FaultOrder

Control = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends a command of the sandbox's control socket with its arguments."""

_FRAMES: Final = (1, 20)
_PROGRAM_TIMEOUT_S: Final = 300.0


class CombinedNemesis:
    """Several nemeses, each for its own kinds of faults."""

    def __init__(self, parts: Sequence[tuple[Sequence[FaultRange], Nemesis]]) -> None:
        self.ranges = tuple(fault for ranges, _ in parts for fault in ranges)
        self._by_kind = {fault.kind: nemesis for ranges, nemesis in parts for fault in ranges}
        self._all = tuple(nemesis for _, nemesis in parts)

    async def begin(self, fault: PlannedFault) -> None:
        """Start the fault with the nemesis of its kind."""
        await self._by_kind[fault.kind].begin(fault)

    async def end(self, fault: PlannedFault) -> None:
        """End the fault with the nemesis of its kind."""
        await self._by_kind[fault.kind].end(fault)

    async def heal(self) -> None:
        """End all faults of all nemeses."""
        for nemesis in self._all:
            await nemesis.heal()


def sandbox_ranges(broker_ids: Sequence[int], controller_ids: Sequence[int]) -> tuple[FaultRange, ...]:
    """Return the possible faults of a sandbox.

    Args:
        broker_ids: Its brokers.
        controller_ids: Its controllers; a single broker is its own.
    """
    brokers = tuple(broker_ids)
    controllers = tuple(node for node in controller_ids if node not in brokers)
    ranges = [
        FaultRange(FaultKind.KILL, brokers),
        FaultRange(FaultKind.STOP, brokers),
        FaultRange(FaultKind.PAUSE, brokers),
        FaultRange(FaultKind.SLOW, brokers, amount=(20, 500)),
        FaultRange(FaultKind.SLOW_DISK, brokers, amount=(20, 500)),
        FaultRange(FaultKind.DISCONNECT, brokers, duration_ms=(0, 100)),
        FaultRange(FaultKind.SKEW, brokers, amount=(-5_000, 5_000)),
        # Late enough for the client to time out and retry.
        FaultRange(FaultKind.LATE_END_TXN, (0,), duration_ms=(500, 1_500), amount=(3_500, 6_000)),
        FaultRange(FaultKind.LATE_PRODUCE, (0,), duration_ms=(500, 1_500), amount=(3_500, 6_000)),
        FaultRange(FaultKind.LATE_OFFSET_COMMIT, (0,), amount=(500, 3_000)),
        FaultRange(FaultKind.LATE_MARKERS, (0,), amount=(200, 2_000)),
    ]
    if controllers:
        ranges += [
            FaultRange(f"{CONTROLLERS}:{FaultKind.KILL}", controllers),
            FaultRange(FaultKind.CUT, brokers),
            FaultRange(FaultKind.DROP, brokers, amount=_FRAMES),
            FaultRange(FaultKind.DELAY, brokers, amount=(10, 400)),
            FaultRange(FaultKind.DUPLICATE, brokers, amount=_FRAMES),
            FaultRange(FaultKind.REORDER, brokers, amount=_FRAMES),
        ]
    return tuple(ranges)


def sandbox_words(fault: PlannedFault) -> tuple[str, ...]:
    """Return a fault in the syntax of `eosctl sandbox fault`; frames are affected in both directions."""
    kind, node, amount = word_of(fault.kind), fault.target, fault.amount
    ends = (f"from={node}", f"to={node}")
    match kind:
        case FaultKind.KILL | FaultKind.STOP | FaultKind.PAUSE | FaultKind.DISCONNECT | FaultKind.CUT:
            return (f"{kind} node={node}",)
        case FaultKind.SLOW | FaultKind.SLOW_DISK | FaultKind.SKEW:
            return (f"{kind} node={node} ms={amount}",)
        case FaultKind.LATE_END_TXN | FaultKind.LATE_PRODUCE | FaultKind.LATE_MARKERS:
            return (f"{kind} ms={amount}",)
        case FaultKind.LATE_OFFSET_COMMIT:
            return (f"{kind} ms={amount} count=1",)
        case FaultKind.DELAY:
            return tuple(f"{kind} {end} ms={amount}" for end in ends)
        case _:
            return tuple(f"{kind} {end} count={amount}" for end in ends)


class Disturber:
    """Injects faults through a control socket.

    Args:
        control: Injects and ends faults.
        words: Returns the syntax of a fault.
    """

    def __init__(self, control: Control, words: Callable[[PlannedFault], tuple[str, ...]]) -> None:
        self._control = control
        self._words = words
        self._numbers: list[int] = []

    async def begin(self, fault: PlannedFault) -> None:
        """Start a fault."""
        for words in self._words(fault):
            active = await self._control("inject", {"words": words})
            self._numbers.append(int(active["number"]))

    async def end(self, fault: PlannedFault) -> None:
        """End all faults, since faults of a run do not overlap."""
        await self.heal()

    async def heal(self) -> None:
        """End the faults started here; faults of others stay."""
        while self._numbers:
            await self._control("end-fault", {"number": self._numbers[-1]})
            self._numbers.pop()


class SandboxNemesis(Disturber):
    """Injects the faults of `eosctl sandbox fault` into a sandbox."""

    def __init__(self, control: Control) -> None:
        super().__init__(control, sandbox_words)


_PROCESS_KINDS: Final = (FaultKind.KILL, FaultKind.STOP, FaultKind.PAUSE)


def process_ranges(broker_ids: Sequence[int]) -> tuple[FaultRange, ...]:
    """Return the possible faults of broker processes."""
    brokers = tuple(broker_ids)
    return tuple(FaultRange(kind, brokers, duration_ms=(1_000, 8_000)) for kind in _PROCESS_KINDS)


class ProcessNemesis:
    """Stops, kills, and pauses processes of brokers."""

    def __init__(self, processes: BrokerProcesses) -> None:
        self._processes = processes
        self._faults: ProcessFaults | None = None

    async def begin(self, fault: PlannedFault) -> None:
        """Start a fault."""
        if self._faults is None:
            self._faults = ProcessFaults(self._processes)
        await self._faults.inject(FaultOrder(FaultKind(fault.kind), node=fault.target))

    async def end(self, fault: PlannedFault) -> None:
        """End all faults, since faults of a run do not overlap."""
        await self.heal()

    async def heal(self) -> None:
        """Start stopped brokers, and resume paused ones."""
        if self._faults is not None:
            await self._faults.heal()


COMMAND_KIND: Final = "command"


class CommandNemesis:
    """Runs a user program: `PROGRAM begin BROKER` and `PROGRAM end BROKER`.

    Its output is ignored; a nonzero exit status means that the fault could not be made.
    """

    def __init__(self, program: Path) -> None:
        if not program.is_file():
            raise UsageError(
                f"There is no program {program}.",
                "It is called with begin or end and a broker's id.",
                "Name a program that stops and starts brokers.",
            )
        self._program = program.absolute()
        self._begun: set[int] = set()

    async def begin(self, fault: PlannedFault) -> None:
        """Run it with `begin`."""
        self._begun.add(fault.target)
        await self._call("begin", fault.target)

    async def end(self, fault: PlannedFault) -> None:
        """Run it with `end`."""
        await self._call("end", fault.target)
        self._begun.discard(fault.target)

    async def heal(self) -> None:
        """Run it with `end` for each active fault."""
        for broker_id in sorted(self._begun):
            self._begun.discard(broker_id)
            await self._call("end", broker_id)

    async def _call(self, word: str, broker_id: int) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                str(self._program),
                word,
                str(broker_id),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            raise EosctlError(
                f"Cannot run {self._program}.", error.strerror or str(error), "Make it executable."
            ) from error
        try:
            async with asyncio.timeout(_PROGRAM_TIMEOUT_S):
                code = await process.wait()
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            if isinstance(error, TimeoutError):
                raise EosctlError(
                    f"{self._program} {word} {broker_id} was ended after {_PROGRAM_TIMEOUT_S:.0f} s.",
                    "The program must begin or end a fault and return without waiting for its effects.",
                    "Run it manually with these arguments, and make it return sooner.",
                ) from error
            raise
        if code:
            raise EosctlError(
                f"{self._program} {word} {broker_id} ended with status {code}.",
                "Only 0 means that the fault began or ended.",
                "Run it manually with these arguments to see its output.",
            )
