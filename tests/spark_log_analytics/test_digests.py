"""Digests on Spark: the rows equal the values of eosctl.analysis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import pytest

from eosctl.logs.digest.digest import digest_events
from eosctl.logs.scan import scan_paths
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent, is_problem

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
FAULTS = [FIXTURES / "paused-process-431", FIXTURES / "poison-record-392"]
USUAL = FIXTURES / "second-producer-392"
STUCK = FIXTURES / "hanging-transaction-392"


def frame_of(spark: Any, events: Sequence[LogEvent]) -> Any:
    import pyarrow as pa

    from spark_log_analytics.rows import event_batch

    return spark.createDataFrame(pa.Table.from_batches([event_batch(events)]))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def by_text(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        ({**row, "applications": list(row["applications"])} for row in rows),
        key=lambda row: (row["text"], row["category"], row["root_class"]),
    )


def test_spark_gives_the_digest_of_the_report(spark: Any) -> None:
    from spark_log_analytics import digests

    here, usual = scan_paths(FAULTS).events, scan_paths([USUAL]).events
    expected = digest_events(here, usual)
    assert all((expected.templates, expected.bursts, expected.precursors, expected.pauses, expected.clocks))
    events = frame_of(spark, here)

    plain = [{name: value for name, value in asdict(one).items() if name != "is_new"} for one in expected.templates]
    assert by_text(rows_of(digests.templates(events))) == by_text(plain)
    new = rows_of(digests.new_templates(events, frame_of(spark, usual)))
    assert {(one["text"], one["category"], one["root_class"]) for one in new} == {
        (one.text, one.category, one.root_class) for one in expected.templates if one.is_new
    }
    assert rows_of(digests.bursts(events)) == [pytest.approx(asdict(one)) for one in expected.bursts]
    ranked = rows_of(digests.precursors(events))
    assert [one for one in ranked if one["cause"]] == [
        {**asdict(one), "unexplained_count": None} for one in expected.precursors
    ]
    assert {one["failure"]: one["unexplained_count"] for one in ranked if not one["cause"]} == {
        one.failure: one.unexplained_count for one in expected.unexplained
    }
    assert rows_of(digests.pauses(events)) == [asdict(one) for one in expected.pauses]
    assert rows_of(digests.clocks(events)) == [asdict(one) for one in expected.clocks]


def test_a_transactional_ids_history_and_hang_suspects(spark: Any) -> None:
    from spark_log_analytics import digests

    here = scan_paths([*FAULTS, STUCK]).events
    events = frame_of(spark, here)
    lives = {one["transactional_id"]: one for one in rows_of(digests.lives(events))}
    mine = [event for event in here if event.fields.get("transactional_id") == "settlement-bridge-p"]
    counts = Counter(event.category for event in mine)
    assert set(lives) == {event.fields["transactional_id"] for event in here if "transactional_id" in event.fields}
    paused = lives["settlement-bridge-p"]
    assert paused["fenced_count"] == counts["PRODUCER_FENCED"] + counts["INVALID_PRODUCER_EPOCH"] > 0
    assert paused["timed_out_count"] == counts["TXN_TIMEOUT_ABORT"] > 0
    assert paused["initialized_count"] == sum("coordinator_partition" in event.fields for event in mine)

    shown: dict[str, list[int]] = {}
    for event in here:
        if event.category == "READER_STUCK" and event.time_ms is not None:
            shown.setdefault(event.fields["partition"], []).append(event.time_ms)
    found = {
        one["partition"]: one
        for one in rows_of(digests.hanging_suspects(events))
        if "READER_STUCK" in one["categories"]
    }
    assert found.keys() == shown.keys() != set()
    for partition, times in shown.items():
        suspect = found[partition]
        assert (suspect["first_ms"], suspect["last_ms"]) == (min(times), max(times))
        assert suspect["event_count"] >= len(times)


def test_a_problem_is_the_same_on_both_engines(spark: Any) -> None:
    from pyspark.sql import functions as f

    from spark_log_analytics.rows import is_problem_row

    event = next(one for one in scan_paths([USUAL]).events if one.exception is None)
    levels = ("", "17", "INFO", "NOTICE", "WARN", "ERROR", "FATAL", "SEVERE")
    categories = get_args(EventCategory)
    events = [event._replace(category=name, level=level) for name in categories for level in levels]
    rows = frame_of(spark, events).withColumn("is_problem", is_problem_row()).where(f.col("is_problem")).collect()
    assert {(row["category"], row["level"]) for row in rows} == {
        (one.category, one.level) for one in events if is_problem(one)
    }
