"""Batches that are divided by their columns give each slice the events that it gets one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

pytest.importorskip("pyarrow")

from eosctl.logs.incidents.slicing.slices import (
    KEYED_BY_FIELDS,
    KEYED_BY_MORE_FIELDS,
    KEYED_BY_NAMES,
    TimeSlice,
    keys_of,
)
from eosctl.logs.incidents.timeline.times import timed
from eosctl.model.log_event import LogEvent
from eosctl.model.server_loggers import _OWN_FIELDS
from spark_log_analytics.dividing import divide_batches
from spark_log_analytics.packing import unpack
from spark_log_analytics.rows import event_batch, events_of
from spark_log_analytics.slices import _chooser
from tests.logs.slicing import Selection
from tests.logs.spreading import Logs, cut, spread


@pytest.mark.parametrize("seed", range(4))
def test_columns_divide_as_single_events_do(seed: int) -> None:
    chosen = random.Random(seed)
    logs = spread(chosen, scenario_count=10, copy_count=2)
    events = list(timed(logs.events, logs.sources))
    slices = cut(chosen, events, 5)
    chosen.shuffle(events)
    found = divided(Logs(events, logs.sources), slices)
    for (_, expected), own in zip(Selection(events, logs.sources).of(slices), found, strict=True):
        assert own == set(map(place, expected))


def test_a_part_of_a_batch_is_divided_as_itself() -> None:
    logs = spread(random.Random(7), scenario_count=6, copy_count=1)
    events = list(timed(logs.events, logs.sources))
    slices = cut(random.Random(1), events, 3)
    part = event_batch(events).slice(100, 200)
    divided_part, _ = rows_of(divide_batches([part], logs.sources, slices))
    whole, _ = rows_of(divide_batches([event_batch(events[100:300])], logs.sources, slices))
    assert divided_part == whole != {}


def test_fields_outside_of_the_lists_leave_the_keys_as_they_are() -> None:
    logs = spread(random.Random(5), scenario_count=12, copy_count=1)
    assert _OWN_FIELDS <= KEYED_BY_FIELDS | KEYED_BY_NAMES
    for event in logs.events:
        kept = KEYED_BY_FIELDS | KEYED_BY_NAMES | KEYED_BY_MORE_FIELDS.get(event.category, frozenset())
        bare = event._replace(fields={name: value for name, value in event.fields.items() if name in kept})
        assert list(keys_of(bare, "log")) == list(keys_of(event, "log"))


def divided(logs: Logs, slices: Sequence[TimeSlice]) -> list[set[tuple[str, int]]]:
    """Return the places of the events that each slice gets from tasks with batches of their own."""
    rows = [row for part in parts_of(logs.events) for row in divide_batches(part, logs.sources, slices)]
    found, samples = rows_of(iter(rows))
    chosen, _ = rows_of(_chooser(slices)(iter(samples)))
    return [found.get(number, set()) | chosen.get(number, set()) for number in range(len(slices))]


def parts_of(events: Sequence[LogEvent]) -> Iterator[list[object]]:
    for start in range(0, len(events), 2000):
        yield [event_batch(events[first : first + 500]) for first in range(start, min(start + 2000, len(events)), 500)]


def rows_of(rows: Iterator[object]) -> tuple[dict[int, set[tuple[str, int]]], list[object]]:
    """Return the places of packed events by slice, and the rows that have none."""
    found: dict[int, set[tuple[str, int]]] = {}
    samples = []
    for row in rows:
        [number] = row.column("slice").to_pylist()
        if number is None:
            samples.append(row)
            continue
        for batch in unpack(row.column("packed")[0].as_buffer()):
            found.setdefault(number, set()).update(map(place, events_of(batch)))
    return found, samples


def place(event: LogEvent) -> tuple[str, int]:
    return event.file, event.offset
