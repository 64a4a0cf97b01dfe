"""Anomalies of records: the values that consumers received, compared with the producers' operations.

Every checker is a single pass over the history, with constant memory per value.
"""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.events import (
    Drained,
    Ended,
    EndInvoked,
    Event,
    History,
    Outcome,
    Polled,
    SendInvoked,
    Sent,
    Undrained,
)
from eosctl.model.transaction import TopicPartition


def check_reads(history: History) -> Iterator[Anomaly]:
    """Yield reads of values that were never sent, are aborted, or had no commit request yet."""
    sent: dict[str, SendInvoked] = {}
    committing: set[str] = set()
    first_read: dict[str, Polled] = {}
    for event in history:
        match event:
            case SendInvoked():
                sent[event.value] = event
            case EndInvoked(committed=True):
                committing.add(event.transaction)
            case Polled() if event.value not in first_read:
                first_read[event.value] = event
                origin = sent.get(event.value)
                if origin is None:
                    yield Anomaly(Kind.PHANTOM_READ, f"{event.value} in {_place(event)}", (event,))
                elif origin.transaction and origin.transaction not in committing:
                    yield Anomaly(Kind.EARLY_READ, f"{event.value} of {origin.transaction}", (origin, event))
    aborted = {e.transaction: e for e in history if isinstance(e, Ended) and e.outcome is Outcome.ABORTED}
    for value, read in first_read.items():
        origin = sent.get(value)
        if origin is not None and origin.transaction in aborted:
            end = aborted[origin.transaction]
            yield Anomaly(Kind.ABORTED_READ, f"{value} of {origin.transaction}", in_order(origin, end, read))


def check_positions(history: History) -> Iterator[Anomaly]:
    """Yield offsets that were read with two values, and consumers that went back."""
    contents: dict[tuple[TopicPartition, int], Polled] = {}
    last: dict[tuple[str, TopicPartition], Polled] = {}
    for event in history:
        if not isinstance(event, Polled):
            continue
        known = contents.setdefault((event.partition, event.offset), event)
        if known.value != event.value:
            yield Anomaly(Kind.INCONSISTENT_READ, _place(event), (known, event))
        before = last.get((event.actor, event.partition))
        if before is not None and before.offset >= event.offset:
            yield Anomaly(Kind.BACKWARD_READ, f"{event.actor} at {_place(event)}", (before, event))
        last[event.actor, event.partition] = event


def check_duplicates(history: History) -> Iterator[Anomaly]:
    """Yield facts that are visible at two positions of a topic."""
    origins = {event.value: event for event in history if isinstance(event, SendInvoked)}
    places: dict[tuple[str, str], Polled] = {}
    reported: set[tuple[str, TopicPartition, int]] = set()
    for event in history:
        if not isinstance(event, Polled):
            continue
        origin = origins.get(event.value)
        fact = origin.source or origin.value if origin is not None else event.value
        # The output of a pipeline is not a duplicate of its input in another topic.
        first = places.setdefault((event.partition.topic, fact), event)
        here = (fact, event.partition, event.offset)
        if (first.partition, first.offset) != (event.partition, event.offset) and here not in reported:
            reported.add(here)
            tried_again = [origins[read.value] for read in (first, event) if read.value != fact]
            witness = in_order(*tried_again, first, event)
            yield Anomaly(Kind.DUPLICATE, f"{fact} at {_place(first)} and {_place(event)}", witness)


def check_losses(history: History) -> Iterator[Anomaly]:
    """Yield committed values that no consumer received, and partly visible transactions.

    Only completely read partitions are checked, since other values may still arrive.
    """
    drained = {event.partition: event for event in history if isinstance(event, Drained)}
    seen = {event.value: event for event in history if isinstance(event, Polled)}
    ends = {event.transaction: event for event in history if isinstance(event, Ended)}
    origins = {event.value: event for event in history if isinstance(event, SendInvoked)}
    shown = {
        origin.transaction: (origin, seen[value])
        for value, origin in origins.items()
        if origin.transaction and value in seen
    }
    reported: set[str] = set()
    for event in history:
        if not isinstance(event, Sent) or event.partition not in drained or event.value in seen:
            continue
        origin, end_of_partition = origins.get(event.value), drained[event.partition]
        if origin is None:
            continue  # The value's transaction is unknown.
        if not origin.transaction:
            yield _lost(event, origin, event, end_of_partition)
            continue
        end = ends.get(origin.transaction)
        outcome = end.outcome if end is not None else Outcome.UNKNOWN
        if origin.transaction in reported or outcome is Outcome.ABORTED:
            continue
        reported.add(origin.transaction)
        if origin.transaction in shown:
            visible, read = shown[origin.transaction]
            subject = f"{origin.transaction}: {visible.value} is visible, {event.value} is not"
            witness = in_order(visible, origin, event, read, end_of_partition)
            yield Anomaly(Kind.TORN_TRANSACTION, subject, witness)
        elif end is not None and outcome is Outcome.COMMITTED:
            yield _lost(event, origin, event, end, end_of_partition)


def check_ends(history: History) -> Iterator[Anomaly]:
    """Yield partitions with an end that no read_committed consumer reaches."""
    for event in history:
        if isinstance(event, Undrained):
            yield Anomaly(
                Kind.HANGING_TRANSACTION, f"{event.partition} is readable to {event.reached} of {event.end}", (event,)
            )


def check_order(history: History) -> Iterator[Anomaly]:
    """Yield values at lower offsets than one that was acknowledged before they were sent."""
    highest: dict[TopicPartition, Sent] = {}
    floor: dict[str, tuple[SendInvoked, Sent]] = {}
    for event in history:
        match event:
            case SendInvoked() if event.partition in highest:
                floor[event.value] = (event, highest[event.partition])
            case Sent():
                if event.value in floor and event.offset <= floor[event.value][1].offset:
                    invoked, before = floor[event.value]
                    subject = f"{event.value} at {event.partition}@{event.offset} after {before.value}"
                    yield Anomaly(Kind.REAL_TIME_ORDER, subject, (before, invoked, event))
                if event.partition not in highest or event.offset > highest[event.partition].offset:
                    highest[event.partition] = event


def _lost(sent: Sent, *witness: Event) -> Anomaly:
    return Anomaly(Kind.LOST_WRITE, f"{sent.value}, acknowledged at {sent.partition}@{sent.offset}", in_order(*witness))


def _place(read: Polled) -> str:
    return f"{read.partition}@{read.offset}"
