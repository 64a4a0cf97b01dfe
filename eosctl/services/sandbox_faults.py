"""Faults of a live sandbox or of a proxy, and the clock of a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.sandbox.faults.kinds import MEANINGS, NEEDED, SETTINGS, WORDS
from eosctl.sandbox.faults.order import parse_order
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.control import call_control
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.sandboxes import DEFAULT_NAME
from eosctl.text import duration_text

LONGEST_CALL_S: Final = 120.0
_LONGEST_ADVANCE_MS: Final = 10 * 365 * 86_400_000
KIND_NAMES: Final = WORDS
"""The kinds of faults, as help lists them."""


class FaultTarget(NamedTuple):
    """Whose connections or nodes are disturbed: a sandbox, or the process that listens on a control socket."""

    name: str = DEFAULT_NAME
    socket: Path | None = None

    @property
    def words(self) -> str:
        """The name, or the socket."""
        return self.name if self.socket is None else str(self.socket)

    @property
    def option_text(self) -> str:
        """The option for a command that follows this one; empty for the default sandbox."""
        if self.socket is not None:
            return f" --socket {self.socket}"
        return "" if self.name == DEFAULT_NAME else f" --name {self.name}"


class ClockAdvance(NamedTuple):
    """The time by which the clock of a sandbox advances, in ms, and its name."""

    duration_ms: int
    name: str = DEFAULT_NAME


class FaultsSeen(NamedTuple):
    """The faults of a target, as its process reports them, and the one that was injected; empty where none was."""

    target: FaultTarget
    reported: dict[str, Any]
    injected: dict[str, Any]


class FaultKind(NamedTuple):
    """A kind of fault with its meaning, the settings that it takes, and those that it needs."""

    kind: str
    meaning: str
    settings: tuple[str, ...]
    needed: tuple[str, ...]


def list_fault_kinds() -> tuple[FaultKind, ...]:
    """Return the kinds of faults."""
    return tuple(
        FaultKind(str(kind), meaning, (*SETTINGS[kind], "for"), NEEDED.get(kind, ()))
        for kind, meaning in MEANINGS.items()
    )


def inject_fault(target: FaultTarget, words: Sequence[str] = (), seed: int | None = None) -> FaultsSeen:
    """Inject a fault, and return all faults.

    Args:
        target: Where.
        words: The fault: its kind, then ``NAME=VALUE``; empty to inject none.
        seed: Repeats the same random choices.

    Raises:
        UsageError: The words are not a fault, or it does not fit the target.
        EosctlError: The target does not run, or does not answer.
    """
    order = parse_order(words) if words else None  # A wrong word needs no sandbox.
    path = _path(target)
    injected: dict[str, Any] = {}
    if order is not None:
        chance = {} if seed is None else {"seed": seed}
        injected = call_control(path, "inject", {"words": str(order).split(), **chance}, LONGEST_CALL_S)
    return FaultsSeen(target, call_control(path, "faults"), injected)


def end_fault(target: FaultTarget, number: int) -> None:
    """End a fault that lasts.

    Raises:
        UsageError: No fault has this number, or it has ended.
        EosctlError: The target does not run, or does not answer.
    """
    if not call_control(_path(target), "end-fault", {"number": number}, LONGEST_CALL_S):
        raise UsageError(f"No fault {number} lasts.", "It has ended, or never was.", "See: eosctl sandbox fault")


def heal(name: str = DEFAULT_NAME) -> int:
    """End every fault that lasts, start every node that is down, and return the number of faults.

    Raises:
        EosctlError: The sandbox does not run, or does not answer.
    """
    count: int = manage.send_command(manage.require(name), "end-faults", LONGEST_CALL_S)
    return count


def advance_clock(request: ClockAdvance, callbacks: Callbacks = SILENT) -> int:
    """Advance the clock of a sandbox, and return the number of steps that this took.

    Raises:
        UsageError: The duration exceeds ten years.
        EosctlError: The sandbox does not run, or does not answer.
        KeyboardInterrupt: The user pressed Ctrl-C; a remark reports the time that has passed.
    """
    duration_ms, name = request
    if duration_ms > _LONGEST_ADVANCE_MS:
        raise UsageError(
            f"The clock does not advance by {duration_text(duration_ms)}.",
            f"One command advances it by at most {duration_text(_LONGEST_ADVANCE_MS)}: a day takes some seconds.",
            "Name a shorter time.",
        )
    passed_ms = 0

    def note_passed(now_passed_ms: float) -> None:
        nonlocal passed_ms
        passed_ms = int(now_passed_ms)
        callbacks.progress(f"{duration_text(passed_ms)} of {duration_text(duration_ms)} passed")

    try:
        return manage.advance_clock(manage.require(name), duration_ms, note_passed)
    except KeyboardInterrupt:
        so_far, whole = duration_text(passed_ms), duration_text(duration_ms)
        callbacks.remark(f"Sandbox {name}: interrupted after {so_far} of {whole}, and at most one hour more.")
        raise


def _path(target: FaultTarget) -> Path:
    return target.socket if target.socket is not None else Path(manage.require(target.name).control_socket)
