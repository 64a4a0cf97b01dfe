"""Queries on Spark read the tables of a result, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def ask(spark: Any, query: str) -> list[dict[str, Any]]:
    from spark_log_analytics.confined import confined_query

    spark.createDataFrame([(1, "a"), (2, "b")], "x int, y string").createOrReplaceTempView("seen")
    rows: list[dict[str, Any]] = confined_query(spark, query).to_pylist()
    return rows


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT x FROM seen ORDER BY x DESC;", [{"x": 2}, {"x": 1}]),
        ("WITH a AS (SELECT 1 x) SELECT y FROM a JOIN seen USING (x) -- joined", [{"y": "a"}]),
        ("SELECT transform(array(1, 2), v -> v + 1) AS more", [{"more": [2, 3]}]),
        ("SELECT y FROM seen WHERE y = 'b' /* the second */", [{"y": "b"}]),
    ],
)
def test_a_query_of_tables_is_run(spark: Any, query: str, expected: list[dict[str, Any]]) -> None:
    assert ask(spark, query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "WITH a AS (SELECT 1) INSERT/**/OVERWRITE DIRECTORY '{out}' USING csv SELECT * FROM seen",
        "WITH a AS (SELECT '\\'') INSERT OVERWRITE DIRECTORY '{out}' STORED AS PARQUET SELECT 1",
        "CREATE TABLE kept USING parquet LOCATION '{out}' AS SELECT 1",
        "SELECT * FROM text.`{secret}`",
        "SELECT * FROM csv/* */.`{secret}`",
        "DESCRIBE TABLE text.`{secret}`",
        "SELECT reflect('java.lang.System', 'getenv', 'HOME')",
        "SELECT `try_reflect` -- hidden\n('java.lang.System', 'getenv', 'HOME')",
        "SELECT java_method('java.lang.System', 'getenv', 'HOME')",
        "SELECT TRANSFORM(x) USING 'touch {out}' FROM seen",
        'SELECT TRANSFORM(x) USING/**/"touch {out}" FROM seen',
        "SELECT * FROM delta.`{secret}`",
        "SELECT * FROM table_changes_by_path('{secret}', 0)",
        "DESCRIBE /* a */ DETAIL '{secret}'",
        "DESC HISTORY delta.`{secret}`",
    ],
)
def test_nothing_else_is_read_or_started(spark: Any, query: str, tmp_path: Path) -> None:
    from spark_log_analytics.confined import NotConfinedError
    from spark_log_analytics.outcome import job_errors

    secret, out = tmp_path / "secret.txt", tmp_path / "out"
    secret.write_text("hidden\n")
    with pytest.raises((NotConfinedError, *job_errors())):
        ask(spark, query.format(secret=secret, out=out))
    assert not out.exists()


@pytest.mark.parametrize("text", ["${env:HOME}", "${system:user.home}", "${spark.app.id}"])
def test_the_environment_is_not_read(spark: Any, text: str) -> None:
    assert ask(spark, f"SELECT '{text}' AS x") == [{"x": text}]
