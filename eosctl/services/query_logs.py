"""Query the tables of a log scan with SQL: with DuckDB where it is installed, otherwise on a local Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from eosctl.errors import EosctlError, UsageError
from eosctl.logs.files.urls import local_path
from eosctl.model.log_tables import LOG_TABLES, PUBLISHED, columns_of, table_named, table_path
from eosctl.model.redaction import redact_text
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.log_engine import spark_session
from eosctl.services.spark_job import settings_by_name
from eosctl.text import time_text

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, Statement

    from spark_log_analytics.storage_problems import StorageProblem

_IN_DUCKDB: Final = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
    "array<string>": "VARCHAR[]",
    "map<string,string>": "MAP(VARCHAR, VARCHAR)",
    "map<string,array<string>>": "MAP(VARCHAR, VARCHAR[])",
    "struct<class_name:string,root_class:string,chain:array<string>,fingerprint:string>": (
        "STRUCT(class_name VARCHAR, root_class VARCHAR, chain VARCHAR[], fingerprint VARCHAR)"
    ),
}
"""DuckDB's names of the types of columns."""
_QUERY: Final = re.compile(r"\s*(?:\(\s*)*(?:SELECT|WITH|DESCRIBE|SHOW|EXPLAIN)\b", re.IGNORECASE)
_LITERAL: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)
_INSERT: Final = re.compile(r"\bINSERT\s+(?:INTO|OVERWRITE)\b", re.IGNORECASE)
_WRITE: Final = re.compile(_INSERT.pattern + r"|;\s*\S", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"[\\$]")
_ANALYZE: Final = re.compile(r"\bANALYZE\b", re.IGNORECASE)


class QueryEngine(StrEnum):
    """What runs a query; the answer is the same."""

    AUTO = "auto"
    DUCKDB = "duckdb"
    SPARK = "spark"


class SparkNeeds(msgspec.Struct, frozen=True):
    """What Spark needs to reach a result.

    Attributes:
        settings: Settings of Spark, ``name=value``.
        jars: Jars.
        packages: Packages that Spark's own resolver fetches.
    """

    settings: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


NO_NEEDS: Final = SparkNeeds()


class QueryRequest(msgspec.Struct, frozen=True):
    """A query of a result.

    Attributes:
        query: A query in SQL; tables are named as in docs/logs/tables.md.
        result: The directory of the result of ``logs submit``, or its URL.
        engine: What runs the query.
        spark: What Spark needs for it.
    """

    query: str
    result: str
    engine: QueryEngine = QueryEngine.AUTO
    spark: SparkNeeds = SparkNeeds()


class QueryAnswer(NamedTuple):
    """The answer to a query.

    Attributes:
        columns: The names of the columns.
        rows: The values: text, numbers, truth values, lists, and objects by name; times in RFC 3339, and differences of
            times in seconds.
        run_id: The run that was queried.
        gap: Why the run may miss incidents; empty if all of its input was read.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    run_id: str
    gap: str


def query_logs(request: QueryRequest, callbacks: Callbacks = SILENT) -> QueryAnswer:
    """Query the last published run of a result.

    Raises:
        UsageError: The query is not a query or has a mistake, or the result has no complete run.
        EosctlError: No engine can read the result.
    """
    words = _LITERAL.sub("''", request.query)
    # A backslash or a dollar may end a literal elsewhere than it seems, so what follows is searched as well.
    hidden = _INSERT.search(request.query) if _ESCAPE.search(request.query) else None
    if not _QUERY.match(words) or _WRITE.search(words) or hidden:
        raise _not_a_query()
    with opened_result(request.result, request.engine, callbacks, request.spark) as opened:
        columns, rows = opened.ask(request.query)
    return QueryAnswer(columns, rows, opened.published["run_id"], opened.gap)


class OpenedResult(NamedTuple):
    """The last published run of a result.

    Attributes:
        ask: Runs a query; returns the names of its columns and the rows, with values as in an answer.
        published: The row of the run in the table of published runs.
    """

    ask: Callable[[str], tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]]
    published: dict[str, Any]

    @property
    def gap(self) -> str:
        """Why the run may miss incidents; empty if all of its input was read."""
        if self.published["is_complete"]:
            return ""
        count, of = self.published["unread_count"], self.published["file_count"]
        return f"{count} of {of} inputs were not read or not recognized; see the table coverage."


@contextmanager
def opened_result(
    result: str, engine: QueryEngine, callbacks: Callbacks = SILENT, spark: SparkNeeds = NO_NEEDS
) -> Iterator[OpenedResult]:
    """Open the last published run of a result for queries.

    Raises:
        UsageError: The result has no complete run.
        EosctlError: No engine can read it.
    """
    folder = local_path(result)
    if folder is not None and _takes_duckdb(engine, folder):
        with _opened_here(folder) as opened:
            yield opened
        return
    if engine is QueryEngine.DUCKDB:
        raise _not_in_duckdb("it reads local directories only")
    settings = settings_by_name(spark.settings, spark.jars, spark.packages)
    with _opened_on_spark(result, callbacks, settings) as opened:
        yield opened


def _takes_duckdb(engine: QueryEngine, folder: Path) -> bool:
    """Whether DuckDB reads a directory.

    Raises:
        EosctlError: It was chosen, and cannot.
    """
    if engine is QueryEngine.SPARK:
        return False
    published, reason = folder / table_path(PUBLISHED, ""), ""
    if find_spec("duckdb") is None:
        reason = "it is not installed"
    elif (published / "_delta_log").is_dir():
        reason = "the tables are in Delta Lake"
    elif published.is_dir() and not any(published.glob("*.parquet")):
        reason = "the tables are not in Parquet"
    if reason and engine is QueryEngine.DUCKDB:
        raise _not_in_duckdb(reason)
    return not reason


@contextmanager
def _opened_here(folder: Path) -> Iterator[OpenedResult]:
    import duckdb

    if not (folder / table_path(PUBLISHED, "")).is_dir():
        raise _no_run(str(folder))
    with duckdb.connect() as database:
        try:
            database.execute("SET TimeZone = 'UTC'")
            files = list(_create_view(database, PUBLISHED, folder / table_path(PUBLISHED, "")))
            runs = database.execute("SELECT * FROM published ORDER BY published_at DESC LIMIT 1")
            names = [column[0] for column in runs.description or ()]
            row = runs.fetchone()
            if row is None:
                raise _no_run(str(folder))
            published = dict(zip(names, map(_plain, row), strict=True))
            for table in LOG_TABLES:
                if table.name != PUBLISHED:
                    files += _create_view(database, table.name, folder / table_path(table.name, published["run_id"]))
            _confine(database, files)
        except duckdb.Error as error:
            raise _damaged(str(folder), str(error)) from error

        def ask(query: str) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
            try:
                statements = database.extract_statements(query)
                if len(statements) != 1 or not _only_reads(statements[0], query):
                    raise _not_a_query()
                found = database.execute(statements[0])
                columns = tuple(column[0] for column in found.description or ())
                return columns, tuple(tuple(map(_plain, row)) for row in found.fetchall())
            except duckdb.Error as error:
                raise _mistake(str(error)) from error

        yield OpenedResult(ask, published)


def _only_reads(statement: Statement, query: str) -> bool:
    """Return whether a statement is a query, or explains one without carrying it out."""
    from duckdb import StatementType

    if statement.type == StatementType.EXPLAIN:
        return _ANALYZE.search(query) is None
    return statement.type in (StatementType.SELECT, StatementType.RELATION)


def _confine(database: DuckDBPyConnection, files: Sequence[str]) -> None:
    """Let queries read the files of the tables only: functions of DuckDB would read and write any file.

    DuckDB lets queries read its temporary directory, too, which is one of the working directory.
    """
    database.execute("SET temp_directory = ''")
    database.execute("SET allowed_paths = [" + ", ".join(map(_text, files)) + "]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _not_a_query() -> UsageError:
    return UsageError("This is not a query.", "Only one statement that reads is run.", "Begin it with SELECT or WITH.")


def _create_view(database: DuckDBPyConnection, name: str, folder: Path) -> Sequence[str]:
    """Create a view of a table, with times in UTC; return the table's files."""
    if not folder.is_dir() and not table_named(name).is_later:
        raise _damaged(str(folder), "The table is missing.")
    columns = dict(columns_of(name))
    files = sorted(map(str, folder.rglob("part-*.parquet")))
    written = _columns_in(database, files)
    values = {
        column: f'"{column}"' if column in written else f"CAST(NULL AS {_IN_DUCKDB[kind]})"
        for column, kind in columns.items()
    }
    for column, kind in columns.items():
        if column in written and kind == "timestamp":
            values[column] += " AT TIME ZONE 'UTC'"
    named = ", ".join(map(_text, files))
    types = "hive_types = {'date': DATE}" if "date" in columns else "hive_partitioning = false"
    rows = f"FROM read_parquet([{named}], {types})" if files else "WHERE false"
    shown = ", ".join(f'{value} AS "{column}"' for column, value in values.items())
    view = f"CREATE VIEW {name} AS SELECT {shown} {rows}"
    database.execute(view)
    return files


@contextmanager
def _opened_on_spark(result: str, callbacks: Callbacks, settings: Mapping[str, str]) -> Iterator[OpenedResult]:
    with spark_session(callbacks.remark, settings) as spark:
        from spark_log_analytics.confined import NotConfinedError, confined_query
        from spark_log_analytics.outcome import job_errors, reason_of
        from spark_log_analytics.results import open_result
        from spark_log_analytics.storage_problems import storage_problem

        folder = local_path(result)
        try:
            run = open_result(spark, result if folder is None else str(folder))
        except job_errors() as error:
            if problem := storage_problem(str(error)):
                raise _unreadable(result, problem) from error
            raise _damaged(result, reason_of(error)) from error
        if run is None:
            raise _no_run(result)

        def ask(query: str) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
            try:
                found = confined_query(spark, query)
            except NotConfinedError:
                raise _not_a_query() from None
            except job_errors() as error:
                if problem := storage_problem(str(error)):
                    raise _unreadable(result, problem) from error
                raise _mistake(reason_of(error)) from error
            columns = [map(_plain, _values(column)) for column in found.columns]
            return tuple(found.column_names), tuple(zip(*columns, strict=True))

        columns, rows = ask("SELECT * FROM published ORDER BY published_at DESC LIMIT 1")
        yield OpenedResult(ask, dict(zip(columns, rows[0], strict=True)))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of an Arrow column, in which a map is a list of pairs."""
    import pyarrow as pa

    values: list[Any] = column.to_pylist()
    return [None if value is None else dict(value) for value in values] if pa.types.is_map(column.type) else values


def _not_in_duckdb(reason: str) -> EosctlError:
    return EosctlError(
        "DuckDB cannot read this result.",
        f"{reason[:1].upper()}{reason[1:]}.",
        "Install eosctl[sql], or use --engine spark.",
    )


def _mistake(text: str) -> UsageError:
    tables = ", ".join(table.name for table in LOG_TABLES)
    return UsageError("The query cannot be run.", text.strip(), f"Tables: {tables}. DESCRIBE TABLE shows columns.")


def _damaged(place: str, reason: str) -> EosctlError:
    return EosctlError(
        f"{place} cannot be read.", reason.strip(), "Remove the result, and write it again with eosctl logs submit."
    )


def _unreadable(place: str, problem: StorageProblem) -> EosctlError:
    cause, remedy = (f"{text[:1].upper()}{text[1:]}." for text in map(redact_text, problem))
    return EosctlError(f"{redact_text(place)} cannot be read.", cause, remedy)


def _no_run(result: str) -> UsageError:
    return UsageError(
        f"{result} has no complete run.",
        "Its table of published runs is missing or empty, or not in Parquet or JSON.",
        "Name the directory that eosctl logs submit --out wrote.",
    )


def _plain(value: Any) -> Any:
    """Return a value that JSON can express."""
    match value:
        case datetime():
            moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
            return time_text(round(moment.timestamp() * 1000))
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return value.hex()
        case Mapping():
            return {str(name): _plain(part) for name, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)  # such as a UUID


def _columns_in(database: DuckDBPyConnection, files: Sequence[str]) -> frozenset[str]:
    """Return the columns of a table's files and folders.

    Spark writes no file for a partitioned table without rows, and an earlier release wrote fewer columns.
    """
    if not files:
        return frozenset()
    return frozenset(database.read_parquet(files[0], hive_partitioning=True).columns)
