"""Queries on Spark read the tables of a result, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MANY_FIELDS = ", ".join(f"'a{number}', {number}" for number in range(60))


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
        ("SELECT x FROM IDENTIFIER('seen') LIMIT 1", [{"x": 1}]),
        ("SHOW COLUMNS IN seen", [{"col_name": "x"}, {"col_name": "y"}]),
        ("DESCRIBE seen", [{"col_name": "x", "data_type": "int"}, {"col_name": "y", "data_type": "string"}]),
    ],
)
def test_a_query_of_tables_is_run(spark: Any, query: str, expected: list[dict[str, Any]]) -> None:
    assert [{name: row[name] for name in one} for row, one in zip(ask(spark, query), expected, strict=True)] == expected


def test_a_query_is_explained(spark: Any) -> None:
    (row,) = ask(spark, "EXPLAIN SELECT x FROM seen")
    assert "Physical Plan" in row["plan"]


def test_many_comments_take_no_time_of_their_own(spark: Any) -> None:
    assert ask(spark, f"SELECT 1 AS one {'/**/' * 2_000}") == [{"one": 1}]


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
        "DESC --x\\\ny\n DETAIL '{secret}'",
        "SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv', 'HOME')",
        "SELECT * FROM IDENTIFIER('table_changes_' || 'by_path')('{secret}', 0)",
        "SELECT TRANSFORM(x) USING --x\\\ny\n'touch {out}' FROM seen",
        "SELECT TRANSFORM(x) USING /* /* */ */ 'touch {out}' FROM seen",
        "SELECT reflect--x\\\ny\n('java.lang.System', 'getenv', 'HOME')",
        "SELECT reflect/* /* */ */('java.lang.System', 'getenv', 'HOME')",
        "WITH a AS (SELECT x, reflect/* /* */ */('java.lang.System', 'getenv', y) FROM seen) SELECT 1",
        "SELECT named_struct({many}, 'z', reflect/* /* */ */('java.lang.System', 'getenv', 'HOME'))",
        "EXPLAIN SELECT reflect/* /* */ */('java.lang.System', 'getenv', 'HOME')",
        "SHOW --x\\\ny\n CREATE TABLE text.`{secret}`",
    ],
)
def test_nothing_else_is_read_or_started(spark: Any, query: str, tmp_path: Path) -> None:
    from spark_log_analytics.confined import NotConfinedError
    from spark_log_analytics.outcome import job_errors

    secret, out = tmp_path / "secret.txt", tmp_path / "out"
    secret.write_text("hidden\n")
    with pytest.raises((NotConfinedError, *job_errors())):
        ask(spark, query.format(secret=secret, out=out, many=MANY_FIELDS))
    assert not out.exists()


CATALOG = ("cards", "default.cards", "spark_catalog.default.cards", "numbers", "global_temp.shared")


@pytest.fixture(scope="module")
def catalog(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the session's catalog a table and a view, and another session a view, as platforms have them."""
    spark.sql(f"CREATE TABLE cards USING parquet LOCATION '{tmp_path_factory.mktemp('cards')}' AS SELECT 7 number")
    spark.sql("CREATE VIEW numbers AS SELECT number FROM cards")
    spark.createDataFrame([(7,)], "number int").createOrReplaceGlobalTempView("shared")
    yield
    spark.catalog.dropGlobalTempView("shared")
    spark.sql("DROP VIEW numbers")
    spark.sql("DROP TABLE cards")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM {}",
        "SELECT * FROM {} AS seen",
        "TABLE {}",
        "FROM {} SELECT number",
        "SELECT (SELECT max(number) FROM {}) AS most",
        "WITH seen AS (SELECT * FROM {}) SELECT 1 AS one",
        "SELECT x FROM seen WHERE x IN (SELECT number FROM {})",
        "SELECT x FROM seen, LATERAL (SELECT number FROM {} WHERE number > x)",
        "EXPLAIN SELECT * FROM {}",
        "DESCRIBE {}",
        "DESC TABLE EXTENDED {}",
        "SHOW COLUMNS IN {}",
    ],
)
def test_tables_of_a_catalog_are_not_read(spark: Any, catalog: None, query: str) -> None:
    from spark_log_analytics.confined import NotConfinedError
    from spark_log_analytics.outcome import job_errors

    for table in CATALOG:
        with pytest.raises((NotConfinedError, *job_errors())):
            ask(spark, query.format(table))


def test_tables_of_a_catalog_are_not_listed(spark: Any, catalog: None) -> None:
    listed = ask(spark, "SHOW TABLES") + ask(spark, "SHOW VIEWS")
    names = {value for row in listed for value in row.values()}
    assert "seen" in names
    assert not names & {"cards", "numbers"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("WITH cards AS (SELECT 1 x) SELECT * FROM cards", [{"x": 1}]),
        ("SELECT x FROM seen AS `default.cards` WHERE x = 1", [{"x": 1}]),
        ("SELECT id AS x FROM range(2)", [{"x": 0}, {"x": 1}]),
        ("SELECT x FROM EXPLODE(array(1, 2)) AS t(x)", [{"x": 1}, {"x": 2}]),
    ],
)
def test_names_in_a_query_are_allowed(spark: Any, catalog: None, query: str, expected: list[dict[str, Any]]) -> None:
    assert ask(spark, query) == expected


@pytest.mark.parametrize("text", ["${env:HOME}", "${system:user.home}", "${spark.app.id}"])
def test_the_environment_is_not_read(spark: Any, text: str) -> None:
    assert ask(spark, f"SELECT '{text}' AS x") == [{"x": text}]
