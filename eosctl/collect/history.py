"""The newest records of the transaction log, read without a group.

They show which producer fenced which: a coordinator keeps only the present state of a transactional id, its log also
earlier ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import DAMAGED, EvidenceGap, EvidenceKind, GapReason
from eosctl.model.history import RECORDS_PER_PARTITION, TransactionLogEntry
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.wire.internal import transaction_log
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.records.record import Record


async def collect_history(
    reader: ReadOnly, partitions: Sequence[PartitionInfo], *, records_per_partition: int = RECORDS_PER_PARTITION
) -> Probed[tuple[TransactionLogEntry, ...]]:
    """Read the last records of every partition of `__transaction_state`.

    Args:
        reader: The read-only client.
        partitions: The topic's partitions with their offsets.
        records_per_partition: How many offsets to go back; compaction may have removed some of the records.
    """
    answers = await asyncio.gather(
        *(
            _read_tail(reader, info, records_per_partition)
            for info in partitions
            if info.leader_id is not None and info.high_watermark
        )
    )
    entries = tuple(entry for answer in answers for entry in answer.value)
    # The same reason usually applies to all partitions (no permission on the topic), so report it once. Damage is each
    # partition's own.
    gaps: dict[tuple[GapReason, str, str], EvidenceGap] = {}
    for answer in answers:
        for gap in answer.gaps:
            gaps.setdefault((gap.reason, gap.error, gap.subject if gap.error == DAMAGED else ""), gap)
    return Probed(entries, tuple(gaps.values()))


async def _read_tail(reader: ReadOnly, info: PartitionInfo, records: int) -> Probed[list[TransactionLogEntry]]:
    return await read_entries(reader, info, max(info.log_start_offset or 0, (info.high_watermark or 0) - records))


async def read_entries(reader: ReadOnly, info: PartitionInfo, offset: int) -> Probed[list[TransactionLogEntry]]:
    """Read a partition of `__transaction_state` from an offset up to its high watermark."""
    entries: list[TransactionLogEntry] = []

    def take(batch: FetchedBatch) -> None:
        if not batch.header.is_control:
            entries.extend(decode_entries(info.partition, batch.header.partition_leader_epoch, batch.records()))

    return Probed(entries, await read_batches(reader, EvidenceKind.TRANSACTION_HISTORY, info, offset, take))


def decode_entries(
    partition: TopicPartition, coordinator_epoch: int, records: Iterable[Record]
) -> list[TransactionLogEntry]:
    """Decode the records of a batch of `__transaction_state`; skip types of newer releases.

    Raises:
        WireError: A key or value is damaged.
    """
    found = []
    for record in records:
        if record.key is None:
            continue
        try:
            key = transaction_log.decode_key(record.key)
            value = None if record.value is None else transaction_log.decode_value(record.value)
        except UnknownRecordError:
            # A record type of a newer release, which cannot be interpreted.
            continue
        place = (key.transactional_id, partition.partition, record.offset, coordinator_epoch)
        if value is None:
            found.append(TransactionLogEntry(*place, written_at_ms=record.timestamp, state=""))
            continue
        started = value.transaction_start_timestamp_ms
        found.append(
            TransactionLogEntry(
                *place,
                written_at_ms=record.timestamp,
                state=_state_name(value.transaction_status),
                producer_id=value.producer_id,
                producer_epoch=value.producer_epoch,
                timeout_ms=value.transaction_timeout_ms,
                partitions=tuple(
                    sorted(
                        TopicPartition(group.topic, index)
                        for group in value.transaction_partitions or ()
                        for index in group.partition_ids
                    )
                ),
                updated_at_ms=value.transaction_last_update_timestamp_ms,
                start_time_ms=started if started >= 0 else None,
                client_transaction_version=value.client_transaction_version,
            )
        )
    return found


def _state_name(status: int) -> str:
    states = transaction_log.TRANSACTION_STATES
    return str(states[status]) if 0 <= status < len(states) else f"status {status}"
