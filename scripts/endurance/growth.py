"""Detect resource growth of a process over time. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

MIB: Final = 1 << 20


class Sample(NamedTuple):
    """The resources of the process at a point in time.

    Attributes:
        at_s: Seconds since the start of the run.
        resident: Resident memory, bytes.
        descriptors: Open file descriptors, including sockets.
        files: Files in the data directory.
        disk: Their size, bytes.
    """

    at_s: float
    resident: int
    descriptors: int
    files: int
    disk: int


class Growth(NamedTuple):
    """The change of a quantity after the warm-up.

    Attributes:
        quantity: A field of `Sample`.
        early: Its median in the first third of the time after the warm-up.
        late: Its median in the last third.
        bound: The allowed difference between `late` and `early`.
    """

    quantity: str
    early: float
    late: float
    bound: int

    @property
    def holds(self) -> bool:
        """Return whether it stayed within its bound."""
        return self.late - self.early <= self.bound

    def __str__(self) -> str:
        unit, name = (MIB, " MiB") if self.quantity in ("resident", "disk") else (1, "")
        early, late, bound = (f"{value / unit:,.1f}" for value in (self.early, self.late, self.bound))
        verdict = "bounded" if self.holds else "GROWS"
        return f"{self.quantity:<12} {early} -> {late}{name} (at most {bound} more): {verdict}"


#: A leak of 100 bytes per transaction at 70 per second is 25 MiB an hour; topics left by a round are 400 files.
BOUNDS: Final = {"resident": 10 * MIB, "descriptors": 20, "files": 150, "disk": 32 * MIB}


def judge_growth(samples: Sequence[Sample], warm_up_s: float) -> list[Growth]:
    """Compare the medians of the first and the last third of the time after the warm-up.

    Args:
        samples: In time order.
        warm_up_s: Initial time of normal growth: code is loaded, caches fill, logs reach their retention.

    Raises:
        ValueError: There are fewer than six samples after the warm-up.
    """
    counted = [sample for sample in samples if sample.at_s >= warm_up_s]
    if len(counted) < 6:
        raise ValueError(f"{len(counted)} samples after {warm_up_s:.0f} s decide nothing")
    third = len(counted) // 3
    return [
        Growth(
            quantity,
            median(getattr(sample, quantity) for sample in counted[:third]),
            median(getattr(sample, quantity) for sample in counted[-third:]),
            bound,
        )
        for quantity, bound in BOUNDS.items()
    ]
