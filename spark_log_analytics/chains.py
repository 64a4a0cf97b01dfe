"""Who may have fenced whom, at scale: each refusal beside the last initialisation of its transactional id before it.

Spark only pairs candidates; what a pair means is judged in ``eosctl.analysis``. A join on a range of times would
compare every refusal of a hot id with every initialisation of it; one ordered pass over both together does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WINDOW_MS: Final = 60_000
SLACK_MS: Final = 1_500
"""How much later the initialisation may be: the coordinator fences first and prints when the id is ready again."""
BUCKET_MS: Final = 3_600_000
"""Events of one id are cut into buckets of this length, so that a hot id does not become one task."""

REFUSALS: Final = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
INITIALISATION: Final = "INIT_PRODUCER_ID"


def fencing_chains(events: DataFrame, window_ms: int = WINDOW_MS, slack_ms: int = SLACK_MS) -> DataFrame:
    """Pair each refusal of a producer with the last initialisation of its transactional id before it.

    The coordinator's log tells initialisations; a client's own words would make each refused producer its own suspect.

    Args:
        events: Rows of a scan, with lines numbered or not.
        window_ms: How long before the refusal the initialisation may be; with the slack at most ``BUCKET_MS``.
        slack_ms: How long after it.

    Returns:
        Refusals with ``transactional_id``, ``time_ms``, ``application``, ``file`` and ``offset``, and the same of the
        initialisation with its producer id and epoch under ``initialised``; null there means that no log explains it.
    """
    from pyspark.sql import functions as f

    named = events.where("time_ms is not null").select(
        f.col("fields")["transactional_id"].alias("transactional_id"),
        f.col("fields")["producer_id"].alias("producer_id"),
        f.col("fields")["producer_epoch"].alias("producer_epoch"),
        f.col("fields")["coordinator_partition"].alias("coordinator_partition"),
        *("time_ms", "application", "file", "offset", "category"),
    )
    named = named.where("transactional_id is not null")
    refused = named.where(f.col("category").isin(*REFUSALS))
    told = named.where((f.col("category") == INITIALISATION) & f.col("coordinator_partition").isNotNull())
    refused = refused.drop("producer_id", "producer_epoch", "coordinator_partition")
    return pair_with_last(refused, told.drop("category"), window_ms, slack_ms)


def pair_with_last(
    refusals: DataFrame, initialisations: DataFrame, window_ms: int = WINDOW_MS, slack_ms: int = 0
) -> DataFrame:
    """Add to each refusal the last initialisation of the same id around it, as ``initialised``.

    Both need ``transactional_id`` and ``time_ms``. The initialisation is at most ``window_ms`` before the refusal and
    ``slack_ms`` after it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    reach_ms = window_ms + slack_ms
    if window_ms < 0 or slack_ms < 0 or reach_ms > BUCKET_MS:
        raise ValueError(f"window_ms and slack_ms must be from 0 to {BUCKET_MS} together, not {window_ms}, {slack_ms}")
    # An initialisation that may be late is put that much earlier, so that one order serves both.
    initialisations = initialisations.withColumn("at", f.col("time_ms") - slack_ms)
    refusals = refusals.withColumn("at", f.col("time_ms"))
    bucket = f.floor(f.col("at") / BUCKET_MS)
    # The end of each bucket is told to the next one, too: a window may reach back over the border.
    reaches_on = f.pmod(f.col("at"), f.lit(BUCKET_MS)) >= BUCKET_MS - reach_ms
    buckets = f.when(reaches_on, f.array(bucket, bucket + 1)).otherwise(f.array(bucket))
    before = initialisations.select(
        "transactional_id",
        f.explode(buckets).alias("bucket"),
        "at",
        f.lit(0).alias("rank"),
        f.struct(*(name for name in initialisations.columns if name not in ("transactional_id", "at"))).alias(
            "initialised"
        ),
        f.lit(None).cast(_struct_of(refusals)).alias("refusal"),
    )
    after = refusals.select(
        "transactional_id",
        bucket.alias("bucket"),
        "at",
        f.lit(1).alias("rank"),
        f.lit(None).cast(before.schema["initialised"].dataType).alias("initialised"),
        f.struct(*refusals.columns).alias("refusal"),
    )
    so_far = (
        Window.partitionBy("transactional_id", "bucket")
        .orderBy("at", "rank")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    last = f.last("initialised", ignorenulls=True).over(so_far)
    paired = before.unionByName(after).withColumn("initialised", last).where("refusal is not null")
    near = f.col("initialised.time_ms") >= f.col("at") - window_ms
    return paired.select("refusal.*", f.when(near, f.col("initialised")).alias("initialised")).drop("at")


def _struct_of(frame: DataFrame) -> str:
    return f"struct<{','.join(f'{field.name}:{field.dataType.simpleString()}' for field in frame.schema.fields)}>"
