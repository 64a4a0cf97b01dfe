"""The delivered records of share-partitions, from the newest part of `__share_group_state`.

Brokers describe only the start offset of a share-partition. Deliveries that ended without acknowledgement are in the
log of the share coordinator, also those of records that are done since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.collect.share_groups import SHARE_GROUP, with_share_settings
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.group_details import DeliveredRange
from eosctl.model.snapshot import ClusterSnapshot, Group, PartitionInfo
from eosctl.wire.internal.versioned import UnknownRecordError, share_group_state
from eosctl.wire.records.record import Record
from eosctl.wire.uuid import render_uuid

STATE_TOPIC: Final = "__share_group_state"
KIND: Final = EvidenceKind.SHARE_STATE
FETCHES_PER_PARTITION: Final = 8
#: Records of this many offsets are read from the end of each partition.
OFFSETS_PER_PARTITION: Final = 5_000


class SharePartitionKey(NamedTuple):
    """The key of a share-partition in `__share_group_state`; the topic id is in its text form."""

    group_id: str
    topic_id: str
    partition: int


Ranges = dict[SharePartitionKey, list[DeliveredRange]]


async def collect_share_state(
    reader: ReadOnly, snapshot: ClusterSnapshot, groups: Sequence[Group]
) -> Probed[tuple[Group, ...]]:
    """Add the settings and the delivered records of share groups.

    Args:
        reader: The read-only client.
        snapshot: With topics; offsets of the state topic are read if they are missing.
        groups: All groups, with their share-partitions.
    """
    if not any(group.group_type == SHARE_GROUP for group in groups):
        return Probed(tuple(groups))
    settings = await with_share_settings(reader, groups)
    topic = snapshot.topic(STATE_TOPIC)
    if topic is None:
        return Probed(settings.value, (*settings.gaps, *_without_topic(groups)))
    filled = await collect_offsets(reader, [topic])
    infos = [info for info in filled.value[0].partitions if info.high_watermark]
    answers = await asyncio.gather(*(_read(reader, info) for info in infos))
    ranges = {key: found for answer in answers for key, found in answer.value.items()}
    # The same reason usually applies to all partitions (no permission on the topic), so report it once.
    reasons = {(gap.reason, gap.error, gap.detail): gap for answer in reversed(answers) for gap in answer.gaps}
    gaps = tuple(replace(gap, kind=KIND) for gap in filled.gaps)
    ids = {one.name: one.topic_id for one in snapshot.topics}
    found = tuple(_with_ranges(group, ids, ranges) for group in settings.value)
    return Probed(found, (*settings.gaps, *gaps, *reasons.values()))


def _without_topic(groups: Sequence[Group]) -> tuple[EvidenceGap, ...]:
    """Return a gap if share groups have state, which must then be in a topic that this principal does not see."""
    if not any(group.share_partitions for group in groups):
        return ()
    return (
        EvidenceGap(
            KIND,
            "*",
            GapReason.NOT_AUTHORIZED,
            detail=f"{STATE_TOPIC} is not in the metadata",
            next_step=f"Grant Describe and Read on topic {STATE_TOPIC}.",
        ),
    )


async def _read(reader: ReadOnly, info: PartitionInfo) -> Probed[Ranges]:
    start = info.log_start_offset or 0
    offset = max(start, (info.high_watermark or 0) - OFFSETS_PER_PARTITION)
    found: Ranges = {}
    gaps: tuple[EvidenceGap, ...] = ()
    if offset > start:
        gaps = (_gap(info, f"only the newest {OFFSETS_PER_PARTITION} offsets were read"),)

    def take(batch: FetchedBatch) -> None:
        if not batch.header.is_control:
            merge_records(found, batch.records())

    read = await read_batches(reader, KIND, info, offset, take, most_fetches=FETCHES_PER_PARTITION)
    return Probed(found, (*gaps, *read))


def _gap(info: PartitionInfo, detail: str) -> EvidenceGap:
    return EvidenceGap(KIND, str(info.partition), GapReason.NOT_COLLECTED, detail=detail)


def merge_records(found: Ranges, records: Iterable[Record]) -> None:
    """Apply records of `__share_group_state` in order; skip types of newer releases.

    Ranges before the start offset stay: they show how the records there ended.

    Raises:
        WireError: A key or value is damaged.
    """
    for record in records:
        try:
            key: Any = share_group_state.decode_key(record.key or b"")
            place = SharePartitionKey(key.group_id, render_uuid(key.topic_id), key.partition)
            if record.value is None:
                found.pop(place, None)
                continue
            value: Any = share_group_state.decode_value(key, record.value)
        except UnknownRecordError:
            continue
        ranges = found.setdefault(place, [])
        for batch in value.state_batches:
            fresh = DeliveredRange(
                batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count, record.timestamp
            )
            ranges[:] = overlay(ranges, fresh)


def overlay(ranges: Sequence[DeliveredRange], fresh: DeliveredRange) -> list[DeliveredRange]:
    """Return disjoint ranges in order in which `fresh` replaces what it covers.

    A range that repeats the state and the count of the one that it replaces keeps the older time.
    """
    kept: list[DeliveredRange] = []
    for old in ranges:
        if old.last_offset < fresh.first_offset or old.first_offset > fresh.last_offset:
            kept.append(old)
            continue
        if _what(old) == _what(fresh):
            fresh = replace(fresh, written_at_ms=min(old.written_at_ms, fresh.written_at_ms))
        if old.first_offset < fresh.first_offset:
            kept.append(replace(old, last_offset=fresh.first_offset - 1))
        if old.last_offset > fresh.last_offset:
            kept.append(replace(old, first_offset=fresh.last_offset + 1))
    return sorted((*kept, fresh), key=lambda one: one.first_offset)


def _what(one: DeliveredRange) -> tuple[int, int, int, int]:
    return one.first_offset, one.last_offset, one.state, one.delivery_count


def _with_ranges(group: Group, topic_ids: Mapping[str, str], ranges: Ranges) -> Group:
    if group.group_type != SHARE_GROUP:
        return group
    partitions = tuple(
        replace(one, ranges=tuple(ranges.get(_key(group, one.partition.topic, one.partition.partition, topic_ids), ())))
        for one in group.share_partitions
    )
    return replace(group, share_partitions=partitions)


def _key(group: Group, topic: str, partition: int, topic_ids: Mapping[str, str]) -> SharePartitionKey:
    return SharePartitionKey(group.group_id, topic_ids.get(topic, ""), partition)
