"""The tables of a result: their types, their rows, and that a run is visible as a whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from contextlib import redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate
from markupsafe import escape

from eosctl.cli import main as run_command
from eosctl.errors import UsageError
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent, is_problem
from eosctl.model.log_tables import LOG_TABLES, columns_of
from eosctl.render.logs.dashboard import render_dashboard
from eosctl.render.schemas import schema_of
from eosctl.services.query_logs import QueryAnswer, QueryEngine, QueryRequest, query_logs
from eosctl.services.summarize_result import SummaryRequest, summarize_result
from tests.spark_log_analytics.conftest import adaptive

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
FENCED = FIXTURES / "second-producer-392"
DOCS = Path(__file__).parents[2] / "docs" / "logs"


MOST_JOBS = 23


@pytest.fixture(scope="module")
def written_in_jobs(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Return a result, and the number of Spark jobs that it took."""
    from spark_log_analytics.main import main

    out = tmp_path_factory.mktemp("result")
    jobs = spark.sparkContext.statusTracker()
    before = max(jobs.getJobIdsForGroup(), default=-1)
    with adaptive(spark):
        assert main([str(FENCED), "--out", str(out), "--split-bytes", "3000"]) == 0
    return out, max(jobs.getJobIdsForGroup()) - before


@pytest.fixture(scope="module")
def written(written_in_jobs: tuple[Path, int]) -> Path:
    return written_in_jobs[0]


def test_a_few_events_take_few_jobs(written_in_jobs: tuple[Path, int]) -> None:
    _, job_count = written_in_jobs
    assert 0 < job_count <= MOST_JOBS


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


def test_coverage_has_the_columns_of_folders(spark: Any, tmp_path: Path) -> None:
    from spark_log_analytics.main import main

    folder = tmp_path / "logs" / "dt=2026-11-26" / "host=broker-2"
    folder.mkdir(parents=True)
    (folder / "server.log").write_bytes(next(FENCED.rglob("*.log")).read_bytes())
    (folder.parent / "host=broker-3").mkdir()
    (folder.parent / "host=broker-3" / "server.log.gz").write_bytes(b"\x1f\x8b broken")
    main([str(tmp_path / "logs"), "--out", str(tmp_path / "out")])
    views(spark, tmp_path / "out")
    query = "SELECT partitions['dt'], partitions['host'], status = 'read' FROM coverage"
    assert sorted(rows(spark, query)) == [("2026-11-26", "broker-2", True), ("2026-11-26", "broker-3", False)]


def test_the_same_input_changes_nothing(result: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    from spark_log_analytics.main import main

    out, run_id = result
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    assert main([str(FENCED), "--out", str(out), "--split-bytes", "70000"]) == 0
    assert f"(run {run_id}, unchanged)" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")} == before


def test_an_interrupted_run_is_invisible(
    spark: Any, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spark_log_analytics import saving
    from spark_log_analytics.main import main

    logs, out = tmp_path / "logs", tmp_path / "out"
    shutil.copytree(FENCED, logs)
    shutil.copytree(written, out)
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
    with adaptive(spark):
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


def queries() -> dict[str, str]:
    """Return the queries of the manual by the table that each begins with."""
    text = (DOCS / "tables.md").read_text("utf-8")
    found = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    return {query.split("FROM ")[-1 if "loads" in query else 1].split()[0]: query for query in found}


def answer(query: str, out: Path, engine: QueryEngine) -> QueryAnswer:
    return query_logs(QueryRequest(query, str(out), engine))


def test_the_queries_of_the_manual_run(result: tuple[Path, str]) -> None:
    out, run_id = result
    found = {table: answer(query, out, QueryEngine.SPARK) for table, query in queries().items()}
    assert found.keys() == {
        "incidents",
        "fencing",
        "exceptions",
        "producers",
        "groups",
        "coverage",
        "tasks",
        "published",
    }
    assert [table for table, one in found.items() if not one.rows] == ["coverage"]  # all was read
    assert {(one.run_id, one.gap) for one in found.values()} == {(run_id, "")}
    assert found["producers"].rows[0][0] in {"invoice-sync-4", "ledger-writer-7", "payment-relay-3"}


def test_both_engines_give_the_same_answer(result: tuple[Path, str]) -> None:
    pytest.importorskip("duckdb", reason="the sql extra is not installed")
    out, _ = result
    for query in (*queries().values(), *(f"SELECT * FROM {table.name}" for table in LOG_TABLES)):
        here, there = (answer(query, out, engine) for engine in (QueryEngine.DUCKDB, QueryEngine.SPARK))
        assert here.columns == there.columns
        assert sorted(map(str, here.rows)) == sorted(map(str, there.rows))


@pytest.mark.parametrize("engine", [QueryEngine.SPARK, QueryEngine.DUCKDB])
def test_a_column_of_a_later_release_is_null(engine: QueryEngine, result: tuple[Path, str], tmp_path: Path) -> None:
    from pyarrow import parquet

    if engine is QueryEngine.DUCKDB:
        pytest.importorskip("duckdb", reason="the sql extra is not installed")
    out = tmp_path / "earlier"
    shutil.copytree(result[0], out)
    (file,) = (out / f"run-{result[1]}" / "coverage-v3").glob("part-*.parquet")
    coverage = parquet.ParquetFile(file).read()
    file.unlink()
    parquet.write_table(coverage.drop_columns(["partitions"]), file.with_name("part-earlier.parquet"))
    found = answer("SELECT file, partitions FROM coverage", out, engine).rows
    assert sorted(found) == [(name, None) for name in sorted(coverage["file"].to_pylist())]


def test_tasks_account_for_all_that_was_read(spark: Any, result: tuple[Path, str]) -> None:
    read = (
        "SELECT sum(record_count), sum(event_count), min(cpu_s) > 0, min(peak_mb) > 0 FROM tasks WHERE stage = 'scan'"
    )
    [(records, events, took_time, took_memory)] = rows(spark, read)
    assert rows(spark, "SELECT sum(event_count), (SELECT count(*) FROM events) FROM coverage") == [(records, events)]
    assert took_time and took_memory
    [(size,)] = rows(spark, "SELECT sum(input_bytes) FROM tasks")
    assert size == sum(source.size_bytes for source in scan_paths([FENCED]).sources)


@pytest.mark.parametrize("engine", [QueryEngine.SPARK, QueryEngine.DUCKDB])
def test_a_table_of_a_later_release_is_empty(engine: QueryEngine, result: tuple[Path, str], tmp_path: Path) -> None:
    if engine is QueryEngine.DUCKDB:
        pytest.importorskip("duckdb", reason="the sql extra is not installed")
    out = tmp_path / "earlier"
    shutil.copytree(result[0], out)
    shutil.rmtree(out / f"run-{result[1]}" / "tasks-v3")
    assert answer("SELECT count(*) FROM tasks", out, engine).rows == ((0,),)


@pytest.mark.parametrize("engine", [QueryEngine.SPARK, QueryEngine.DUCKDB])
def test_statements_that_do_not_read_are_refused(engine: QueryEngine, result: tuple[Path, str], tmp_path: Path) -> None:
    if engine is QueryEngine.DUCKDB:
        pytest.importorskip("duckdb", reason="the sql extra is not installed")
    out, _ = result
    for query in ("DROP TABLE events", "SELECT 1; SELECT 2", "WITH a AS (SELECT 1) INSERT INTO events SELECT * FROM a"):
        with pytest.raises(UsageError, match="not a query"):
            answer(query, out, engine)
    with pytest.raises(UsageError) as mistake:
        answer("SELECT nothing FROM incidents", out, engine)
    assert "nothing" in mistake.value.why
    assert answer("SELECT ';DROP' AS word", out, engine).rows == ((";DROP",),)
    for place in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UsageError, match="has no complete run"):
            answer("SELECT 1", place, engine)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT E'\\'' ; COPY (SELECT 1) TO '{out}' --'",
        "SELECT $$'$$ ; COPY (SELECT 1) TO '{out}' --'",
        "SELECT $x$'$x$ ; COPY (SELECT 1) TO '{out}' --'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'",
        "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '{out}'",
        "EXPLAIN/**/ANALYZE CREATE TABLE pwned AS SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT 1 /* ; */ ; SET lock_configuration = false",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv_auto('{secret}')",
        "SELECT * FROM '{secret}'",
    ],
)
def test_a_query_reads_nothing_but_the_result(query: str, result: tuple[Path, str], tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the sql extra is not installed")
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    for place in (tmp_path / "copy.csv", result[0] / "copy.csv"):
        with pytest.raises(UsageError):
            answer(query.format(out=place, secret=tmp_path / "secret.csv"), result[0], QueryEngine.DUCKDB)
        assert not place.exists()


def test_literals_of_spark_hide_no_statement(result: tuple[Path, str], tmp_path: Path) -> None:
    place = tmp_path / "written"
    query = f"WITH a AS (SELECT '\\'') INSERT OVERWRITE DIRECTORY '{place}' USING csv SELECT 1 --'"
    with pytest.raises(UsageError, match="not a query"):
        answer(query, result[0], QueryEngine.SPARK)
    assert not place.exists()


def test_logs_without_a_record_are_a_failure(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spark_log_analytics.main import main

    (tmp_path / "notes.log").write_text("Buy milk.\nWater the plants.\n" * 20)
    assert main([str(tmp_path / "notes.log"), "--out", str(tmp_path / "out")]) == 4
    assert "no log record was recognized: " in capsys.readouterr().err
    found = answer("SELECT count(*) FROM incidents", tmp_path / "out", QueryEngine.SPARK)
    assert found.gap == "1 of 1 inputs were not read or not recognized; see the table coverage."


def test_the_notebook_prints_what_it_shows(result: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads((DOCS / "incident.ipynb").read_text("utf-8"))
    monkeypatch.setenv("EOSCTL_RESULT", str(result[0]))
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        with redirect_stdout(StringIO()) as printed:
            exec("".join(cell["source"]), names)
        assert printed.getvalue() == "".join(line for output in cell["outputs"] for line in output["text"])
    assert len(cells) == 6


def test_the_dashboard_shows_causes_and_coverage(result: tuple[Path, str]) -> None:
    board = summarize_result(SummaryRequest(str(result[0]), QueryEngine.SPARK))
    (cause,) = board.causes
    assert (cause.root_cause, cause.incident_count, len(cause.examples)) == ("duplicate-transactional-id", 3, 3)
    assert sum(one.thrown_count for one in board.failures) == sum(
        1 for one in scan_paths([FENCED]).events if one.exception
    )
    assert sum(slot.problem_count for slot in board.slots) == sum(
        1 for one in scan_paths([FENCED]).events if is_problem(one)
    )
    assert dict(board.statuses) == {"read": 8, "skipped": 1}
    page = render_dashboard(board)
    assert "3 incidents of 1 root cause" in page
    assert "8 of 8</b> logs read in full" in page
    statuses = (("read", 13), ("empty", 1), ("partial", 1), ("unrecognized", 1), ("skipped", 40))
    assert "14 of 16</b> logs read in full" in render_dashboard(board._replace(statuses=statuses))
    assert all(escape(one.message) in page for one in cause.examples)
    assert page.count("<rect") == len(board.slots)


def test_the_commands_print_answers_and_pages(
    result: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = str(result[0]), tmp_path / "page.html"
    query = "SELECT root_cause, transactional_ids FROM incidents ORDER BY started_at LIMIT 1"
    assert run_command(["logs", "sql", query, out, "--engine", "spark", "-o", "json"]) == 0
    answered = json.loads(capsys.readouterr().out)
    validate(answered, schema_of("log-query"))
    assert answered["items"] == [{"root_cause": "duplicate-transactional-id", "transactional_ids": ["ledger-writer-7"]}]
    assert run_command(["logs", "sql", query, out, "--engine", "spark"]) == 0
    assert capsys.readouterr().out.split() == [
        *("ROOT-CAUSE", "TRANSACTIONAL-IDS"),
        *("duplicate-transactional-id", "ledger-writer-7"),
    ]
    assert run_command(["logs", "dashboard", out, "--engine", "spark", "--output-file", str(page)]) == 0
    assert page.read_text("utf-8") == capsys.readouterr().out


def test_the_manual_names_each_table_and_status() -> None:
    from spark_log_analytics.results import INCOMPLETE, STATUS

    text = (DOCS / "tables.md").read_text("utf-8")
    for name in (*(table.name for table in LOG_TABLES), *STATUS.values(), *INCOMPLETE, "skipped"):
        assert f"`{name}`" in text
