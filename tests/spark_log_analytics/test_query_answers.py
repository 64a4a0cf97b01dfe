"""Answers of `logs sql` on both engines: values of any type, and names of columns that stay text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eosctl.cli import main as run_command
from tests.commands.inert import acted_on

pytestmark = pytest.mark.spark

FENCED = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
ENGINES = pytest.mark.parametrize("engine", ["duckdb", "spark"])
LASTED = "max(ended_at) - min(started_at)"


@pytest.fixture(scope="module")
def written(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from spark_log_analytics.main import main

    out = tmp_path_factory.mktemp("result")
    assert main([str(FENCED), "--out", str(out)]) == 0
    return out


def ask(query: str, result: Path, engine: str, form: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run_command(["logs", "sql", query, str(result), "--engine", engine, "-o", form]) == 0
    return capsys.readouterr().out


@ENGINES
def test_a_difference_of_times_is_a_number_of_seconds(
    engine: str, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = f"SELECT {LASTED} AS lasted, DATE '2026-01-02' AS day, INTERVAL '90' SECOND AS pause FROM incidents"
    (row,) = json.loads(ask(query, written, engine, "json", capsys))["items"]
    assert row["lasted"] > 0
    assert (row["day"], row["pause"]) == ("2026-01-02", 90.0)
    assert "90" in ask(query, written, engine, "table", capsys)


@pytest.mark.parametrize(
    ("value", "answer"),
    [("TIME '10:00:00'", "10:00:00"), ("'6a5b0f0e-9f1e-4c55-8a34-0d1f4a4b3c2d'::UUID", "6a5b0f0e-9f1e")],
)
def test_types_of_duckdb_alone_are_texts(
    value: str, answer: str, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = json.loads(ask(f"SELECT {value} AS one", written, "duckdb", "json", capsys))["items"]
    assert row["one"].startswith(answer)


@pytest.mark.parametrize("form", ["table", "wide", "json", "yaml", "tsv"])
def test_the_name_of_a_column_is_text(form: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = 'SELECT 1 AS "n\x1b[32m\x1b]0;pwn\x07\u202e"'
    assert acted_on(ask(query, written, "duckdb", form, capsys), form) == []


def test_it_is_text_on_spark(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT 1 AS `n\x1b[32m\x1b]0;pwn\x07\u202e`"
    assert acted_on(ask(query, written, "spark", "table", capsys), "table") == []
