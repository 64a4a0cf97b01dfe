"""Check an application's outputs for numbered inputs: lost, duplicate, torn, reordered, aborted, or reset.

The application is a black box: only its inputs, its outputs, and its groups' offsets are known. Every check is a single
pass over the records.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from eosctl.lab.history.events import Outcome
from eosctl.model.transaction import TopicPartition


class FedRecord(NamedTuple):
    """A written input; `offset` is None if it was not acknowledged.

    `is_poison` marks an input that the application cannot process and must send to its dead-letter topic.
    """

    at_ms: int
    number: int
    key: int
    partition: TopicPartition
    offset: int | None
    outcome: Outcome
    is_poison: bool = False


class SeenRecord(NamedTuple):
    """An output record with the mark of input `number`; not intact if the mark's checksum is wrong."""

    at_ms: int
    number: int
    partition: TopicPartition
    offset: int
    is_intact: bool = True


class ShownOffset(NamedTuple):
    """A group's committed offset at a point in time."""

    at_ms: int
    group: str
    partition: TopicPartition
    offset: int | None


Fact: TypeAlias = FedRecord | SeenRecord | ShownOffset


class Fault(StrEnum):
    """The kinds of errors of an application."""

    LOST = "lost"
    DUPLICATED = "duplicated"
    TORN = "torn"
    UNEXPECTED = "unexpected"
    ABORTED_INPUT = "aborted-input"
    DAMAGED = "damaged"
    REORDERED = "reordered"
    OFFSET_REGRESSION = "offset-regression"
    OFFSET_BEHIND = "offset-behind"
    OFFSET_AHEAD = "offset-ahead"
    POISON_LOST = "poison-lost"
    POISON_DUPLICATED = "poison-duplicated"
    HEALTHY_REJECTED = "healthy-rejected"


FAULT_MEANING: Final[Mapping[Fault, str]] = {
    Fault.LOST: "a committed input has no visible output",
    Fault.DUPLICATED: "a committed input has more visible outputs than it should have",
    Fault.TORN: "some outputs of an input are visible and others are not",
    Fault.UNEXPECTED: "an input that should have no output has one",
    Fault.ABORTED_INPUT: "an input whose transaction was aborted has a visible output: the input was read uncommitted",
    Fault.DAMAGED: "an output carries a mark of this run that is not whole",
    Fault.REORDERED: "outputs of one key stand in another order than their inputs",
    Fault.OFFSET_REGRESSION: "a group's committed offset went back",
    Fault.OFFSET_BEHIND: "a group's offset is below inputs whose outputs are there: they would be handled again",
    Fault.OFFSET_AHEAD: "the group's offset is past an input that has no output: it will never be handled",
    Fault.POISON_LOST: "an input that cannot be handled did not reach the dead-letter topic",
    Fault.POISON_DUPLICATED: "an input that cannot be handled reached the dead-letter topic more than once",
    Fault.HEALTHY_REJECTED: "an input that can be handled reached the dead-letter topic",
}


class Flaw(NamedTuple):
    """An error, with the facts that prove it."""

    fault: Fault
    subject: str
    witness: tuple[Fact, ...]


class Feed(NamedTuple):
    """All observations of an application.

    Attributes:
        fed: Inputs in the order of writing.
        seen: Output records, read with read_committed, by partition in offset order.
        rejected: Records of the dead-letter topic in the same form.
        shown: Offsets of its groups, in the order of observation.
        uncommitted: Output records, read with read_uncommitted, as evidence.
    """

    fed: Sequence[FedRecord]
    seen: Sequence[SeenRecord]
    rejected: Sequence[SeenRecord] = ()
    shown: Sequence[ShownOffset] = ()
    uncommitted: Sequence[SeenRecord] = ()


Expected = Callable[[FedRecord], int]
"""Returns the expected number of outputs of an input."""


def check_feed(
    feed: Feed, expected: Expected, *, ordered: bool = True, has_dead_letters: bool = False
) -> tuple[Flaw, ...]:
    """Return all errors of an application.

    Args:
        feed: The observations.
        expected: Returns the number of outputs of a committed, valid input.
        ordered: Whether outputs of a key keep the order of their inputs.
        has_dead_letters: Whether poison goes to a dead-letter topic.
    """
    checks = [_check_counts(feed, expected), _check_offsets(feed, expected)]
    if ordered:
        checks.append(_check_order(feed))
    if has_dead_letters:
        checks.append(_check_dead_letters(feed))
    return tuple(flaw for check in checks for flaw in check)


def missing_count(feed: Feed, expected: Expected, *, has_dead_letters: bool = False) -> int:
    """Return the number of missing outputs and dead letters."""
    seen = Counter(record.number for record in feed.seen)
    rejected = {record.number for record in feed.rejected}
    missing = 0
    for fed in feed.fed:
        if fed.outcome is not Outcome.COMMITTED:
            continue
        if fed.is_poison:
            missing += has_dead_letters and fed.number not in rejected
        else:
            missing += max(0, expected(fed) - seen[fed.number])
    return missing


def is_behind(feed: Feed, expected: Expected) -> bool:
    """Return whether a group has not yet committed inputs with existing outputs."""
    return any(flaw.fault is Fault.OFFSET_BEHIND for flaw in _check_offsets(feed, expected))


def _check_counts(feed: Feed, expected: Expected) -> Iterator[Flaw]:
    outputs: dict[int, list[SeenRecord]] = defaultdict(list)
    for seen in feed.seen:
        if not seen.is_intact:
            yield Flaw(Fault.DAMAGED, f"{_place(seen)}", (seen,))
        else:
            outputs[seen.number].append(seen)
    everything: dict[int, list[SeenRecord]] = defaultdict(list)
    for seen in feed.uncommitted:
        everything[seen.number].append(seen)
    for fed in feed.fed:
        found = outputs.pop(fed.number, [])
        wanted = 0 if fed.is_poison else expected(fed)
        if fed.outcome is Outcome.ABORTED:
            if found:
                yield Flaw(Fault.ABORTED_INPUT, f"input {fed.number} at {_places(found)}", (fed, *found))
        elif len(found) > wanted:
            fault = Fault.DUPLICATED if wanted else Fault.UNEXPECTED
            yield Flaw(fault, f"input {fed.number} at {_places(found)}", (fed, *found))
        elif len(found) < wanted and fed.outcome is Outcome.COMMITTED:
            hidden = [seen for seen in everything[fed.number] if all(_place(seen) != _place(one) for one in found)]
            why = f", written and not committed at {_places(hidden)}" if hidden else ", never written"
            fault = Fault.TORN if found else Fault.LOST
            share = f": {len(found)} of {wanted} outputs" if found else ""
            yield Flaw(fault, f"input {fed.number}{share}{why}", (fed, *found, *hidden))
    for number, found in outputs.items():
        yield Flaw(Fault.DAMAGED, f"input {number} was never written, and stands at {_places(found)}", tuple(found))


def _check_order(feed: Feed) -> Iterator[Flaw]:
    inputs = {fed.number: fed for fed in feed.fed if fed.outcome is not Outcome.ABORTED}
    last: dict[tuple[TopicPartition, int], SeenRecord] = {}
    reported: set[int] = set()
    for seen in feed.seen:
        fed = inputs.get(seen.number)
        if fed is None or not seen.is_intact or seen.number in reported:
            continue
        before = last.get((seen.partition, fed.key))
        if before is not None and before.number > seen.number:
            reported.add(seen.number)
            subject = f"key {fed.key}: input {seen.number} at {_place(seen)} after input {before.number}"
            yield Flaw(Fault.REORDERED, subject, (fed, inputs[before.number], before, seen))
        else:
            last[seen.partition, fed.key] = seen


def _check_offsets(feed: Feed, expected: Expected) -> Iterator[Flaw]:
    highest: dict[tuple[str, TopicPartition], ShownOffset] = {}
    last: dict[tuple[str, TopicPartition], ShownOffset] = {}
    for shown in feed.shown:
        key = (shown.group, shown.partition)
        before = highest.get(key)
        if before is not None and (shown.offset if shown.offset is not None else -1) < (before.offset or 0):
            subject = f"{shown.group} in {shown.partition}: {shown.offset} after {before.offset}"
            yield Flaw(Fault.OFFSET_REGRESSION, subject, (before, shown))
        if shown.offset is not None:
            highest[key] = shown
        last[key] = shown
    seen = Counter(record.number for record in feed.seen)
    rejected = {record.number for record in feed.rejected}
    inputs: dict[TopicPartition, list[FedRecord]] = defaultdict(list)
    for fed in feed.fed:
        if fed.outcome is Outcome.COMMITTED and fed.offset is not None:
            inputs[fed.partition].append(fed)
    for (group, partition), shown in last.items():
        committed = inputs[partition]
        done = [fed for fed in committed if fed.number in rejected or seen[fed.number] >= _wanted(fed, expected)]
        offset = shown.offset if shown.offset is not None else -1
        behind = [fed for fed in committed if (fed.offset or 0) >= offset]
        if behind and len(done) == len(committed):
            subject = f"{group} in {partition}: {shown.offset}, with inputs to {behind[-1].offset}"
            yield Flaw(Fault.OFFSET_BEHIND, subject, (behind[-1], shown))
        finished = {fed.number for fed in done}
        passed = [fed for fed in committed if (fed.offset or 0) < offset and fed.number not in finished]
        for fed in passed[:1]:
            subject = f"{group} in {partition}: {offset}, past input {fed.number} at {fed.offset} (of {len(passed)})"
            yield Flaw(Fault.OFFSET_AHEAD, subject, (fed, shown))


def _wanted(fed: FedRecord, expected: Expected) -> int:
    return 0 if fed.is_poison else expected(fed)


def _check_dead_letters(feed: Feed) -> Iterator[Flaw]:
    rejected: dict[int, list[SeenRecord]] = defaultdict(list)
    for seen in feed.rejected:
        rejected[seen.number].append(seen)
    for fed in feed.fed:
        found = rejected[fed.number]
        if not fed.is_poison or fed.outcome is Outcome.ABORTED:
            if found:
                fault = Fault.HEALTHY_REJECTED if fed.outcome is not Outcome.ABORTED else Fault.ABORTED_INPUT
                yield Flaw(fault, f"input {fed.number} at {_places(found)}", (fed, *found))
        elif len(found) > 1:
            yield Flaw(Fault.POISON_DUPLICATED, f"input {fed.number} at {_places(found)}", (fed, *found))
        elif not found and fed.outcome is Outcome.COMMITTED:
            yield Flaw(Fault.POISON_LOST, f"input {fed.number}", (fed,))


def _place(seen: SeenRecord) -> str:
    return f"{seen.partition}@{seen.offset}"


def _places(found: Sequence[SeenRecord]) -> str:
    return " and ".join(map(_place, found))
