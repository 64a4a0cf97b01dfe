"""Events are packed into few values, and come back the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from spark_log_analytics.packing import PACKED_ROWS, Packer, pack, unmeasured_batches, unpack
from spark_log_analytics.rows import event_batch, events_of
from tests.logs.spreading import spread

pytest.importorskip("pyarrow", reason="the spark extra is not installed")


def test_packed_parts_of_batches_have_the_same_events() -> None:
    events = spread(random.Random(4), scenario_count=6, copy_count=1).events
    batch = event_batch(events)
    packed = pack([batch.slice(0, 3), batch.slice(3, 40), batch.slice(43)])
    assert [event for part in unpack(packed) for event in events_of(part)] == events
    assert len(packed) < batch.nbytes / 2


def test_equal_texts_of_events_are_one_value() -> None:
    [event, *_] = spread(random.Random(4), scenario_count=1, copy_count=1).events
    own = event._replace(fields={"group": "payments"})
    [one, other] = (found for _ in range(2) for found in events_of(event_batch([own])))
    assert one.file is other.file
    assert next(iter(one.fields)) is next(iter(other.fields))
    assert one.fields["group"] is other.fields["group"]


def test_rows_wait_until_there_are_enough_for_a_value() -> None:
    [event, *_] = spread(random.Random(4), scenario_count=1, copy_count=1).events
    packer = Packer[str]()
    batch = event_batch([event] * (PACKED_ROWS // 2))
    assert list(packer.add("first", batch)) == []
    assert list(packer.add("second", batch)) == []
    [(label, packed)] = packer.add("first", batch)
    assert (label, sum(part.num_rows for part in unpack(packed))) == ("first", PACKED_ROWS)
    assert [label for label, _ in packer.rest()] == ["second"]
    assert list(packer.rest()) == []


@pytest.mark.spark
def test_a_session_gets_its_own_limit_of_batches_back(spark: Any) -> None:
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = spark.conf.get(name, None)
    with pytest.raises(ZeroDivisionError), unmeasured_batches(spark):
        assert spark.conf.get(name) == str(2**31 - 1)
        raise ZeroDivisionError
    assert spark.conf.get(name, None) == before
    spark.conf.set(name, "1048576")
    with unmeasured_batches(spark):
        assert spark.conf.get(name) == str(2**31 - 1)
    assert spark.conf.get(name) == "1048576"
    spark.conf.unset(name)
