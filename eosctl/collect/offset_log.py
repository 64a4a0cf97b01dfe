"""Compare a group's offsets in `__consumer_offsets` with those of its coordinator (KAFKA-17507).

The log is replayed as a coordinator loads it: a transaction's offsets take effect with its commit marker. A coordinator
that returns another offset, while the log did not change before and after, has diverged from its log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from eosctl.collect.batches import read_batches
from eosctl.collect.groups import collect_groups
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.group_commit import StaleOffset
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.wire.internal import offsets
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.records.batch import BatchHeader
from eosctl.wire.records.control import EndTxnMarker, decode_control

RECORDS_PER_PARTITION: Final = 100_000
KIND: Final = EvidenceKind.GROUP_OFFSETS
OFFSETS_TOPIC: Final = "__consumer_offsets"

Key = tuple[str, TopicPartition]


class _Logged(NamedTuple):
    """An offset and the position of its record; `offset` is None for a tombstone."""

    offset: int | None
    log_offset: int


class _Replay:
    """The offsets of a partition of the topic, updated record by record."""

    def __init__(self) -> None:
        self.committed: dict[Key, _Logged] = {}
        self._pending: dict[int, dict[Key, _Logged]] = {}

    def take(self, header: BatchHeader, records: Sequence[Any]) -> None:
        """Apply a batch."""
        if header.is_control:
            ended = self._pending.pop(header.producer_id, {})
            if any(isinstance(marker := decode_control(r), EndTxnMarker) and marker.committed for r in records):
                self._commit(ended)
            return
        found = dict(entry for record in records if (entry := _entry(record)) is not None)
        if header.is_transactional:
            self._pending.setdefault(header.producer_id, {}).update(found)
        else:
            self._commit(found)

    def _commit(self, found: Mapping[Key, _Logged]) -> None:
        for key, logged in found.items():
            known = self.committed.get(key)
            if known is None or logged.log_offset > known.log_offset:
                self.committed[key] = logged


async def collect_stale_offsets(
    reader: ReadOnly, snapshot: ClusterSnapshot, group_ids: Sequence[str] = ()
) -> Probed[tuple[StaleOffset, ...]]:
    """Find offsets that differ between coordinators and their log.

    Args:
        reader: The read-only client.
        snapshot: Brokers and topics.
        group_ids: Only these groups; all if empty.
    """
    topic = snapshot.topic(OFFSETS_TOPIC)
    if topic is None:
        return Probed(())
    before = await _replay_all(reader, (await collect_offsets(reader, [topic])).value[0].partitions)
    groups = await collect_groups(reader, [broker.node_id for broker in snapshot.brokers if not broker.fenced])
    after = await _replay_all(reader, (await collect_offsets(reader, [topic])).value[0].partitions)
    described = {
        (group.group_id, offset.partition): offset.offset for group in groups.value for offset in group.offsets
    }
    known = {group.group_id for group in groups.value}
    stale = [
        StaleOffset(key[0], key[1], described.get(key), logged.offset, logged.log_offset)
        for key, logged in sorted(before.value.items())
        if after.value.get(key) == logged
        and key[0] in known
        and (not group_ids or key[0] in group_ids)
        and described.get(key) != logged.offset
    ]
    return Probed(tuple(stale), tuple(dict.fromkeys((*before.gaps, *groups.gaps, *after.gaps))))


async def _replay_all(reader: ReadOnly, partitions: Sequence[PartitionInfo]) -> Probed[dict[Key, _Logged]]:
    answers = await asyncio.gather(*(_replay(reader, info) for info in partitions if info.high_watermark))
    merged = {key: logged for answer in answers for key, logged in answer.value.items()}
    return Probed(merged, tuple(dict.fromkeys(gap for answer in answers for gap in answer.gaps)))


async def _replay(reader: ReadOnly, info: PartitionInfo) -> Probed[dict[Key, _Logged]]:
    begin = info.log_start_offset or 0
    start = max(begin, (info.high_watermark or 0) - RECORDS_PER_PARTITION)
    replay = _Replay()
    gaps = await read_batches(reader, KIND, info, start, lambda batch: replay.take(batch.header, batch.records()))
    if gaps:
        return Probed({}, gaps)
    if start > begin:
        left = f"only the newest {RECORDS_PER_PARTITION:,} offsets were compared, from {start} on"
        gaps = (EvidenceGap(KIND, str(info.partition), GapReason.NOT_COLLECTED, detail=left),)
    return Probed(replay.committed, gaps)


def _entry(record: Any) -> tuple[Key, _Logged] | None:
    try:
        key = offsets.decode_key(record.key or b"")
        if not isinstance(key, OffsetCommitKey):
            return None
        value: Any = None if record.value is None else offsets.decode_value(key, record.value)
    except UnknownRecordError:
        return None
    where = (key.group, TopicPartition(key.topic, key.partition))
    return where, _Logged(None if value is None else value.offset, record.offset)
