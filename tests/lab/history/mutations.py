"""One way for each kind of anomaly to get into a clean history, at a place that chance decides."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

from eosctl.lab.history.anomaly import Kind
from eosctl.lab.history.events import (
    BatchSeen,
    Ended,
    EndInvoked,
    Event,
    Identified,
    InitInvoked,
    OffsetAsked,
    OffsetFetched,
    OffsetsSent,
    Outcome,
    Polled,
    ReplicaSeen,
    SendInvoked,
    Sent,
    StoreSeen,
    TransactionRead,
    Undrained,
)
from eosctl.lab.history.ledger import amount_of

E = TypeVar("E", bound=Event)
FAR = 1_000_000
LATE = "latecomer"
LATE_BROKER = 9


class NoPlace(Exception):  # noqa: N818
    """The history has no place for this mutation."""


def mutate(kind: Kind, history: tuple[Event, ...], chance: random.Random) -> tuple[Event, ...]:
    """Return the history with an anomaly of a kind.

    Raises:
        NoPlace: Another seed is needed.
    """
    events = list(history)
    MUTATIONS[kind](events, chance)
    # Renumber the times after inserting events.
    return tuple(event._replace(at_ms=at) for at, event in enumerate(events))


def pick(events: list[Event], chance: random.Random, kind: type[E], fits: Callable[[E], Any] = lambda _: True) -> E:
    found = [event for event in events if isinstance(event, kind) and _is_of(event, kind) and fits(event)]
    if not found:
        raise NoPlace
    return chance.choice(found)


def _is_of(event: Event, kind: type[Event]) -> bool:
    """Return whether a mutation of this kind is to change the event: the store's own change its store only."""
    of_store = "counts" in f"{getattr(event, 'actor', '')} {getattr(event, 'partition', '')}"
    return of_store == (kind is StoreSeen)


def transaction_of(events: list[Event], value: str) -> str:
    return next(e.transaction for e in events if isinstance(e, SendInvoked) and e.value == value)


def names(events: list[Event], outcome: Outcome) -> set[str]:
    return {e.transaction for e in events if isinstance(e, Ended) and e.outcome is outcome}


def put_after(events: list[Event], anchor: Event, *new: Event) -> None:
    at = next(index for index, event in enumerate(events) if event is anchor) + 1
    events[at:at] = new


def aborted_read(events: list[Event], chance: random.Random) -> None:
    aborted = names(events, Outcome.ABORTED)
    sent = pick(events, chance, Sent, lambda e: transaction_of(events, e.value) in aborted)
    events.append(Polled(0, LATE, sent.partition, sent.offset, sent.value))


def early_read(events: list[Event], chance: random.Random) -> None:
    sent = pick(events, chance, Sent, lambda e: transaction_of(events, e.value))
    put_after(events, sent, Polled(0, LATE, sent.partition, sent.offset, sent.value))


def phantom_read(events: list[Event], chance: random.Random) -> None:
    read = pick(events, chance, Polled)
    put_after(events, read, Polled(0, LATE, read.partition, FAR, "never-sent"))


def inconsistent_read(events: list[Event], chance: random.Random) -> None:
    read = pick(events, chance, Polled)
    other = pick(events, chance, Polled, lambda e: e.value != read.value)
    events.append(read._replace(actor=LATE, value=other.value))


def backward_read(events: list[Event], chance: random.Random) -> None:
    read = pick(events, chance, Polled)
    put_after(events, read, read)


def forget_values(events: list[Event], values: set[str]) -> None:
    events[:] = [event for event in events if not (isinstance(event, Polled) and event.value in values)]


def lost_write(events: list[Event], chance: random.Random) -> None:
    lost = chance.choice(sorted(names(events, Outcome.COMMITTED) | {""}))
    sent = {e.value for e in events if isinstance(e, Sent) and transaction_of(events, e.value) == lost}
    if not sent:
        raise NoPlace
    forget_values(events, sent)


def torn_transaction(events: list[Event], chance: random.Random) -> None:
    committed = names(events, Outcome.COMMITTED)
    sent = pick(events, chance, Sent, lambda e: transaction_of(events, e.value) in committed)
    forget_values(events, {sent.value})


def broken_sum(events: list[Event], chance: random.Random) -> None:
    committed = names(events, Outcome.COMMITTED)
    sent = pick(
        events,
        chance,
        SendInvoked,
        lambda e: e.transaction in committed and amount_of(e.value) is not None,
    )
    forget_values(events, {sent.value})


def hanging_transaction(events: list[Event], chance: random.Random) -> None:
    read = pick(events, chance, Polled)
    events.append(Undrained(0, LATE, read.partition, read.offset, read.offset + 1))


def duplicate(events: list[Event], chance: random.Random) -> None:
    read = pick(events, chance, Polled)
    if chance.random() < 0.5:
        events.append(read._replace(actor=LATE, offset=FAR))
        return
    name, again = "again", f"{read.value}/again"
    events += (
        SendInvoked(0, LATE, name, read.partition, again, source=read.value),
        Sent(0, LATE, read.partition, again, FAR),
        EndInvoked(0, LATE, name, True),
        Ended(0, LATE, name, Outcome.COMMITTED),
        Polled(0, LATE, read.partition, FAR, again),
    )


def real_time_order(events: list[Event], chance: random.Random) -> None:
    sent = pick(events, chance, Sent)
    before = [e for e in events[: events.index(sent)] if isinstance(e, Sent) and e.partition == sent.partition]
    invoked = next(at for at, e in enumerate(events) if isinstance(e, SendInvoked) and e.value == sent.value)
    earlier = [e for e in before if events.index(e) < invoked]
    if not earlier:
        raise NoPlace
    events[events.index(sent)] = sent._replace(offset=chance.choice(earlier).offset)


def dependency_cycle(events: list[Event], chance: random.Random) -> None:
    count = chance.randint(2, 4)
    writers = {e.transaction: e for e in events if isinstance(e, SendInvoked)}
    writers.pop("", None)
    if len(writers) < count:
        raise NoPlace
    circle = [writers[name] for name in chance.sample(sorted(writers), count)]
    for own, other in zip(circle, [*circle[1:], circle[0]], strict=True):
        events += (
            Polled(0, own.actor, other.partition, FAR, other.value),
            TransactionRead(0, own.actor, own.transaction, other.partition, FAR, FAR + 1),
        )


def fetched(offset: OffsetsSent | OffsetFetched, shown: int | None) -> tuple[Event, Event]:
    return (
        OffsetAsked(0, LATE, offset.group, offset.partition),
        OffsetFetched(0, LATE, offset.group, offset.partition, shown),
    )


def offset_regression(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, OffsetFetched, lambda e: e.offset is not None)
    events += fetched(seen, None if chance.random() < 0.5 else (seen.offset or 0) - 1)


def lost_offset(events: list[Event], chance: random.Random) -> None:
    end = pick(events, chance, Ended, lambda e: e.outcome is Outcome.COMMITTED)
    sent = pick(events, chance, OffsetsSent, lambda e: e.transaction == end.transaction)
    put_after(events, end, *fetched(sent, None))


def aborted_offset(events: list[Event], chance: random.Random) -> None:
    aborted = names(events, Outcome.ABORTED)
    sent = pick(events, chance, OffsetsSent, lambda e: e.transaction in aborted)
    events += fetched(sent, sent.offset)


def unstable_offset(events: list[Event], chance: random.Random) -> None:
    committed = names(events, Outcome.COMMITTED)
    sent = pick(events, chance, OffsetsSent, lambda e: e.transaction in committed)
    put_after(events, sent, *fetched(sent, sent.offset))


def epoch_regression(events: list[Event], chance: random.Random) -> None:
    old = pick(events, chance, Identified)
    events += (InitInvoked(0, LATE, old.transactional_id), old._replace(actor=LATE))


def shared_producer_id(events: list[Event], chance: random.Random) -> None:
    events.append(pick(events, chance, Identified)._replace(actor=LATE, transactional_id="stranger"))


def zombie_commit(events: list[Event], chance: random.Random) -> None:
    newest = {e.transactional_id: e for e in events if isinstance(e, Identified)}
    own = newest[chance.choice(sorted(newest))]
    events += (
        InitInvoked(0, LATE, own.transactional_id),
        own._replace(actor=LATE, producer_epoch=own.producer_epoch + 1),
        EndInvoked(0, own.actor, "undead", True),
        Ended(0, own.actor, "undead", Outcome.COMMITTED),
    )


def watermark_order(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, ReplicaSeen)
    wrong = chance.choice(
        (
            seen._replace(high_watermark=seen.log_end_offset + 1),
            seen._replace(last_stable_offset=seen.high_watermark + 1),
            seen._replace(log_start_offset=seen.log_end_offset + 1),
        )
    )
    events[events.index(seen)] = wrong


def watermark_regression(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, ReplicaSeen, lambda e: e.is_leader and e.last_stable_offset > 0)
    lower = seen.last_stable_offset - 1
    watermark = chance.choice((lower, seen.high_watermark))
    put_after(events, seen, seen._replace(last_stable_offset=lower, high_watermark=watermark))


def log_divergence(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, BatchSeen)
    events[events.index(seen)] = seen._replace(checksum=seen.checksum ^ 1)


def broken_isr(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, ReplicaSeen, lambda e: e.is_leader)
    others = tuple(broker for broker in seen.isr if broker != seen.broker_id)
    pretender = seen._replace(broker_id=others[0])
    put_after(events, seen, chance.choice((seen._replace(leader_epoch=FAR, isr=others), pretender)))


def incomplete_replica(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, ReplicaSeen, lambda e: e.is_leader and e.high_watermark > 0)
    end = chance.randrange(seen.high_watermark)
    short = seen._replace(log_end_offset=end, high_watermark=end, last_stable_offset=min(end, seen.last_stable_offset))
    follower = short._replace(is_leader=False, broker_id=chance.choice(seen.isr), isr=())
    leader = short._replace(leader_epoch=FAR, broker_id=LATE_BROKER, isr=(LATE_BROKER,))
    put_after(events, seen, chance.choice((follower, leader)))


def store_divergence(events: list[Event], chance: random.Random) -> None:
    """Leave out the key of a change, or put in a change that was aborted."""
    seen = pick(events, chance, StoreSeen, lambda e: e.content)
    kept = seen.content.split()
    committed = {e.value.rpartition("|")[2] for e in events if isinstance(e, Polled)}
    tried = [e.value.rpartition("|")[2] for e in events if isinstance(e, SendInvoked) and "|" in e.value]
    aborted = [change for change in tried if change not in committed]
    lost = kept.pop(chance.randrange(len(kept)))
    if aborted and chance.random() < 0.5:
        change = chance.choice(aborted)
        kept = [other for other in (*kept, lost) if other[0] != change[0]] + [change]
    events[events.index(seen)] = seen._replace(content=" ".join(sorted(kept)))


def stale_store(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, StoreSeen, lambda e: e.moment == "restored" and e.content)
    if not any(isinstance(e, Sent) and "|" in e.value and e.offset for e in events[: events.index(seen)]):
        raise NoPlace
    events[events.index(seen)] = seen._replace(offset=None, began_at_ms=FAR)


def wrong_restoration(events: list[Event], chance: random.Random) -> None:
    seen = pick(events, chance, StoreSeen, lambda e: e.restored_count)
    span = (seen.offset or 0) - (-1 if seen.kept_offset is None else seen.kept_offset)
    count = chance.choice((seen.restored_count - 1, span + 1))
    events[events.index(seen)] = seen._replace(restored_count=count)


MUTATIONS: dict[Kind, Callable[[list[Event], random.Random], None]] = {
    Kind[mutation.__name__.upper()]: mutation
    for mutation in (
        *(aborted_read, early_read, phantom_read, inconsistent_read, backward_read),
        *(lost_write, duplicate, torn_transaction, real_time_order, broken_sum, hanging_transaction),
        dependency_cycle,
        *(offset_regression, lost_offset, aborted_offset, unstable_offset),
        *(epoch_regression, shared_producer_id, zombie_commit),
        *(watermark_order, watermark_regression, log_divergence, broken_isr, incomplete_replica),
        *(store_divergence, stale_store, wrong_restoration),
    )
}
