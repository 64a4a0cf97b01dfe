"""Queries with DuckDB read the files of a result's tables, and no other file, wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from eosctl.errors import UsageError
from eosctl.services.query_logs import QueryEngine, QueryRequest, query_logs

pytestmark = pytest.mark.spark

FENCED = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
READERS = ("read_text('{}')", "read_blob('{}')", "read_csv('{}')", "glob('{}')", "'{}'")


@pytest.fixture(scope="module")
def written(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from spark_log_analytics.main import main

    out = tmp_path_factory.mktemp("results") / "of [one] team's"
    assert main([str(FENCED), "--out", str(out)]) == 0
    return out


def count(query: str, result: Path) -> int:
    pytest.importorskip("duckdb", reason="the sql extra is not installed")
    ((value,),) = query_logs(QueryRequest(query, str(result), QueryEngine.DUCKDB)).rows
    return int(value)


def others(result: Path) -> list[Path]:
    """Write files of other people at each depth of a result, and return them and those of DuckDB's own folders."""
    folders = [result, *(path for path in result.rglob("*") if path.is_dir()), Path(".tmp"), Path("outside")]
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / "notes.csv").write_text("secret\nhidden\n")
    return [(folder / "notes.csv").absolute() for folder in folders]


@pytest.mark.parametrize("reader", READERS)
def test_no_file_next_to_the_tables_is_read(
    reader: str, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tmp_path / "result"
    shutil.copytree(written, result)
    monkeypatch.chdir(tmp_path)
    places = others(result)
    assert count("SELECT count(*) FROM incidents", result)
    for place in (*places, Path(".tmp/notes.csv"), Path("result/notes.csv"), result / "**"):
        with pytest.raises(UsageError):
            count(f"SELECT count(*) FROM {reader.format(place)}", result)


def test_a_run_before_the_last_one_is_not_read(written: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    shutil.copytree(written, result)
    (run,) = result.glob("run-*")
    shutil.copytree(run, result / "run-0000000000000000")
    parts = sorted((result / "run-0000000000000000").rglob("part-*.parquet"))
    assert parts
    for part in parts:
        with pytest.raises(UsageError):
            count(f"SELECT count(*) FROM '{part}'", result)


def test_a_folder_may_have_any_name(written: Path) -> None:
    assert count("SELECT count(*) FROM incidents", written) > 0


def test_sorting_leaves_no_file(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert count("SELECT count(*) FROM (SELECT * FROM events ORDER BY message)", written) > 0
    assert list(tmp_path.iterdir()) == []
