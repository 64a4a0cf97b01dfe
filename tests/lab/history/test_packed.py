"""A packed history equals the original in less memory; its parts together have the same anomalies."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, get_args

import pytest

from eosctl.lab.history.anomaly import Anomaly, Kind
from eosctl.lab.history.check import check_history
from eosctl.lab.history.cycles import count_cycles
from eosctl.lab.history.events import (
    Drained,
    Ended,
    EndInvoked,
    Event,
    FaultBegan,
    History,
    OffsetFetched,
    Outcome,
    Polled,
    ReplicaSeen,
    SendInvoked,
    Sent,
)
from eosctl.lab.history.packed import PackedHistory
from eosctl.lab.history.parts import check_in_parts, split
from eosctl.model.transaction import TopicPartition
from tests.lab.history.mutations import NoPlace, mutate
from tests.lab.history.synthetic import clean_history

PLACE = TopicPartition("ta-\N{GREEK SMALL LETTER OMEGA}", 3)


def test_every_event_comes_back_as_it_was() -> None:
    long = clean_history(3, transaction_count=150)
    odd: list[Event] = [
        OffsetFetched(1, "a", "g", PLACE, None, is_stale=True),
        ReplicaSeen(2, PLACE, 1, 1, True, 0, 0, 2**40, 2**40, 2**63 - 1, (3, 1)),
        Ended(3, "a", "a/1", Outcome.UNKNOWN),
        FaultBegan(4, 1, "kill", ""),
        SendInvoked(5, "a", "", PLACE, "v", "source"),
    ]
    events = (*odd, *long, *odd, *long)
    assert {type(event) for event in events} >= set(get_args(Event)) - {type(None)} - _never_made(events)
    packed = PackedHistory(events)
    assert len(packed) == len(events) > 2 * 4_096
    for unpacked in (tuple(packed), packed.unpack()):
        assert unpacked == events
        assert [type(event) for event in unpacked] == [type(event) for event in events]
    assert isinstance(packed[2].outcome, Outcome)  # type: ignore[union-attr]
    assert isinstance(packed[0].partition, TopicPartition)  # type: ignore[union-attr]
    for index in (0, 4_095, 4_096, len(events) - 1, -1, -len(events)):
        assert packed[index] == events[index]
    assert packed[4_090:4_100] == events[4_090:4_100]
    with pytest.raises(IndexError):
        packed[len(events)]


def _never_made(events: tuple[Event, ...]) -> set[Any]:
    """Kinds that no clean history holds; they are packed as the others are."""
    return {kind for kind in get_args(Event) if kind.__name__ in ("Undrained", "FaultEnded")}


def test_what_can_be_added_to_is_what_was_added() -> None:
    packed = PackedHistory()
    assert (len(packed), tuple(packed), packed.unpack()) == (0, (), ())
    events = clean_history(1)
    for number, event in enumerate(events, 1):
        packed.append(event)
        assert len(packed) == number
    assert tuple(packed) == events


def test_an_event_takes_some_bytes_and_not_some_hundred() -> None:
    packed = PackedHistory(clean_history(5, transaction_count=150))
    assert packed.packed_bytes < 25 * len(packed)


def other(event: Event) -> Event:
    """Return the same event of other actors on other topics."""
    changes: dict[str, Any] = {}
    for name, text in event._asdict().items():
        if name in ("actor", "transactional_id", "group") or (name in ("transaction", "source", "value") and text):
            changes[name] = f"other-{text}"
        elif name == "partition":
            changes[name] = TopicPartition(f"other-{text.topic}", text.partition)
    return event._replace(**changes)


def interleaved(first: History, second: History, chance: random.Random) -> tuple[Event, ...]:
    """Return two histories as one, each in its order."""
    turns = [0] * len(first) + [1] * len(second)
    chance.shuffle(turns)
    events = (iter(first), map(other, second))
    return tuple(next(events[turn])._replace(at_ms=at) for at, turn in enumerate(turns))


def subjects(anomalies: tuple[Anomaly, ...]) -> Counter[Anomaly]:
    return Counter(anomalies)


@pytest.mark.parametrize("kind", Kind)
def test_parts_have_the_anomalies_and_witnesses_of_the_whole(kind: Kind) -> None:
    chance, tried = random.Random(f"{kind}"), 0
    for seed in range(40):
        try:
            broken = mutate(kind, clean_history(seed), chance)
        except NoPlace:
            continue
        whole = interleaved(clean_history(seed + 1_000), broken, chance)
        found = check_in_parts(PackedHistory(whole), short=0)
        assert kind in {anomaly.kind for anomaly in found.anomalies}
        assert subjects(found.anomalies) == subjects(check_history(whole))
        assert found.cycles == count_cycles(whole)
        tried += 1
        if tried == 4:
            return
    pytest.fail("no history could be broken so")


def test_parts_without_common_topics_are_disjoint() -> None:
    whole = interleaved(clean_history(1), clean_history(2), random.Random(1))
    parts = [part.unpack() for part in split(whole)]
    assert len(parts) >= 2
    assert sum(map(len, parts)) == len(whole)
    topics = [{event.partition.topic for event in part if hasattr(event, "partition")} for part in parts]
    for index, mine in enumerate(topics):
        assert not any(mine & theirs for theirs in topics[index + 1 :])


def test_who_ends_what_another_one_has_abandoned_belongs_to_it() -> None:
    place, elsewhere = TopicPartition("t", 0), TopicPartition("u", 0)
    events: tuple[Event, ...] = (
        SendInvoked(1, "w.1", "w.1/0", place, "w.1/0/0"),
        Sent(2, "w.1", place, "w.1/0/0", 0),
        Ended(3, "w.2", "w.1/0", Outcome.ABORTED),
        Polled(4, "r", place, 0, "w.1/0/0"),
        Drained(5, "r", place),
        SendInvoked(6, "x", "x/0", elsewhere, "x/0/0"),
        EndInvoked(7, "x", "x/0", True),
        EndInvoked(8, "y", "unnamed", True),
    )
    assert [len(part) for part in split(events)] == [5, 2, 1]
    assert subjects(check_in_parts(events, short=0).anomalies) == subjects(check_history(events))
    assert Kind.ABORTED_READ in {anomaly.kind for anomaly in check_in_parts(events, short=0).anomalies}
