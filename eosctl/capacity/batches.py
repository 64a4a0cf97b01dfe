"""How many records a topic's producers gather in a batch, and how often they choose a partition."""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.capacity.bytes_and_network import records_per_batch
from eosctl.capacity.record_sizes import record_bytes
from eosctl.capacity.sub_topologies import writing_producer_count
from eosctl.model.workload import ApplicationKind, TopicSpec, Workload, is_changelog_topic


def batch_records(workload: Workload, topic: TopicSpec, intervals_ms: Mapping[str, float]) -> float:
    """Return the records of a batch: measured, or what a producer gathers within its linger.

    Args:
        workload: The workload.
        topic: The topic.
        intervals_ms: The commit interval of each application; a commit flushes what lingers.
    """
    if topic.batch_records is not None:
        return max(1.0, topic.batch_records)
    writers, linger = 0.0, topic.linger_ms
    for application in workload.applications:
        stated = dict(application.writes)
        if topic.name not in stated:
            continue
        reach = stated[topic.name]
        if application.kind is ApplicationKind.STREAMS and is_changelog_topic(topic.name):
            # Each partition is that of one task.
            reach = topic.partition_count / writing_producer_count(workload, application, topic.name)
        share = 1.0 if reach is None or fills_one_partition(workload, topic) else reach / topic.partition_count
        writers += max(1.0, writing_producer_count(workload, application, topic.name) * share)
        linger = min(linger, intervals_ms[application.name])
    size = _record_size(topic)
    open_batches = 1 if fills_one_partition(workload, topic) else topic.partition_count
    rate = topic.rate_per_s / open_batches
    return records_per_batch(rate, writers + topic.writer_count, linger, size, topic.batch_size_bytes)


def fills_one_partition(workload: Workload, topic: TopicSpec) -> bool:
    """Return whether its producers stay with a partition for a while before they take the next one.

    Clients do so for records without a key since 2.4 (KIP-480, ``BuiltInPartitioner``). Kafka Streams names the
    partition of every record.
    """
    writers = [a for a in workload.applications if topic.name in dict(a.writes)]
    return not topic.key_bytes and all(a.kind is not ApplicationKind.STREAMS for a in writers)


def records_per_choice(workload: Workload, topic: TopicSpec, intervals_ms: Mapping[str, float]) -> float:
    """Return the records that go to one partition before a producer chooses again: one if they have a key.

    Without a key, Kafka's client leaves a partition after ``batch.size`` bytes once no batch is incomplete, and after
    twice as many in any case (KIP-794, from 3.3 on). Batches that linger are sent incomplete.
    """
    gathered = batch_records(workload, topic, intervals_ms)
    if not fills_one_partition(workload, topic):
        return 1.0
    full = topic.batch_size_bytes / _record_size(topic)
    return max(gathered, full * (1 + (1 - min(1.0, gathered / full)) / 2))


def _record_size(topic: TopicSpec) -> float:
    return record_bytes(round(topic.key_bytes) or None, round(topic.value_bytes))
