"""What a process holds as time goes by, and whether it comes to hold more and more. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

MIB: Final = 1 << 20


class Sample(NamedTuple):
    """What the process held at a moment.

    Attributes:
        at_s: When, since the run began.
        resident: Resident memory, bytes.
        descriptors: Open file descriptors, sockets among them.
        files: Files in the data directory.
        disk: Their size, bytes.
    """

    at_s: float
    resident: int
    descriptors: int
    files: int
    disk: int


class Growth(NamedTuple):
    """How a quantity has changed after the warm-up.

    Attributes:
        quantity: A field of `Sample`.
        early: Its median in the first third of the time after the warm-up.
        late: Its median in the last third.
        bound: By how much `late` may lie above `early`.
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


#: A leak of 100 bytes for each transaction of a mixed load of 70 a second is 25 MiB an hour; topics that a round leaves
#: behind are 400 files.
BOUNDS: Final = {"resident": 10 * MIB, "descriptors": 20, "files": 150, "disk": 32 * MIB}


def judge_growth(samples: Sequence[Sample], warm_up_s: float) -> list[Growth]:
    """Compare the first with the last third of the time after the warm-up, by medians: rounds make waves.

    Args:
        samples: In the order of time.
        warm_up_s: How long everything may grow: code is loaded, caches fill, logs reach their retention.

    Raises:
        ValueError: Fewer than six samples lie after the warm-up.
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
