"""Turn the events of a scan into tables on what they are about: fencings, producers, coordinators, and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spark_log_analytics.chains import INITIALIZATION, REFUSALS, fencing_chains
from spark_log_analytics.tables import as_table, field, time_of, typed_events, whole

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DISCOVERY: Final = "COORDINATOR_DISCOVERED"
LARGEST_INT: Final = 2**31 - 1
CONNECTION_IDS: Final = 2**30
"""Ids above this are those of consumers' connections to a coordinator: the largest int less the broker's id."""
COORDINATOR_ACTIONS: Final = {
    "COORDINATOR_LOAD": "load",
    "COORDINATOR_UNLOAD": "unload",
    "COORDINATOR_LOAD_FAILED": "load-failed",
    "TXN_LOG_LOAD_FAILED": "load-failed",
    DISCOVERY: "discovered",
}
GROUP_ACTIONS: Final = {
    "REBALANCE_TRIGGER": "rebalance-triggered",
    "REBALANCE_DONE": "rebalance-done",
    "ASSIGNMENT_CHANGE": "assignment-changed",
    "GROUP_EMPTY": "empty",
    "GROUP_FENCED": "fenced",
    "STATIC_MEMBER_FENCED": "fenced",
    "MEMBER_EVICTED": "member-evicted",
    "POLL_TIMEOUT": "poll-timeout",
    "JOIN_FAILED": "join-failed",
    "COMMIT_LOST": "commit-lost",
}


def fencing(events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``fencing`` of rows with ``EVENT_COLUMNS``.

    ``fenced_by`` is the application in whose own log the new producer id and epoch are; null if no such log was read.
    """
    from pyspark.sql import functions as f

    key = ("transactional_id", "producer_id", "producer_epoch")
    of_clients = events.where((f.col("category") == INITIALIZATION) & field("coordinator_partition").isNull()).select(
        *(field(name).alias(name) for name in key), "application", "host"
    )
    owners = of_clients.groupBy(*key).agg(
        f.min("application").alias("fenced_by"), f.min("host").alias("fenced_by_host")
    )
    chains = fencing_chains(events).select(
        *("transactional_id", "category", "application", "host", "file", "offset", "time_ms"),
        f.col("initialized.time_ms").alias("initialized_ms"),
        *(f.col(f"initialized.{name}").alias(name) for name in key[1:]),
        f.col("initialized.file").alias("coordinator_file"),
        f.col("initialized.offset").alias("coordinator_byte_offset"),
    )
    values = {
        "fenced_at": time_of("time_ms"),
        "initialized_at": time_of("initialized_ms"),
        "byte_offset": f.col("offset"),
        "producer_id": whole("producer_id", "bigint"),
        "producer_epoch": whole("producer_epoch"),
    }
    return as_table("fencing", chains.join(owners, list(key), "left"), values, run_id)


def producers(events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``producers`` of rows with ``EVENT_COLUMNS``."""
    from pyspark.sql import functions as f

    def count_of(name: str, is_counted: Column) -> Column:
        return f.count(f.when(is_counted, 1)).alias(name)

    # Only the coordinator's record counts as an initialization, because the client repeats it.
    initialized = (f.col("category") == INITIALIZATION) & f.col("coordinator_partition").isNotNull()
    sessions = (
        typed_events(events)
        .where("producer_id is not null")
        .groupBy("transactional_id", "producer_id", "producer_epoch")
        .agg(
            f.min("time").alias("first_at"),
            f.max("time").alias("last_at"),
            f.count("*").alias("event_count"),
            count_of("initialized_count", initialized),
            count_of("refused_count", f.col("category").isin(*REFUSALS)),
            count_of("timed_out_count", f.col("category") == "TXN_TIMEOUT_ABORT"),
            f.array_sort(f.collect_set("application")).alias("applications"),
            f.array_sort(f.collect_set(f.nullif(f.col("host"), f.lit("")))).alias("hosts"),
        )
    )
    return as_table("producers", sessions, {}, run_id)


def coordinators(events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``coordinators`` of rows with ``EVENT_COLUMNS``.

    A client discovers its coordinator often; only the first time and each other broker are rows.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    kept = events.where(f.col("category").isin(*COORDINATOR_ACTIONS))
    client = ("application", "host", f.coalesce(field("transactional_id"), field("group")))
    in_order = Window.partitionBy(*client, f.col("category")).orderBy("time_ms", "file", "offset")
    before = f.lag(field("coordinator_id")).over(in_order)
    is_known = (f.col("category") == DISCOVERY) & before.eqNullSafe(field("coordinator_id"))
    is_known = is_known & field("coordinator_id").isNotNull()
    rows = kept.withColumn("is_known", is_known).where("not is_known")
    named = "coalesce(fields['coordinator_partition'], fields['partition'])"
    topic = f.expr(f"nullif(regexp_extract({named}, '^(.+)-[0-9]+$', 1), '')")
    found = whole("fields['coordinator_id']")
    broker = f.when(found > CONNECTION_IDS, f.lit(LARGEST_INT) - found).otherwise(found)
    values = {
        "time": time_of("time_ms"),
        "action": _action(COORDINATOR_ACTIONS),
        "topic": topic,
        "partition": whole(f"regexp_extract({named}, '([0-9]+)$', 1)"),
        "broker_id": f.coalesce(whole("fields['broker']"), broker),
        "transactional_id": field("transactional_id"),
        "group_id": field("group"),
        "load_ms": whole("fields['load_ms']", "bigint"),
        "coordinator_epoch": whole("fields['coordinator_epoch']"),
        "byte_offset": f.col("offset"),
    }
    return as_table("coordinators", rows, values, run_id)


def groups(events: DataFrame, run_id: str = "") -> DataFrame:
    """Return the table ``groups`` of rows with ``EVENT_COLUMNS``."""
    from pyspark.sql import functions as f

    values = {
        "time": time_of("time_ms"),
        "action": _action(GROUP_ACTIONS),
        "group_id": field("group"),
        "client_id": f.coalesce(field("client_id"), field("member_client")),
        "member_id": field("member"),
        "broker_id": whole("fields['broker']"),
        "reason": field("reason"),
        "byte_offset": f.col("offset"),
    }
    rows = events.where(f.col("category").isin(*GROUP_ACTIONS))
    return as_table("groups", rows, values, run_id)


def _action(actions: dict[str, str]) -> Column:
    from pyspark.sql import functions as f

    pairs = [f.lit(word) for pair in actions.items() for word in pair]
    return f.create_map(*pairs)[f.col("category")]
