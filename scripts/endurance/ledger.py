"""The ledger of what clients were answered, and what contradicts it in a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

PARTITIONS: Final = 3
"""Each transaction writes one record to each of these: `NAME:PARTITION`."""


class Outcome(StrEnum):
    """What a client knows of its transaction's end."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


Ledger = dict[str, Outcome]
"""The outcome of each transaction by its name."""


def violations(ledger: Mapping[str, Outcome], values: Iterable[str]) -> list[str]:
    """Return what is visible and must not be, and the reverse."""
    seen: dict[str, Counter[str]] = {}
    for value in values:
        name, _, place = value.rpartition(":")
        seen.setdefault(name, Counter())[place] += 1
    found = []
    for name, outcome in ledger.items():
        copies = seen.pop(name, Counter())
        counts = {copies[str(place)] for place in range(PARTITIONS)}
        allowed = {Outcome.COMMITTED: ({1},), Outcome.ABORTED: ({0},), Outcome.UNKNOWN: ({0}, {1})}[outcome]
        if counts not in allowed:
            found.append(f"{name}: {outcome.value}, and is there {dict(copies)}")
    return found + [f"{name}: no client wrote it" for name in seen]
