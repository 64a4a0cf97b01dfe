"""Applications judged by what they were given and what they made of it: every flaw is found, clean ones are clean."""

from __future__ import annotations

import random

import pytest

from eosctl.lab.history.events import Outcome
from eosctl.lab.history.feed import (
    FAULT_MEANING,
    Fault,
    FedRecord,
    Feed,
    SeenRecord,
    ShownOffset,
    check_feed,
    is_behind,
    missing_count,
)
from eosctl.model.transaction import TopicPartition

IN, OUT, DEAD = (TopicPartition(topic, 0) for topic in ("in", "out", "dead"))
OUTCOMES = (Outcome.COMMITTED, Outcome.COMMITTED, Outcome.COMMITTED, Outcome.ABORTED, Outcome.UNKNOWN)


def two(fed: FedRecord) -> int:
    """Every input has two outputs, every fifth has none."""
    return 0 if fed.number % 5 == 4 else 2


def clean_feed(seed: int) -> Feed:
    """An application without flaws: two outputs an input, poison in the dead letters, aborted inputs nowhere."""
    chance = random.Random(seed)
    fed, seen, rejected, shown = [], [], [], [ShownOffset(0, "g", IN, None)]
    for number in range(30):
        # The first ones are what every flaw needs: healthy and committed, poison, aborted.
        outcome = Outcome.ABORTED if number == 2 else Outcome.COMMITTED if number < 4 else chance.choice(OUTCOMES)
        poison = number == 3 or (number > 4 and chance.random() < 0.2)
        record = FedRecord(number, number, chance.randrange(3), IN, number, outcome, poison)
        fed.append(record)
        if outcome is Outcome.COMMITTED or (outcome is Outcome.UNKNOWN and chance.random() < 0.5):
            if poison:
                rejected.append(SeenRecord(100 + number, number, DEAD, len(rejected)))
            else:
                seen += [SeenRecord(100 + number, number, OUT, len(seen) + index) for index in range(two(record))]
            shown.append(ShownOffset(100 + number, "g", IN, number + 1))
    return Feed(fed, seen, rejected, shown, tuple(seen))


def found(feed: Feed) -> set[Fault]:
    return {flaw.fault for flaw in check_feed(feed, two, has_dead_letters=True)}


def test_nothing_is_found_in_a_clean_application() -> None:
    for seed in range(200):
        feed = clean_feed(seed)
        assert check_feed(feed, two, has_dead_letters=True) == ()
        assert missing_count(feed, two, has_dead_letters=True) == 0
        assert not is_behind(feed, two)


def break_it(fault: Fault, feed: Feed, chance: random.Random) -> Feed:  # noqa: C901 - an arm for each flaw
    one = chance.choice([s for s in feed.seen if feed.fed[s.number].outcome is Outcome.COMMITTED])
    end = SeenRecord(999, one.number, OUT, 999)
    poison = feed.fed[3]
    match fault:
        case Fault.LOST:
            return feed._replace(seen=[s for s in feed.seen if s.number != one.number])
        case Fault.TORN:
            return feed._replace(seen=[s for s in feed.seen if s != one])
        case Fault.DUPLICATED:
            return feed._replace(seen=[*feed.seen, end])
        case Fault.UNEXPECTED:
            unexpected = feed.fed[4]._replace(outcome=Outcome.COMMITTED, is_poison=False)
            fed = [unexpected if record.number == 4 else record for record in feed.fed]
            return feed._replace(fed=fed, seen=[*feed.seen, end._replace(number=4)])
        case Fault.ABORTED_INPUT:
            return feed._replace(seen=[*feed.seen, end._replace(number=2)])
        case Fault.DAMAGED:
            wrong = chance.choice((end._replace(is_intact=False), end._replace(number=12_345)))
            return feed._replace(seen=[*feed.seen, wrong])
        case Fault.REORDERED:
            return feed._replace(
                fed=[record._replace(key=0) for record in feed.fed],
                seen=[*feed.seen, end._replace(number=0)],
            )
        case Fault.OFFSET_REGRESSION:
            return feed._replace(shown=[*feed.shown, ShownOffset(999, "g", IN, chance.choice((None, 0)))])
        case Fault.OFFSET_BEHIND:
            return feed._replace(shown=feed.shown[:2])
        case Fault.OFFSET_AHEAD:
            return feed._replace(
                seen=[s for s in feed.seen if s.number != one.number], shown=[ShownOffset(999, "g", IN, 30)]
            )
        case Fault.POISON_LOST:
            return feed._replace(rejected=[s for s in feed.rejected if s.number != poison.number])
        case Fault.POISON_DUPLICATED:
            return feed._replace(rejected=[*feed.rejected, SeenRecord(999, poison.number, DEAD, 999)])
        case Fault.HEALTHY_REJECTED:
            return feed._replace(rejected=[*feed.rejected, SeenRecord(999, 0, DEAD, 999)])


@pytest.mark.parametrize("fault", Fault)
def test_every_flaw_is_found_wherever_it_is(fault: Fault) -> None:
    chance = random.Random(f"{fault}")
    for seed in range(100):
        assert fault in found(break_it(fault, clean_feed(seed), chance)), seed


@pytest.mark.parametrize("fault", Fault)
def test_a_flaw_has_a_meaning_and_a_witness(fault: Fault) -> None:
    assert FAULT_MEANING[fault]
    feed = break_it(fault, clean_feed(1), random.Random(1))
    flaw = next(flaw for flaw in check_feed(feed, two, has_dead_letters=True) if flaw.fault is fault)
    assert flaw.witness
    assert flaw.subject


def test_a_lost_output_lists_uncommitted_records() -> None:
    fed = FedRecord(0, 0, 0, IN, 0, Outcome.COMMITTED)
    hidden = SeenRecord(1, 0, OUT, 7)
    (lost,) = check_feed(Feed([fed], [], uncommitted=[hidden]), lambda _: 1)
    assert (lost.fault, lost.witness) == (Fault.LOST, (fed, hidden))
    assert "written and not committed at out-0@7" in lost.subject
    (never,) = check_feed(Feed([fed], []), lambda _: 1)
    assert "never written" in never.subject


def test_an_unacknowledged_input_may_have_outputs_but_not_extra() -> None:
    fed = FedRecord(0, 0, 0, IN, 0, Outcome.UNKNOWN)
    outputs = [SeenRecord(1, 0, OUT, offset) for offset in range(2)]
    assert check_feed(Feed([fed], []), lambda _: 1) == ()
    assert check_feed(Feed([fed], outputs[:1]), lambda _: 1) == ()
    assert [flaw.fault for flaw in check_feed(Feed([fed], outputs), lambda _: 1)] == [Fault.DUPLICATED]


def test_order_may_be_left_unjudged() -> None:
    feed = break_it(Fault.REORDERED, clean_feed(1), random.Random(1))
    assert Fault.REORDERED not in {flaw.fault for flaw in check_feed(feed, two, ordered=False)}
