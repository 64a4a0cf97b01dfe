"""The ledger of the responses that clients received, and what contradicts it in the topics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

PARTITIONS: Final = 3
"""Each transaction writes one record to each of these: `CLIENT:NUMBER:PARTITION`."""


class Outcome(StrEnum):
    """What a client knows of its transaction's end."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    ABANDONED = "abandoned"
    """The client was closed before it ended the transaction."""
    UNKNOWN = "unknown"


Ledger = dict[str, Outcome]
"""The outcome of each transaction by its name, `CLIENT:NUMBER`."""

ALLOWED_COPIES: Final = {
    Outcome.COMMITTED: ({1},),
    Outcome.ABORTED: ({0},),
    Outcome.ABANDONED: ({0},),
    Outcome.UNKNOWN: ({0}, {1}),
}


class Record(NamedTuple):
    """A record as a consumer returned it."""

    partition: int
    offset: int
    value: str


def copy_of(source: Record) -> str:
    """Return the value that a copier writes for a record of its source."""
    return f"{source.offset}={source.value}"


def violations(ledger: Mapping[str, Outcome], records: Sequence[Record]) -> list[str]:
    """Return transactions that are visible and must not be, the reverse, torn ones, and records in another order."""
    seen: dict[str, Counter[str]] = {}
    latest: dict[tuple[int, str], int] = {}
    found = []
    for record in records:
        name, _, place = record.value.rpartition(":")
        client, _, number = name.rpartition(":")
        seen.setdefault(name, Counter())[place] += 1
        if int(number) < latest.get((record.partition, client), -1):
            found.append(f"{name}: is behind a later transaction in partition {record.partition}")
        latest[record.partition, client] = int(number)
    for name, outcome in ledger.items():
        copies = seen.pop(name, Counter())
        counts = {copies[str(place)] for place in range(PARTITIONS)}
        if counts not in ALLOWED_COPIES[outcome]:
            found.append(f"{name}: {outcome.value}, and is there {dict(copies)}")
    return found + [f"{name}: no client wrote it" for name in seen]


def copy_violations(
    source: Sequence[Record],
    copies: Sequence[Record],
    committed: Mapping[int, int],
    acknowledged: Mapping[int, int],
) -> list[str]:
    """Return where the copies of a topic differ from what the offsets of the same transactions state.

    Args:
        source: The committed records that were copied.
        copies: The committed copies, each in the partition of its source.
        committed: The position of the copier's group in each partition.
        acknowledged: The highest position in each partition of a commit that was acknowledged to the copier.
    """
    expected: dict[int, list[str]] = defaultdict(list)
    actual: dict[int, list[str]] = defaultdict(list)
    for record in source:
        if record.offset < committed.get(record.partition, 0):
            expected[record.partition].append(copy_of(record))
    for record in copies:
        actual[record.partition].append(record.value)
    found = [
        f"partition {partition}: the group is at {committed.get(partition, 0)}, and {position} was acknowledged"
        for partition, position in sorted(acknowledged.items())
        if committed.get(partition, 0) < position
    ]
    for partition in sorted(expected.keys() | actual.keys()):
        wanted, got = Counter(expected[partition]), Counter(actual[partition])
        found += [f"partition {partition}: no copy of {value}" for value in (wanted - got).elements()]
        found += [f"partition {partition}: a copy too many of {value}" for value in (got - wanted).elements()]
        if wanted == got and expected[partition] != actual[partition]:
            found.append(f"partition {partition}: the copies are in another order")
    return found


def vanished(watched: Mapping[tuple[int, int], str], records: Sequence[Record]) -> list[str]:
    """Return what a consumer saw during the faults and a later one does not find at the same offset."""
    last = {(record.partition, record.offset): record.value for record in records}
    return [
        f"partition {partition}, offset {offset}: {value} was visible, and now {last.get((partition, offset))} is there"
        for (partition, offset), value in watched.items()
        if last.get((partition, offset)) != value
    ]
