"""Summarize transactions from Kafka's data files over all partitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from eosctl.errors import UsageError
from eosctl.model.kafka_data import DataSummary
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.log_engine import EngineChoice, spark_session, takes_spark
from eosctl.services.log_places import existing
from eosctl.text import count_text

if TYPE_CHECKING:
    from spark_log_analytics.kafka_data.plan import Plan


class DataRequest(msgspec.Struct, frozen=True):
    """The data directories to read, and how.

    Attributes:
        paths: Data directories (``log.dirs``) of one cluster's brokers, or copies of some.
        topics: The topics to read in addition to internal ones; ``()`` for all.
        business_key: The part of records that must not repeat: ``key``, ``header:NAME``, or ``value:FIELD``.
        engine: The engine that reads the files; the result does not depend on it.
    """

    paths: tuple[Path, ...]
    topics: tuple[str, ...] = ()
    business_key: str | None = None
    engine: EngineChoice = EngineChoice.AUTO


class MinedData(NamedTuple):
    """The summary of data files.

    Attributes:
        summary: Transactions, markers, sequence gaps, repeated keys, and damage.
        directory_count: The number of partition directories that were read.
        other_replica_count: The number of replicas that were not read, because another one is more advanced.
    """

    summary: DataSummary
    directory_count: int
    other_replica_count: int


def mine_data(request: DataRequest, callbacks: Callbacks = SILENT) -> MinedData:
    """Read data files; nothing is changed, and no cluster is needed.

    Raises:
        UsageError: The directories contain no partitions or belong to several clusters, or an option cannot be used.
        EosctlError: Spark was chosen but cannot be used.
    """
    plan = _plan(request)
    is_on_spark = takes_spark(request.engine, request.paths, callbacks.remark)
    summary = _summarize(plan, request.business_key, is_on_spark, callbacks)
    return MinedData(summary, len(plan.directories), len(plan.other_replicas))


def check_business_key(expression: str | None) -> None:
    """Refuse an expression that does not name a part of a record.

    Raises:
        UsageError: The expression is invalid.
    """
    from spark_log_analytics.kafka_data.business_key import FORMS, BusinessKeyError, parse_business_key

    if expression is not None:
        try:
            parse_business_key(expression)
        except BusinessKeyError as error:
            raise UsageError(str(error), "", f"Write {FORMS}.") from error


def _plan(request: DataRequest) -> Plan:
    from spark_log_analytics.kafka_data.plan import plan_partitions

    check_business_key(request.business_key)
    plan = plan_partitions(existing(request.paths), request.topics)
    for name in request.topics:
        if not any(directory.name.rpartition("-")[0] == name for directory in plan.directories):
            raise UsageError(f"There is no partition of topic {name!r}.", "", "Name a topic of these directories.")
    if not plan.directories:
        raise UsageError("There is no partition directory with segments.", "", "Name data directories, as in log.dirs.")
    if len(plan.cluster_ids) > 1:
        raise UsageError(
            f"The directories belong to {count_text(len(plan.cluster_ids), 'cluster')}: "
            f"{', '.join(sorted(plan.cluster_ids))}.",
            "Partitions with the same name in two clusters are not replicas of each other.",
            "Read one cluster's directories at a time.",
        )
    return plan


def _summarize(plan: Plan, business_key: str | None, is_on_spark: bool, callbacks: Callbacks) -> DataSummary:
    from spark_log_analytics.kafka_data.business_key import parse_business_key

    if is_on_spark:
        with spark_session(callbacks.remark) as spark:
            from spark_log_analytics.kafka_data.job import facts_frame, summarize_frame

            facts = facts_frame(spark, plan, business_key).persist()
            summary = summarize_frame(facts, plan, with_keys=business_key is not None)
            facts.unpersist()
            return summary
    from spark_log_analytics.kafka_data.local import summarize_here

    key_of = None if business_key is None else parse_business_key(business_key)
    return summarize_here(plan, key_of, lambda directory: callbacks.progress(directory.name))
