"""Read Kafka's files in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eosctl.model.kafka_data import DataSummary, KeyUse
from spark_log_analytics.kafka_data.business_key import KeyOf
from spark_log_analytics.kafka_data.partition import read_partition
from spark_log_analytics.kafka_data.plan import Plan
from spark_log_analytics.kafka_data.summary import Summarizer, find_duplicates


def summarize_here(
    plan: Plan, key_of: KeyOf | None = None, on_directory: Callable[[Path], None] = lambda _: None
) -> DataSummary:
    """Read the partitions of a plan sequentially; business keys stay in memory, with one entry each."""
    summarizer = Summarizer()
    uses: list[KeyUse] = []
    for damage in plan.unreadable:
        summarizer.add(damage)
    for directory in plan.directories:
        on_directory(directory)
        for fact in read_partition(directory, key_of):
            if isinstance(fact, KeyUse):
                uses.append(fact)
            else:
                summarizer.add(fact)
    duplicates = tuple(find_duplicates(uses))
    return summarizer.finish(duplicates, len(duplicates))
