"""Turn the events and incidents of a scan into the tables of a result (``eosctl.model.log_tables``).

Everything is an expression of Spark's, so that no row goes through Python again. Times are computed from milliseconds
in UTC; the time zone of the session does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.coverage import NAMES_ONLY
from eosctl.model.log_tables import columns_of
from spark_log_analytics.job import exception_timeline
from spark_log_analytics.job import new_failures as failures_not_in

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DAY_MS: Final = 86_400_000
_PARTITION: Final = "^(.+)-([0-9]+)$"
"""The name of a partition: topic and number."""


def typed_events(events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``events`` of rows with ``EVENT_COLUMNS``."""
    from pyspark.sql import functions as f

    index = f"coalesce(nullif(regexp_extract(fields['partition'], '{_PARTITION}', 2), ''), fields['partition_index'])"
    topic = f.regexp_extract(field("partition"), _PARTITION, 1)
    values = {
        "time": time_of("time_ms"),
        "byte_offset": f.col("offset"),
        "transactional_id": field("transactional_id"),
        "producer_id": whole("fields['producer_id']", "bigint"),
        "producer_epoch": whole("fields['producer_epoch']"),
        "group_id": field("group"),
        "client_id": field("client_id"),
        "topic": f.coalesce(f.when(topic != "", topic), field("topic")),
        "partition": whole(index),
        "coordinator_partition": whole("regexp_extract(fields['coordinator_partition'], '([0-9]+)$', 1)"),
        "broker_id": whole("fields['broker']"),
        "date": f.date_from_unix_date(f.floor(f.col("time_ms") / DAY_MS).cast("int")),
    }
    return as_table("events", events, values, run_id)


def counted_exceptions(events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``exceptions`` of rows with ``EVENT_COLUMNS``."""
    counted = exception_timeline(events)
    return as_table("exceptions", counted, {"minute": time_of("minute_ms")}, run_id)


def new_failures(events: DataFrame, baseline: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``new_failures`` of rows with ``EVENT_COLUMNS``, against the events of a baseline."""
    return as_table("new_failures", failures_not_in(events, baseline), {"first_at": time_of("first_ms")}, run_id)


def judged_incidents(judged: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``incidents`` of rows with ``INCIDENT_COLUMNS``."""
    from pyspark.sql import functions as f

    def about(name: str) -> Column:
        return f.coalesce(f.col("subject")[name], f.array().cast("array<string>"))

    values = {
        "incident_id": _incident_id(),
        "started_at": time_of("t_start_ms"),
        "ended_at": time_of("t_end_ms"),
        "transactional_ids": about("transactional.id"),
        "group_ids": about("group"),
        "brokers": about("broker"),
        "topic_partitions": about("topic-partition"),
        "applications": about("application"),
        "evidence_count": f.size("evidence"),
    }
    return as_table("incidents", judged, values, run_id)


def incident_evidence(judged: DataFrame, events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``evidence``: the records of incidents with ``INCIDENT_COLUMNS``, found among all events."""
    from pyspark.sql import functions as f

    places = judged.select(_incident_id().alias("incident_id"), f.posexplode("evidence").alias("ordinal", "place"))
    places = places.select("incident_id", "ordinal", *(f.col("place")[name].alias(name) for name in ("file", "offset")))
    kept = events.select("file", "offset", "line", "time_ms", "category", "application", "host", "message")
    joined = places.join(kept, ["file", "offset"], "left")
    values = {"time": time_of("time_ms"), "byte_offset": f.col("offset"), "ordinal": f.col("ordinal") + 1}
    return as_table("evidence", joined, values, run_id)


class FileEvents(NamedTuple):
    """The events of a file.

    Attributes:
        event_count: Their number.
        recognized_count: The number of those that only a log has.
        mark: A fingerprint of all their columns in any order.
    """

    event_count: int
    recognized_count: int
    mark: int


def events_by_file(events: DataFrame) -> dict[str, FileEvents]:
    """Count the events of each file, and compute their fingerprint."""
    from pyspark.sql import functions as f

    columns = [f.map_entries(name) if name == "fields" else f.col(name) for name in sorted(events.columns)]
    is_log = ~f.col("category").isin(*NAMES_ONLY)
    # Events differ in file and offset, so no two of them cancel out.
    mark = f.bit_xor(f.xxhash64(*columns))
    rows = events.groupBy("file").agg(f.count("*"), f.count(f.when(is_log, 1)), mark).collect()
    return {row[0]: FileEvents(*row[1:]) for row in rows}


def as_table(name: str, rows: DataFrame, values: Mapping[str, Column], run_id: str) -> DataFrame:
    """Return rows with the columns of a table, in its order and types; ``values`` are those that rows lack."""
    from pyspark.sql import functions as f

    known = {"run_id": f.lit(run_id), **values}
    return rows.select(
        *(known.get(column, f.col(column)).cast(kind).alias(column) for column, kind in columns_of(name))
    )


def field(name: str) -> Column:
    """Return a field of events."""
    from pyspark.sql import functions as f

    return f.col("fields")[name]


def whole(text: str, kind: str = "int") -> Column:
    """Return the number that an expression of SQL spells; null for other text and for a number that does not fit."""
    from pyspark.sql import functions as f

    return f.expr(f"try_cast({text} as {kind})")


def time_of(name: str) -> Column:
    """Return the time of a column with milliseconds since the epoch."""
    from pyspark.sql import functions as f

    return f.timestamp_millis(f.col(name))


def _incident_id() -> Column:
    """Return an id that is the same in each run that finds the incident, under any path."""
    from pyspark.sql import functions as f

    identity = f.to_json(f.struct("kind", "root_cause", "subject", "t_start_ms", f.get("evidence", 0)["offset"]))
    return f.substring(f.sha2(identity, 256), 1, 16)
