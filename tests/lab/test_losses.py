"""The ledger of other vendors' clients notices every way in which a transaction can be wrong, and a few real faults."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.endurance.ledger import Outcome, Record, copy_of, copy_violations, vanished, violations
from scripts.endurance.torn_files import HEADER, last_batch, torn_tail

WHOLE = (0, 1, 2)
SOURCE = [Record(0, 0, "a:1:0"), Record(0, 2, "a:2:0"), Record(1, 5, "a:1:1")]
COPIES = [Record(record.partition, 10 + record.offset, copy_of(record)) for record in SOURCE]


def records(*places: int) -> list[Record]:
    return [Record(place, offset, f"a:1:{place}") for offset, place in enumerate(places)]


@pytest.mark.parametrize(
    ("outcome", "places"),
    [
        (Outcome.COMMITTED, WHOLE),
        (Outcome.ABORTED, ()),
        (Outcome.ABANDONED, ()),
        (Outcome.UNKNOWN, ()),
        (Outcome.UNKNOWN, WHOLE),
    ],
)
def test_what_may_be_there_is_accepted(outcome: Outcome, places: tuple[int, ...]) -> None:
    assert violations({"a:1": outcome}, records(*places)) == []


@pytest.mark.parametrize(
    ("outcome", "places"),
    [
        (Outcome.COMMITTED, ()),
        (Outcome.COMMITTED, (0, 1)),
        (Outcome.COMMITTED, (0, 1, 2, 0)),
        (Outcome.ABORTED, WHOLE),
        (Outcome.ABORTED, (0,)),
        (Outcome.ABANDONED, WHOLE),
        (Outcome.UNKNOWN, (1, 2)),
        (Outcome.UNKNOWN, (0, 1, 2, 0, 1, 2)),
    ],
)
def test_what_must_not_be_there_is_a_violation(outcome: Outcome, places: tuple[int, ...]) -> None:
    (found,) = violations({"a:1": outcome}, records(*places))
    assert found.startswith("a:1: ")


def test_a_record_without_a_writer_is_a_violation() -> None:
    assert violations({}, records(0)) == ["a:1: no client wrote it"]


def test_records_of_one_producer_out_of_order_are_a_violation() -> None:
    late = [Record(place, 0, f"a:2:{place}") for place in WHOLE] + records(*WHOLE)
    found = violations({"a:1": Outcome.COMMITTED, "a:2": Outcome.COMMITTED}, late)
    assert found == [f"a:1: is behind a later transaction in partition {place}" for place in WHOLE]


def test_copies_up_to_the_committed_offsets_are_accepted() -> None:
    assert copy_violations(SOURCE, COPIES[:1], {0: 2}, {0: 1}) == []
    assert copy_violations(SOURCE, COPIES, {0: 3, 1: 6}, {0: 3, 1: 6}) == []


@pytest.mark.parametrize(
    ("copies", "committed", "acknowledged", "found"),
    [
        (COPIES[:1], {0: 3}, {}, "partition 0: no copy of 2=a:2:0"),
        (COPIES[:2], {0: 2}, {}, "partition 0: a copy too many of 2=a:2:0"),
        ([*COPIES[:1], *COPIES[:1]], {0: 2}, {}, "partition 0: a copy too many of 0=a:1:0"),
        ([COPIES[1], COPIES[0]], {0: 3}, {}, "partition 0: the copies are in another order"),
        ([], {}, {1: 6}, "partition 1: the group is at 0, and 6 was acknowledged"),
    ],
)
def test_copies_that_contradict_offsets_are_a_violation(
    copies: list[Record], committed: dict[int, int], acknowledged: dict[int, int], found: str
) -> None:
    assert copy_violations(SOURCE, copies, committed, acknowledged) == [found]


def test_what_was_visible_and_changed_is_a_violation() -> None:
    watched = {(0, 0): "a:1:0", (1, 5): "a:9:1", (2, 7): "a:1:2"}
    assert vanished(watched, SOURCE) == [
        "partition 1, offset 5: a:9:1 was visible, and now a:1:1 is there",
        "partition 2, offset 7: a:1:2 was visible, and now None is there",
    ]


def framed(offset: int, body: bytes) -> bytes:
    return HEADER.pack(offset, len(body)) + body


@given(
    bodies=st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=4),
    part=st.binary(max_size=11),
    seed=st.integers(0, 1000),
)
def test_a_torn_tail_is_less_than_one_batch(bodies: list[bytes], part: bytes, seed: int) -> None:
    log = b"".join(framed(offset, body) for offset, body in enumerate(bodies))
    whole = framed(len(bodies) - 1, bodies[-1])
    assert last_batch(log + part) == whole
    torn = torn_tail(log, random.Random(seed))
    assert torn
    assert not any(torn) or len(torn) < len(whole)
    assert last_batch(log + torn) == whole


def test_nothing_is_lost_on_a_kept_sandbox() -> None:
    """A few of the proof's three hundred faults, torn files among them; clients warn, so they run in a process."""
    command = [sys.executable, "-m", "scripts.endurance.losses", "--faults", "1", "--gap", "0.2", "--seed", "13"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 tear-files" in done.stdout
    assert done.stdout.endswith(" transactions: 0 violations\n")
    for client in ("librdkafka", "kafka-python", "aiokafka"):
        assert done.stdout.count(f"{client} committed") == 2
