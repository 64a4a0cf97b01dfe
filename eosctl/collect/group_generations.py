"""The newest generations of groups that are rebalancing, read from `__consumer_offsets`.

Coordinators describe the topics and the protocol of members only while a group is stable. A group that rebalances
every few seconds is hardly ever stable, but its coordinator writes each generation with its members to the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from eosctl.analysis.locate import locate_group
from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot, Group, PartitionInfo
from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets
from eosctl.wire.internal.consumer_protocol import decode_subscription
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.messages.internal.consumer_offsets.group_metadata import GroupMetadataKey, GroupMetadataValue

RECORDS_PER_PARTITION: Final = 5_000
KIND: Final = EvidenceKind.GROUPS
OFFSETS_TOPIC: Final = "__consumer_offsets"
_REBALANCING: Final = frozenset({"PreparingRebalance", "CompletingRebalance"})

_Generations = dict[str, list[GroupMetadataValue]]


async def collect_generations(
    reader: ReadOnly, snapshot: ClusterSnapshot, groups: Sequence[Group]
) -> Probed[tuple[Group, ...]]:
    """Add protocol, subscriptions, and times of the newest generations to groups with members that are rebalancing."""
    wanted = [group for group in groups if _is_rebalancing(group)]
    homes = {group.group_id: info for group in wanted if (info := locate_group(snapshot, group.group_id)) is not None}
    topic = snapshot.topic(OFFSETS_TOPIC)
    if topic is None or not homes:
        return Probed(tuple(groups))
    needed = {info.partition: info for info in homes.values()}
    read = await collect_offsets(reader, [replace(topic, partitions=tuple(needed[one] for one in sorted(needed)))])
    infos = [info for info in read.value[0].partitions if info.leader_id is not None]
    answers = await asyncio.gather(*(_read(reader, info) for info in infos))
    found: _Generations = {}
    for answer in answers:
        found |= answer.value
    gaps = [*read.gaps, *(gap for answer in answers for gap in answer.gaps)]
    if not gaps:
        # In a log that was read from its start, a group without a generation never had one.
        cut = {info.partition for info in infos if _first_offset(info) > (info.log_start_offset or 0)}
        gaps += (_unknown(name) for name, info in homes.items() if name not in found and info.partition in cut)
    return Probed(tuple(_completed(group, found.get(group.group_id, ())) for group in groups), tuple(gaps))


async def _read(reader: ReadOnly, info: PartitionInfo) -> Probed[_Generations]:
    found: _Generations = {}

    def take(batch: FetchedBatch) -> None:
        if not batch.header.is_control and not batch.header.is_transactional:
            for group_id, generation in _generations(batch.records()):
                if generation.members:
                    found.setdefault(group_id, []).append(generation)

    return Probed(found, await read_batches(reader, KIND, info, _first_offset(info), take))


def _first_offset(info: PartitionInfo) -> int:
    return max(info.log_start_offset or 0, (info.high_watermark or 0) - RECORDS_PER_PARTITION)


def _generations(records: Sequence[Any]) -> Iterator[tuple[str, GroupMetadataValue]]:
    for record in records:
        try:
            key = offsets.decode_key(record.key or b"")
            if not isinstance(key, GroupMetadataKey) or record.value is None:
                continue
            value: Any = offsets.decode_value(key, record.value)
        except UnknownRecordError:
            continue
        yield key.group, value


def _is_rebalancing(group: Group) -> bool:
    return group.state in _REBALANCING and group.protocol_type == "consumer" and bool(group.members)


def _unknown(group_id: str) -> EvidenceGap:
    detail = f"It rebalances, and its last generation is not among the newest {RECORDS_PER_PARTITION:,} log records."
    return EvidenceGap(KIND, group_id, GapReason.NOT_COLLECTED, detail=detail, next_step="Try again in a minute.")


def _completed(group: Group, generations: Sequence[GroupMetadataValue]) -> Group:
    if not _is_rebalancing(group) or not generations:
        return group
    newest = generations[-1]
    topics = {member.member_id: subscription_of(bytes(member.subscription)) for member in newest.members}
    return replace(
        group,
        protocol=newest.protocol or "",
        members=tuple(replace(one, subscription=topics.get(one.member_id, ())) for one in group.members),
        generation_times_ms=tuple(
            one.current_state_timestamp for one in generations if one.current_state_timestamp >= 0
        ),
    )


def subscription_of(data: bytes) -> tuple[str, ...]:
    """Return the topics that a member of a classic group subscribes to; empty for other protocols."""
    try:
        return tuple(sorted(decode_subscription(data).topics)) if data else ()
    except WireError:
        return ()
