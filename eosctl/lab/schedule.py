"""Fault schedules, drawn from a seed before a run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.lab.faults import current_kind


class DrawnKind(StrEnum):
    """A kind of fault that schedules draw; `eosctl.lab.faults` has its display name.

    The values determine the order of simultaneous faults, so that a seed gives the same schedule in every version.
    """

    KILL_BROKER = "kill-broker"
    STOP_BROKER = "stop-broker"
    KILL_CONTROLLER = "kill-controller"
    ISOLATE_BROKER = "isolate-broker"
    CUT_LINK = "cut-link"
    DROP_FRAMES = "drop-frames"
    DELAY_FRAMES = "delay-frames"
    DUPLICATE_FRAMES = "duplicate-frames"
    REORDER_FRAMES = "reorder-frames"
    DISCONNECT_CLIENTS = "disconnect-clients"
    SLOW_CLIENTS = "slow-clients"
    STALL_CLIENTS = "stall-clients"
    LATE_OFFSET_COMMIT = "late-offset-commit"
    SKEW_CLOCK = "skew-clock"


#: Requests sent during these may arrive up to `amount` ms after their end.
LATE: Final = frozenset({DrawnKind.SLOW_CLIENTS, DrawnKind.LATE_OFFSET_COMMIT})

_CRASHES: Final = (DrawnKind.KILL_BROKER, DrawnKind.STOP_BROKER, DrawnKind.KILL_CONTROLLER)
_NETWORK: Final = (
    DrawnKind.ISOLATE_BROKER,
    DrawnKind.CUT_LINK,
    DrawnKind.DROP_FRAMES,
    DrawnKind.DELAY_FRAMES,
    DrawnKind.DUPLICATE_FRAMES,
    DrawnKind.REORDER_FRAMES,
)

PLANS: Final[dict[str, tuple[DrawnKind, ...]]] = {
    "crashes": _CRASHES,
    "network": _NETWORK,
    "nodes": (*_CRASHES, *_NETWORK),
    "clients": (
        DrawnKind.DISCONNECT_CLIENTS,
        DrawnKind.SLOW_CLIENTS,
        DrawnKind.STALL_CLIENTS,
        DrawnKind.LATE_OFFSET_COMMIT,
    ),
    "late-offsets": (DrawnKind.LATE_OFFSET_COMMIT,),
    "clocks": (DrawnKind.SKEW_CLOCK,),
    "all": tuple(DrawnKind),
    "none": (),
}


class Fault(NamedTuple):
    """A fault.

    Attributes:
        at_ms: Its start, after the start of the workload.
        kind: Its kind.
        target: The affected node; for links and frames one end.
        other: The other end of a link; 0 for every other node.
        duration_ms: Its duration.
        amount: Number of frames for drops, duplicates, and reorders; milliseconds for delays, slow clients, late
            requests, and skewed clocks.
    """

    at_ms: int
    kind: DrawnKind
    target: int
    other: int = 0
    duration_ms: int = 0
    amount: int = 0

    def __str__(self) -> str:
        other = f"-{self.other}" if self.other else ""
        amount = f", {self.amount}" if self.amount else ""
        return f"{self.at_ms} ms: {current_kind(self.kind)} {self.target}{other} for {self.duration_ms} ms{amount}"


Schedule = tuple[Fault, ...]


def find_plan(name: str) -> tuple[DrawnKind, ...]:
    """Return the kinds of faults of a plan.

    Raises:
        UsageError: The plan is unknown.
    """
    if name not in PLANS:
        raise UsageError(f"There is no plan {name!r}.", f"Plans are {', '.join(PLANS)}.", "Choose one of them.")
    return PLANS[name]


def draw_schedule(
    kinds: Sequence[DrawnKind], broker_ids: Sequence[int], controller_id: int, chance: random.Random, span_ms: int
) -> Schedule:
    """Draw one to five faults that start within a time span, in order."""
    if not kinds:
        return ()
    faults = [
        _draw_fault(chance.choice(kinds), broker_ids, controller_id, chance, span_ms)
        for _ in range(chance.randint(1, 5))
    ]
    return tuple(sorted(faults))


def _draw_fault(
    kind: DrawnKind, broker_ids: Sequence[int], controller_id: int, chance: random.Random, span_ms: int
) -> Fault:
    target = controller_id if kind is DrawnKind.KILL_CONTROLLER else chance.choice(broker_ids)
    others = [node for node in (*broker_ids, controller_id) if node != target]
    other, amount = 0, 0
    match kind:
        case DrawnKind.CUT_LINK:
            other = chance.choice(others)
        case DrawnKind.DROP_FRAMES | DrawnKind.DUPLICATE_FRAMES | DrawnKind.REORDER_FRAMES:
            other, amount = chance.choice((0, *others)), chance.randint(1, 20)
        case DrawnKind.DELAY_FRAMES:
            other, amount = chance.choice((0, *others)), chance.randint(1, 400)
        case DrawnKind.SLOW_CLIENTS | DrawnKind.LATE_OFFSET_COMMIT:
            amount = chance.randint(50, 3_000)
        case DrawnKind.SKEW_CLOCK:
            amount = chance.randint(-5_000, 5_000)
        case _:
            pass
    return Fault(
        at_ms=chance.randrange(span_ms),
        kind=kind,
        target=target,
        other=other,
        duration_ms=chance.randint(50, 3_000),
        amount=amount,
    )
