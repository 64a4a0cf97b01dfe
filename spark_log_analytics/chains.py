"""Pair each refusal with the last initialization of its transactional id before it, to show what may have fenced it.

Spark only pairs candidates; ``eosctl.analysis`` judges the pairs. A join on a time range would compare every refusal
of a hot id with every initialization of it; one ordered pass over both does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WINDOW_MS: Final = 60_000
SLACK_MS: Final = 1_500
"""Maximum delay of the initialization: the coordinator fences first, and logs when the id is ready again."""
BUCKET_MS: Final = 3_600_000
"""The events of an id are divided into buckets of this length, so that a hot id does not become one task."""

REFUSALS: Final = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
INITIALIZATION: Final = "INIT_PRODUCER_ID"


def fencing_chains(events: DataFrame, window_ms: int = WINDOW_MS, slack_ms: int = SLACK_MS) -> DataFrame:
    """Pair each refusal of a producer with the last initialization of its transactional id before it.

    Only the coordinator's initializations count; with a client's own, each refused producer would be its own suspect.

    Args:
        events: Rows of a scan, with numbered lines or without.
        window_ms: Maximum time from the initialization to the refusal; with the slack at most ``BUCKET_MS``.
        slack_ms: Maximum time from the refusal to the initialization.

    Returns:
        Refusals with ``transactional_id``, ``time_ms``, ``application``, ``host``, ``file``, and ``offset``. The column
        ``initialized`` has the same values of the initialization, its producer id, and its epoch; null if no log
        explains the refusal.
    """
    from pyspark.sql import functions as f

    named = events.where("time_ms is not null").select(
        f.col("fields")["transactional_id"].alias("transactional_id"),
        f.col("fields")["producer_id"].alias("producer_id"),
        f.col("fields")["producer_epoch"].alias("producer_epoch"),
        f.col("fields")["coordinator_partition"].alias("coordinator_partition"),
        *("time_ms", "application", "host", "file", "offset", "category"),
    )
    named = named.where("transactional_id is not null")
    refused = named.where(f.col("category").isin(*REFUSALS))
    by_coordinator = named.where((f.col("category") == INITIALIZATION) & f.col("coordinator_partition").isNotNull())
    refused = refused.drop("producer_id", "producer_epoch", "coordinator_partition")
    return pair_with_last(refused, by_coordinator.drop("category"), window_ms, slack_ms)


def pair_with_last(
    refusals: DataFrame, initializations: DataFrame, window_ms: int = WINDOW_MS, slack_ms: int = 0
) -> DataFrame:
    """Add to each refusal the last initialization of the same id near it, as ``initialized``.

    Both need ``transactional_id`` and ``time_ms``. The initialization is at most ``window_ms`` before the refusal or
    ``slack_ms`` after it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    reach_ms = window_ms + slack_ms
    if window_ms < 0 or slack_ms < 0 or reach_ms > BUCKET_MS:
        raise ValueError(f"window_ms and slack_ms must be from 0 to {BUCKET_MS} together, not {window_ms}, {slack_ms}")
    # Initializations may be late, so they are sorted as if they were earlier by the slack.
    initializations = initializations.withColumn("at", f.col("time_ms") - slack_ms)
    refusals = refusals.withColumn("at", f.col("time_ms"))
    bucket = f.floor(f.col("at") / BUCKET_MS)
    # The end of each bucket is also part of the next one, because a window may extend over the border.
    reaches_on = f.pmod(f.col("at"), f.lit(BUCKET_MS)) >= BUCKET_MS - reach_ms
    buckets = f.when(reaches_on, f.array(bucket, bucket + 1)).otherwise(f.array(bucket))
    before = initializations.select(
        "transactional_id",
        f.explode(buckets).alias("bucket"),
        "at",
        f.lit(0).alias("rank"),
        f.struct(*(name for name in initializations.columns if name not in ("transactional_id", "at"))).alias(
            "initialized"
        ),
        f.lit(None).cast(_struct_of(refusals)).alias("refusal"),
    )
    after = refusals.select(
        "transactional_id",
        bucket.alias("bucket"),
        "at",
        f.lit(1).alias("rank"),
        f.lit(None).cast(before.schema["initialized"].dataType).alias("initialized"),
        f.struct(*refusals.columns).alias("refusal"),
    )
    so_far = (
        Window.partitionBy("transactional_id", "bucket")
        .orderBy("at", "rank")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    last = f.last("initialized", ignorenulls=True).over(so_far)
    paired = before.unionByName(after).withColumn("initialized", last).where("refusal is not null")
    near = f.col("initialized.time_ms") >= f.col("at") - window_ms
    return paired.select("refusal.*", f.when(near, f.col("initialized")).alias("initialized")).drop("at")


def _struct_of(frame: DataFrame) -> str:
    return f"struct<{','.join(f'{field.name}:{field.dataType.simpleString()}' for field in frame.schema.fields)}>"
