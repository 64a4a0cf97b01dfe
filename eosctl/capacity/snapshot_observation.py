"""Observe a workload between two saved snapshots, or over the period of a single snapshot's transaction log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from eosctl.capacity.observation import STATE_TOPIC, Observed
from eosctl.errors import EosctlError
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.traffic import PartitionTraffic, Traffic
from eosctl.model.transaction import TopicPartition, TransactionState

_PREPARED: Final = (TransactionState.PREPARE_COMMIT.value, TransactionState.PREPARE_ABORT.value)
_LOWER_BOUND: Final = (
    "A single snapshot shows transactions and markers, not records: the rates of topics are lower bounds,\n"
    "one record for each partition of each transaction. Correct them, or observe with two snapshots."
)
_BETWEEN: Final = "Sizes of records are as you stated them; batches are planned from linger and batch size."


def observe_snapshots(earlier: ClusterSnapshot | None, later: ClusterSnapshot, value_bytes: int) -> Observed:
    """Derive a cluster's workload from saved evidence.

    Args:
        earlier: The first of two snapshots; None to use only the transaction log of the other one.
        later: The snapshot with the transaction log's newest part.
        value_bytes: The size of records; snapshots know offsets, not bytes.

    Raises:
        EosctlError: The snapshots are of different clusters, in the wrong order, or show no transaction that ended.
    """
    if earlier is not None and earlier.cluster_id != later.cluster_id:
        raise EosctlError(
            "The snapshots are of different clusters.",
            f"One is of {earlier.cluster_id}, the other of {later.cluster_id}.",
            "Give two snapshots of the same cluster.",
        )
    if earlier is not None and earlier.captured_at_ms >= later.captured_at_ms:
        earlier, later = later, earlier
    began = _log_ends(earlier) if earlier is not None else {}
    ended = _log_ends(later)
    # The log keeps growing between the listing of its offsets and the read.
    entries = tuple(
        e for e in later.transaction_history if began.get(e.log_partition, 0) <= e.offset < ended[e.log_partition]
    )
    if not any(entry.state in _PREPARED for entry in entries):
        raise EosctlError(
            "The snapshots show no transaction that ended."
            if earlier is not None
            else "The snapshot shows no transaction that ended.",
            "The newest part of the transaction log is empty, or could not be read when the snapshot was taken.",
            "Take one while transactions run: eosctl doctor --save-snapshot FILE",
        )
    if earlier is None:
        times = [entry.written_at_ms for entry in entries]
        interval_ms, scale, remark = max(1, max(times) - min(times)), 1.0, _LOWER_BOUND
    else:
        interval_ms, remark = max(1, later.captured_at_ms - earlier.captured_at_ms), _BETWEEN
        entries, covered_ms = _covered(entries, began, interval_ms)
        scale = interval_ms / covered_ms
    partitions = _traffic(earlier, later, entries, scale)
    return Observed(
        snapshot=later,
        traffic=Traffic(interval_ms, partitions),
        entries=entries,
        commits=(),
        entry_scale=scale,
        value_bytes=value_bytes,
        inputs=_inputs(later),
        remark=remark,
    )


def _covered(
    entries: tuple[TransactionLogEntry, ...], began: dict[int, int], interval_ms: int
) -> tuple[tuple[TransactionLogEntry, ...], int]:
    """Return the entries from when on no log partition lacks any, and how long that is.

    A snapshot keeps the newest part of each log partition alone, and compaction may have removed old records.
    """
    first: dict[int, TransactionLogEntry] = {}
    for entry in entries:
        if entry.log_partition not in first or entry.offset < first[entry.log_partition].offset:
            first[entry.log_partition] = entry
    late = [e.written_at_ms for partition, e in first.items() if e.offset > began.get(partition, 0)]
    if not late:
        return entries, interval_ms
    kept = tuple(entry for entry in entries if entry.written_at_ms >= max(late))
    return kept, max(1, min(interval_ms, max(e.written_at_ms for e in entries) - max(late)))


def _log_ends(snapshot: ClusterSnapshot) -> dict[int, int]:
    topic = snapshot.topic(STATE_TOPIC)
    return {info.partition.partition: info.high_watermark or 0 for info in topic.partitions} if topic else {}


def _traffic(
    earlier: ClusterSnapshot | None, later: ClusterSnapshot, entries: Sequence[TransactionLogEntry], scale: float
) -> tuple[PartitionTraffic, ...]:
    marked: Counter[TopicPartition] = Counter()
    for entry in entries:
        if entry.state in _PREPARED:
            marked.update(entry.partitions)
    found = []
    for topic in later.topics:
        for info in topic.partitions:
            markers = round(marked[info.partition] * scale)
            end = info.high_watermark or 0
            if earlier is None:
                start = end - 2 * markers
            else:
                known = earlier.partition(info.partition)
                start = (known.high_watermark or 0) if known is not None else 0
            records = max(0, end - start - markers)
            found.append(
                PartitionTraffic(
                    info.partition, start, end, end - start, data_record_count=records, marker_count=markers
                )
            )
    return tuple(found)


def _inputs(snapshot: ClusterSnapshot) -> dict[str, tuple[str, ...]]:
    """Return the topics for which each group has committed offsets."""
    read = {
        group.group_id: {offset.partition.topic for offset in group.offsets if offset.offset is not None}
        for group in snapshot.groups
    }
    return {group: tuple(sorted(topics)) for group, topics in read.items() if topics}
