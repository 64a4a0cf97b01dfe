"""What each topic causes, the internal ones included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.capacity.batches import batch_records
from eosctl.capacity.disk import (
    compacted_bytes,
    retained_bytes,
    tiered_local_bytes,
    tiered_remote_bytes,
    transaction_log_bytes,
)
from eosctl.capacity.memory import producer_entry_count
from eosctl.capacity.record_sizes import MARKER_BATCH_BYTES, batch_bytes, transaction_state_bytes
from eosctl.capacity.rhythm import Rhythm
from eosctl.model.capacity_plan import ApplicationPlan, TopicPlan
from eosctl.model.workload import TopicSpec, Workload

TRANSACTION_STATE: Final = "__transaction_state"
CONSUMER_OFFSETS: Final = "__consumer_offsets"
INTERNAL_SEGMENT_BYTES: Final = 100 * 2**20
OFFSET_RECORD_BYTES: Final = 100
#: ``segment.bytes`` of the repartition topics of Kafka Streams (``RepartitionTopicConfig``).
REPARTITION_SEGMENT_BYTES: Final = 50 * 2**20


def segment_bytes(workload: Workload, topic: TopicSpec) -> float:
    """Return ``segment.bytes`` of a topic; Kafka Streams creates its repartition topics with smaller segments."""
    if any(application.repartitions(topic.name) for application in workload.applications):
        return min(workload.cluster.segment_bytes, REPARTITION_SEGMENT_BYTES)
    return workload.cluster.segment_bytes


def plan_topic(workload: Workload, topic: TopicSpec, rhythms: Mapping[str, Rhythm]) -> TopicPlan:
    """Work out what one topic causes."""
    cluster = workload.cluster
    touched_per_s = sum(r.transactions_per_s * r.touched.get(topic.name, 0.0) for r in rhythms.values())
    intervals = {name: rhythm.interval_ms for name, rhythm in rhythms.items()}
    records = batch_records(workload, topic, intervals)
    batches = max(topic.rate_per_s / records, touched_per_s) if topic.rate_per_s else 0.0
    records = topic.rate_per_s / batches if batches else records
    key = round(topic.key_bytes) or None
    data = batches * batch_bytes(key, round(topic.value_bytes), records, topic.compression_ratio)
    written = data + touched_per_s * MARKER_BATCH_BYTES
    readers = topic.reader_count + sum(topic.name in application.reads for application in workload.applications)
    remote = 0.0
    segment, copies = segment_bytes(workload, topic), cluster.replication_factor
    if topic.cleanup.compacts:
        stored = _compacted_bytes(topic, written, segment, copies)
    elif topic.local_retention_ms is not None:
        stored = tiered_local_bytes(written, topic.local_retention_ms, topic.partition_count, segment, copies)
        remote = tiered_remote_bytes(written, topic.retention_ms)
    else:
        stored = retained_bytes(written, topic.retention_ms, topic.partition_count, segment, copies)
    return TopicPlan(
        name=topic.name,
        internal=False,
        written=written,
        read=written * readers,
        data_batches_per_s=batches,
        batch_records=records,
        markers_per_s=touched_per_s,
        stored_bytes=stored,
        partition_count=topic.partition_count,
        remote_bytes=remote,
        producer_entries=_entries_of_writers(workload, topic),
    )


def _compacted_bytes(topic: TopicSpec, written: float, segment: float, copies: int) -> float:
    """Return the most that a compacted topic stores; with compact,delete no more than its retention keeps."""
    retained = retained_bytes(written, topic.retention_ms, topic.partition_count, segment, copies)
    if topic.cleanup.deletes and not topic.live_bytes:
        return retained
    compacted = compacted_bytes(topic.live_bytes, written, topic.partition_count, segment, copies)
    return min(compacted, retained) if topic.cleanup.deletes else compacted


def _entries_of_writers(workload: Workload, topic: TopicSpec) -> float:
    """Return the states of producers other than the applications, which are idempotent by default (KIP-679).

    A producer that sends less than a record to each partition within ``producer.id.expiration.ms`` is not remembered
    everywhere. How much of a topic's records others write than the applications is not known: all are taken.
    """
    if not topic.writer_count:
        return 0.0
    cluster = workload.cluster
    sent = topic.rate_per_s * cluster.producer_id_expiration_ms / 1000 / topic.writer_count
    reached = min(float(topic.partition_count), sent)
    return producer_entry_count(topic.writer_count, reached, cluster.replication_factor)


def plan_internal_topics(workload: Workload, applications: Sequence[ApplicationPlan]) -> tuple[TopicPlan, TopicPlan]:
    """Work out what transactions cause in ``__transaction_state`` and ``__consumer_offsets``."""
    cluster = workload.cluster
    specs = {application.name: application for application in workload.applications}
    state_rate = sum(plan.transaction_log_bytes_per_s for plan in applications)
    live = sum(
        plan.transactional_ids * transaction_state_bytes(specs[plan.name].transactional_id_bytes)
        for plan in applications
    )
    ids = sum(plan.transactional_ids for plan in applications)
    used = min(ids, cluster.transaction_log_partitions)
    state = TopicPlan(
        name=TRANSACTION_STATE,
        internal=True,
        written=state_rate,
        read=0.0,
        data_batches_per_s=sum(plan.transaction_log_appends_per_s for plan in applications),
        batch_records=1.0,
        markers_per_s=0.0,
        stored_bytes=cluster.replication_factor * transaction_log_bytes(live, used, state_rate, INTERNAL_SEGMENT_BYTES),
        partition_count=cluster.transaction_log_partitions,
    )
    committing = [plan for plan in applications if specs[plan.name].commits_offsets]
    commits = sum(plan.transactions_per_s for plan in committing)
    committed_partitions = sum(
        workload.topic(name).partition_count for plan in committing for name in specs[plan.name].reads
    )
    offset_rate = sum(plan.offset_bytes_per_s for plan in committing) + commits * MARKER_BATCH_BYTES
    offsets = TopicPlan(
        name=CONSUMER_OFFSETS,
        internal=True,
        written=offset_rate,
        read=0.0,
        data_batches_per_s=commits,
        batch_records=1.0,
        markers_per_s=commits,
        stored_bytes=cluster.replication_factor
        * transaction_log_bytes(
            committed_partitions * OFFSET_RECORD_BYTES,
            min(len(committing), cluster.offsets_partitions),
            offset_rate,
            INTERNAL_SEGMENT_BYTES,
        ),
        partition_count=cluster.offsets_partitions,
    )
    return state, offsets
