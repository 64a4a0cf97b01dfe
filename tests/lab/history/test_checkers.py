"""Every anomaly that is put into a history is found, with a witness nothing can be left out of; clean ones stay clean.

``EOSCTL_HISTORIES`` is how many histories of each sort are tried (`make prove histories`: 10,000).
"""

from __future__ import annotations

import itertools
import os
import random
import tracemalloc
from collections.abc import Iterator
from functools import cache

import pytest

from eosctl.errors import DecodeError
from eosctl.lab.history.anomaly import MEANING, Anomaly, Kind
from eosctl.lab.history.check import check_history
from eosctl.lab.history.encoding import decode_history, encode_history
from eosctl.lab.history.events import History
from tests.lab.history import synthetic
from tests.lab.history.mutations import MUTATIONS, NoPlace, mutate

HISTORIES = int(os.environ.get("EOSCTL_HISTORIES", "100"))
POOL = 100  # making a history costs more than breaking it: each clean one is broken in several places
clean_history = cache(synthetic.clean_history)


def broken_histories(kind: Kind, count: int) -> Iterator[History]:
    chance = random.Random(f"{kind}")
    made = 0
    for seed in itertools.count():
        history = clean_history(seed % max(POOL, count // 10))
        for _ in range(3):
            try:
                broken = mutate(kind, history, chance)
            except NoPlace:
                break
            yield broken
            made += 1
            if made == count:
                return


def found(history: History, kind: Kind) -> list[Anomaly]:
    return [anomaly for anomaly in check_history(history) if anomaly.kind is kind]


def test_each_kind_has_a_meaning_and_a_way_to_insert_it() -> None:
    assert set(MEANING) == set(MUTATIONS) == set(Kind)


def test_nothing_is_found_in_clean_histories() -> None:
    for seed in range(HISTORIES):
        assert check_history(clean_history(seed)) == (), seed


@pytest.mark.parametrize("kind", Kind)
def test_every_inserted_anomaly_is_found(kind: Kind) -> None:
    missed = [number for number, history in enumerate(broken_histories(kind, HISTORIES)) if not found(history, kind)]
    assert missed == []


@pytest.mark.parametrize("kind", Kind)
def test_a_witness_is_minimal(kind: Kind) -> None:
    for history in broken_histories(kind, 10):
        for anomaly in found(history, kind):
            assert found(anomaly.witness, kind), anomaly
            for left_out in range(len(anomaly.witness)):
                rest = anomaly.witness[:left_out] + anomaly.witness[left_out + 1 :]
                assert not found(rest, kind), (anomaly, anomaly.witness[left_out])


def test_the_work_grows_as_the_history_does() -> None:
    """Counted in calls of Python functions and comparisons of events, not in time."""
    few, many = (CountingHistory(clean_history(1, transaction_count=count)) for count in (10, 80))
    for history in (few, many):
        assert check_history(history) == ()  # type: ignore[arg-type]
    assert few.visits / len(few.events) == many.visits / len(many.events)


class CountingHistory:
    """A history that counts how often an event of it is handed out."""

    def __init__(self, events: History) -> None:
        self.events = events
        self.visits = 0

    def __iter__(self) -> Iterator[object]:
        for event in self.events:
            self.visits += 1
            yield event


def test_a_history_survives_its_text() -> None:
    for seed in range(5):
        history = clean_history(seed)
        assert decode_history(encode_history(history).splitlines()) == history


def test_a_decoded_history_needs_no_more_memory_than_a_recorded() -> None:
    lines = encode_history(clean_history(7)).splitlines()
    tracemalloc.start()
    try:
        history = decode_history(lines)
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Each event on its own would take some 400 bytes; a tuple and its own numbers take 150.
    assert held_bytes < 250 * len(history)


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        '{"event":"Nothing"}',
        '{"at_ms":1}',
        '{"event":"Sent","at_ms":1}',
        '{"event":"Ended","at_ms":1,',
    ],
)
def test_a_line_without_an_event_is_named(line: str) -> None:
    with pytest.raises(DecodeError, match="Line 2"):
        decode_history([encode_history(clean_history(1)).splitlines()[0], line])
