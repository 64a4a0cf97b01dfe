"""The tables of a result: their types, their rows, and that a run is visible as a whole or not at all."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent
from eosctl.model.log_tables import LOG_TABLES, columns_of

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
FENCED = FIXTURES / "second-producer-392"
DOCS = Path(__file__).parents[2] / "docs" / "logs"


@pytest.fixture(scope="module")
def written(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from spark_log_analytics.main import main

    out = tmp_path_factory.mktemp("result")
    assert main([str(FENCED), "--out", str(out), "--split-bytes", "3000"]) == 0
    return out


@pytest.fixture
def result(spark: Any, written: Path) -> tuple[Path, str]:
    """Return a result and the id of its run; its tables are views of the session."""
    return written, views(spark, written)


def views(spark: Any, out: Path) -> str:
    from spark_log_analytics.results import open_result

    run = open_result(spark, str(out))
    assert run is not None
    return str(run["run_id"])


def rows(spark: Any, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in spark.sql(query).toArrow().to_pylist()]


def utc(event: LogEvent) -> datetime | None:
    return None if event.time_ms is None else datetime.fromtimestamp(event.time_ms / 1000, UTC)


def test_tables_have_the_columns_that_are_documented(spark: Any, result: tuple[Path, str]) -> None:
    out, run_id = result
    for table in LOG_TABLES:
        place = "published-v3" if table.name == "published" else f"run-{run_id}/{table.name.replace('_', '-')}-v3"
        files = spark.read.parquet(str(out / place))
        assert [(one.name, one.dataType.simpleString()) for one in files.schema] == list(columns_of(table.name))


def test_events_have_times_and_numbers(spark: Any, result: tuple[Path, str]) -> None:
    found = rows(spark, "SELECT file, byte_offset, time, date, producer_id, producer_epoch, group_id FROM events")
    expected = [
        (
            event.file,
            event.offset,
            moment,
            moment and moment.date(),
            *(int(event.fields[name]) if name in event.fields else None for name in ("producer_id", "producer_epoch")),
            event.fields.get("group"),
        )
        for event in scan_paths([FENCED]).events
        for moment in [utc(event)]
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert any(row[4] for row in found)


def test_a_fencing_names_both_sides(spark: Any, result: tuple[Path, str]) -> None:
    found = rows(spark, "SELECT DISTINCT transactional_id, application, fenced_by, producer_epoch FROM fencing")
    assert ("payment-relay-3", "relay-a", "relay-b", 2) in found
    assert {row[0] for row in found} == {"payment-relay-3", "ledger-writer-7"}


def test_sessions_of_producers_follow_their_epochs(spark: Any, result: tuple[Path, str]) -> None:
    query = "SELECT producer_id, producer_epoch, event_count FROM producers WHERE transactional_id = 'payment-relay-3'"
    named = [event for event in scan_paths([FENCED]).events if event.fields.get("producer_id") == "1009"]
    counts = Counter(int(event.fields["producer_epoch"]) for event in named)
    assert sorted(rows(spark, query)) == [(1009, epoch, count) for epoch, count in sorted(counts.items())]
    assert len(counts) > 1


def test_evidence_belongs_to_incidents(spark: Any, result: tuple[Path, str]) -> None:
    counted = "SELECT incident_id, count(*) FROM evidence WHERE message IS NOT NULL GROUP BY incident_id"
    assert sorted(rows(spark, counted)) == sorted(rows(spark, "SELECT incident_id, evidence_count FROM incidents"))


def test_coverage_names_each_input(spark: Any, result: tuple[Path, str]) -> None:
    found = dict(rows(spark, "SELECT file, status FROM coverage"))
    assert found == {str(path): "skipped" if path.name == "truth.json" else "read" for path in FENCED.rglob("*.*")}
    assert rows(spark, "SELECT unread_count, is_complete FROM published") == [(0, True)]


def test_the_same_input_changes_nothing(result: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    from spark_log_analytics.main import main

    out, run_id = result
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    assert main([str(FENCED), "--out", str(out), "--split-bytes", "70000"]) == 0
    assert f"(run {run_id}, unchanged)" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")} == before


def test_an_interrupted_run_is_invisible(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_log_analytics import saving
    from spark_log_analytics.main import main

    logs, out = tmp_path / "logs", tmp_path / "out"
    shutil.copytree(FENCED, logs)
    assert main([str(logs), "--out", str(out)]) == 0
    first, counted = views(spark, out), rows(spark, "SELECT count(*) FROM events")
    shutil.copytree(FIXTURES / "poll-interval-392", logs / "more")

    def fail(*_: object) -> None:
        raise OSError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(saving, "publish", fail)
        assert main([str(logs), "--out", str(out)]) == 1
    assert len(list(out.glob("run-*"))) == 2
    assert views(spark, out) == first
    assert rows(spark, "SELECT count(*) FROM events") == counted
    assert main([str(logs), "--out", str(out)]) == 0
    assert views(spark, out) != first
    assert rows(spark, "SELECT count(*) FROM events") == [(len(scan_paths([logs]).events),)]
    assert len(list(out.glob("run-*"))) == 2


def test_days_are_partitions(spark: Any, tmp_path: Path) -> None:
    from spark_log_analytics.main import main

    lines = (f"[2026-11-{day} 23:59:59,999] ERROR lost ({number}.B)\n" for day in (20, 21) for number in range(3))
    (tmp_path / "a.log").write_text("".join(lines))
    assert main([str(tmp_path / "a.log"), "--out", str(tmp_path / "out")]) == 0
    run_id = views(spark, tmp_path / "out")
    days = (tmp_path / "out" / f"run-{run_id}" / "events-v3").glob("date=*")
    assert sorted(day.name for day in days) == ["date=2026-11-20", "date=2026-11-21"]
    counted = "SELECT CAST(date AS STRING), count(*) FROM events GROUP BY date ORDER BY date"
    assert rows(spark, counted) == [("2026-11-20", 3), ("2026-11-21", 3)]


def test_a_baseline_without_a_run_is_refused(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spark_log_analytics.main import main

    assert main([str(FENCED), "--out", str(tmp_path / "out"), "--baseline", str(tmp_path / "none")]) == 1
    assert "has no complete run" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_logs_without_a_record_are_a_failure(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spark_log_analytics.main import main

    (tmp_path / "notes.log").write_text("Buy milk.\nWater the plants.\n" * 20)
    assert main([str(tmp_path / "notes.log"), "--out", str(tmp_path / "out")]) == 1
    assert "no log record was recognized: " in capsys.readouterr().err


def test_the_manual_names_each_table_and_status() -> None:
    from spark_log_analytics.results import INCOMPLETE, STATUS

    text = (DOCS / "tables.md").read_text("utf-8")
    for name in (*(table.name for table in LOG_TABLES), *STATUS.values(), *INCOMPLETE, "skipped"):
        assert f"`{name}`" in text
