"""The tables of a scan of logs on Spark: their columns in Spark's DDL, and their places below the result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

TABLES_VERSION: Final = 3
"""Version 3 has `run_id`, timestamps, and typed columns of ids, epochs, partitions, and groups."""
PUBLISHED: Final = "published"
"""The table of complete runs; a run has a row in it only after all its other tables."""

_PLACE: Final = "application string, host string, file string, byte_offset bigint"


class LogTable(NamedTuple):
    """A table of the result.

    Attributes:
        name: Its name in SQL.
        about: What a row is.
        columns: Its columns in Spark's DDL.
        order: The columns that its rows are ordered by; none for a table of many files.
        partition: The column that its files are divided by; empty for none.
        is_later: Whether runs of earlier releases lack it; it is then empty.
    """

    name: str
    about: str
    columns: str
    order: tuple[str, ...] = ()
    partition: str = ""
    is_later: bool = False


LOG_TABLES: Final = (
    LogTable(
        name="events",
        about="A relevant log record.",
        columns=(
            f"run_id string, time timestamp, level string, category string, {_PLACE}, line bigint, "
            "transactional_id string, producer_id bigint, producer_epoch int, group_id string, client_id string, "
            "topic string, partition int, coordinator_partition int, broker_id int, time_assumed boolean, "
            "thread string, logger string, fields map<string,string>, "
            "exception struct<class_name:string,root_class:string,chain:array<string>,fingerprint:string>, "
            "message string, date date"
        ),
        partition="date",
    ),
    LogTable(
        name="exceptions",
        about="The number of exceptions of a class in a minute.",
        columns=(
            "run_id string, minute timestamp, class_name string, root_class string, application string, host string, "
            "event_count bigint"
        ),
        order=("minute", "class_name", "root_class", "application", "host"),
    ),
    LogTable(
        name="incidents",
        about="An incident with its root cause.",
        columns=(
            "run_id string, incident_id string, kind string, root_cause string, severity string, confidence double, "
            "started_at timestamp, ended_at timestamp, transactional_ids array<string>, group_ids array<string>, "
            "brokers array<string>, topic_partitions array<string>, applications array<string>, "
            "subject map<string,array<string>>, evidence_count int, explanation string, next_step string"
        ),
        order=("started_at", "incident_id"),
    ),
    LogTable(
        name="evidence",
        about="A record that supports an incident; without time and message if it is not among the events.",
        columns=(
            f"run_id string, incident_id string, ordinal int, time timestamp, category string, {_PLACE}, line bigint, "
            "message string"
        ),
        order=("incident_id", "ordinal"),
    ),
    LogTable(
        name="fencing",
        about="A refused producer, with the last initialization of its transactional id before that.",
        columns=(
            f"run_id string, transactional_id string, fenced_at timestamp, category string, {_PLACE}, "
            "initialized_at timestamp, producer_id bigint, producer_epoch int, fenced_by string, "
            "fenced_by_host string, coordinator_file string, coordinator_byte_offset bigint"
        ),
        order=("fenced_at", "file", "byte_offset"),
    ),
    LogTable(
        name="producers",
        about="A session of a producer: one producer id and epoch of a transactional id.",
        columns=(
            "run_id string, transactional_id string, producer_id bigint, producer_epoch int, first_at timestamp, "
            "last_at timestamp, event_count bigint, initialized_count bigint, refused_count bigint, "
            "timed_out_count bigint, applications array<string>, hosts array<string>"
        ),
        order=("transactional_id", "producer_id", "producer_epoch"),
    ),
    LogTable(
        name="coordinators",
        about="A load or unload of a coordinator's partition, or its discovery at another broker by a client.",
        columns=(
            "run_id string, time timestamp, action string, topic string, partition int, broker_id int, "
            f"transactional_id string, group_id string, load_ms bigint, coordinator_epoch int, {_PLACE}"
        ),
        order=("time", "file", "byte_offset"),
    ),
    LogTable(
        name="groups",
        about="A rebalance of a group, or a member that joined, was evicted, fenced, or too slow.",
        columns=(
            "run_id string, time timestamp, action string, group_id string, client_id string, member_id string, "
            f"broker_id int, reason string, {_PLACE}"
        ),
        order=("time", "file", "byte_offset"),
    ),
    LogTable(
        name="coverage",
        about="An input, and how much of it was read.",
        order=("file",),
        columns=(
            "run_id string, file string, status string, reason string, application string, layout string, "
            "size_bytes bigint, event_count bigint, unmatched_line_count bigint, truncated_count bigint, "
            "undecodable_count bigint, first_at timestamp, last_at timestamp, modified_at timestamp, "
            "clock_offset_ms bigint, partitions map<string,string>"
        ),
    ),
    LogTable(
        name="tasks",
        about="A task that read logs, or a slice that was judged, with its cost.",
        order=("stage", "task"),
        columns=(
            "run_id string, stage string, task bigint, host string, split_count int, input_bytes bigint, "
            "record_count bigint, event_count bigint, incident_count bigint, cpu_s double, wall_s double, "
            "peak_mb double"
        ),
        is_later=True,
    ),
    LogTable(
        name="new_failures",
        about="An exception that the baseline does not have.",
        order=("first_at", "fingerprint"),
        columns=("run_id string, fingerprint string, root_class string, event_count bigint, first_at timestamp"),
    ),
    LogTable(
        name=PUBLISHED,
        about="A complete run; the last one is the result.",
        columns=(
            "run_id string, published_at timestamp, eosctl_version string, tables_version int, inputs array<string>, "
            "period_start timestamp, period_end timestamp, baseline_run_id string, file_count bigint, "
            "unread_count bigint, event_count bigint, incident_count bigint, is_complete boolean"
        ),
    ),
)


def table_named(name: str) -> LogTable:
    """Return a table by its name."""
    return next(table for table in LOG_TABLES if table.name == name)


def columns_of(name: str) -> tuple[tuple[str, str], ...]:
    """Return the columns of a table with their types.

    >>> columns_of("new_failures")[-1]
    ('first_at', 'timestamp')
    """
    return tuple(_split(table_named(name).columns))


def schema_of(name: str) -> str:
    """Return the columns of a table in Spark's DDL, with quoted names."""
    return ", ".join(f"`{column}` {kind}" for column, kind in columns_of(name))


def _split(ddl: str) -> Iterator[tuple[str, str]]:
    """Yield name and type of each column; a comma in a type belongs to it."""
    depth, start = 0, 0
    for place, sign in enumerate(f"{ddl},"):
        depth += (sign == "<") - (sign == ">")
        if sign == "," and depth == 0:
            column, _, kind = ddl[start:place].strip().partition(" ")
            yield column, kind
            start = place + 1


def folder_of(table: str) -> str:
    """Return the name of a table's folder, with the version of its columns: `events-v3`."""
    return f"{table.replace('_', '-')}-v{TABLES_VERSION}"


def table_path(table: str, run_id: str) -> str:
    """Return the path of a table below the result; without a run for a table of all runs.

    >>> table_path("events", "1f0c"), table_path("published", "")
    ('run-1f0c/events-v3', 'published-v3')
    """
    return f"run-{run_id}/{folder_of(table)}" if run_id else folder_of(table)
