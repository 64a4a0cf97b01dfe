"""Groups, their members, and their offsets, from their coordinators; no group is joined."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from eosctl.collect.described import assigned
from eosctl.collect.described import describe_groups as describe_groups_of_type
from eosctl.collect.group_generations import subscription_of
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code, in_batches
from eosctl.collect.share_groups import SHARE_GROUP, describe_share_groups, fetch_share_offsets
from eosctl.collect.streams_groups import STREAMS_GROUP, describe_streams_groups
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import CommittedOffset, Group, GroupMember
from eosctl.model.transaction import TopicPartition
from eosctl.text import count_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    consumer_group_describe,
    describe_groups,
    list_groups,
    offset_fetch,
)

GROUPS_PER_REQUEST: Final = 100
CONSUMER_GROUP: Final = "consumer"
# Version 10 uses topic ids; 9 is the last one with names.
OFFSET_FETCH_BY_NAME: Final = 9
# The last version for a single group; its response names no group, so it cannot leave one out.
OFFSET_FETCH_OF_ONE: Final = 7


async def collect_groups(reader: ReadOnly, broker_ids: Sequence[int]) -> Probed[tuple[Group, ...]]:
    """Query every broker for its groups, then for members and offsets."""
    answers = await asyncio.gather(*(_groups_of_coordinator(reader, broker_id) for broker_id in broker_ids))
    groups = sorted((group for answer in answers for group in answer.value), key=lambda g: g.group_id)
    return Probed(tuple(groups), tuple(gap for answer in answers for gap in answer.gaps))


async def _groups_of_coordinator(reader: ReadOnly, broker_id: int) -> Probed[list[Group]]:
    subject = f"broker {broker_id}"
    listed, lost = await attempt(
        EvidenceKind.GROUPS,
        subject,
        lambda: reader.request(broker_id, ApiKey.LIST_GROUPS, list_groups.ListGroupsRequest()),
    )
    if listed is None:
        return Probed([], lost)
    if listed.error_code != ErrorCode.NONE:
        return Probed([], (gap_from_code(EvidenceKind.GROUPS, subject, listed.error_code),))
    groups = {
        entry.group_id: Group(
            entry.group_id, broker_id, entry.group_state, entry.protocol_type, entry.group_type.lower()
        )
        for entry in listed.groups
    }
    gaps: list[EvidenceGap] = []
    for probe in _PROBES:
        batches = in_batches(list(groups.values()), GROUPS_PER_REQUEST)
        for answer in await asyncio.gather(*(probe(reader, broker_id, batch) for batch in batches)):
            groups.update({group.group_id: group for group in answer.value})
            gaps += answer.gaps
    return Probed(list(groups.values()), tuple(gaps))


async def describe_states(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    """Describe groups of one coordinator again, without their offsets."""
    found: list[Group] = []
    gaps: list[EvidenceGap] = []
    for probe in _DESCRIBING:
        for batch in in_batches(groups, GROUPS_PER_REQUEST):
            answer = await probe(reader, broker_id, batch)
            found += answer.value
            gaps += answer.gaps
    return Probed(found, tuple(gaps))


async def _describe_classic(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    classic = {g.group_id: g for g in groups if g.group_type not in (CONSUMER_GROUP, SHARE_GROUP, STREAMS_GROUP)}

    def described(entry: Any, listed: Group) -> Group:
        members = tuple(
            GroupMember(
                m.member_id,
                m.client_id,
                m.client_host,
                group_instance_id=m.group_instance_id,
                assignment=decode_assignment(m.member_assignment),
                subscription=subscription_of(bytes(m.member_metadata)) if entry.protocol_type == CONSUMER_GROUP else (),
            )
            for m in entry.members
        )
        return replace(
            listed,
            state=entry.group_state,
            protocol_type=entry.protocol_type,
            members=members,
            protocol=entry.protocol_data,
        )

    request = describe_groups.DescribeGroupsRequest(groups=list(classic))
    if not classic:
        return Probed([])
    return await describe_groups_of_type(reader, broker_id, ApiKey.DESCRIBE_GROUPS, request, classic, described)


async def _describe_consumer(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    consumer = {g.group_id: g for g in groups if g.group_type == CONSUMER_GROUP}

    def described(entry: Any, listed: Group) -> Group:
        members = tuple(
            GroupMember(
                m.member_id,
                m.client_id,
                m.client_host,
                group_instance_id=m.instance_id,
                assignment=assigned(m.assignment),
                subscription=tuple(sorted(m.subscribed_topic_names)),
            )
            for m in entry.members
        )
        return replace(listed, state=entry.group_state, members=members)

    request = consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=list(consumer))
    if not consumer:
        return Probed([])
    return await describe_groups_of_type(
        reader, broker_id, ApiKey.CONSUMER_GROUP_DESCRIBE, request, consumer, described
    )


async def _fetch_offsets(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    """Fetch offsets twice: the committed ones, and those pending in a transaction (`require_stable`, KIP-447)."""
    by_id = {g.group_id: g for g in groups if g.group_type != SHARE_GROUP}
    if not by_id:
        return Probed([])
    committed = await _offsets(reader, broker_id, list(by_id), require_stable=False)
    stable = await _offsets(reader, broker_id, list(by_id), require_stable=True)
    found: list[Group] = []
    for group_id, group in by_id.items():
        offsets = committed.value.get(group_id, {})
        pinned = {
            where for where, entry in stable.value.get(group_id, {}).items()
            if entry.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
        }  # fmt: skip
        found.append(
            replace(
                group,
                offsets=tuple(
                    CommittedOffset(
                        where,
                        offsets[where].committed_offset
                        if where in offsets and offsets[where].committed_offset >= 0
                        else None,
                        offsets[where].committed_leader_epoch if where in offsets else -1,
                        unstable=where in pinned,
                    )
                    for where in sorted(set(offsets) | pinned)
                ),
            )
        )
    gaps = committed.gaps + tuple(gap for gap in stable.gaps if gap not in committed.gaps)
    return Probed(found, gaps)


async def _offsets(
    reader: ReadOnly, broker_id: int, group_ids: Sequence[str], *, require_stable: bool
) -> Probed[dict[str, dict[TopicPartition, Any]]]:
    """Query the offsets of several groups in one request (version 8, KIP-709), or one by one on older brokers."""
    answer, lost = await _ask_for_offsets(reader, broker_id, group_ids, require_stable=require_stable)
    if answer is None:
        return Probed({}, lost)
    parts = {part.group_id: part for part in answer.groups}
    gaps: list[EvidenceGap] = []
    for group_id in [group_id for group_id in group_ids if group_id not in parts]:
        answer, lost = await _ask_for_offsets(
            reader, broker_id, [group_id], require_stable=require_stable, cap=OFFSET_FETCH_OF_ONE
        )
        gaps += lost
        if answer is not None:
            parts[group_id] = answer
    found: dict[str, dict[TopicPartition, Any]] = {}
    for group_id, part in parts.items():
        if part.error_code != ErrorCode.NONE:
            gaps.append(gap_from_code(EvidenceKind.GROUP_OFFSETS, group_id, part.error_code))
            continue
        found[group_id] = {
            TopicPartition(topic.name, entry.partition_index): entry
            for topic in part.topics
            for entry in topic.partitions
        }
    return Probed(found, tuple(gaps))


async def _ask_for_offsets(
    reader: ReadOnly,
    broker_id: int,
    group_ids: Sequence[str],
    *,
    require_stable: bool,
    cap: int = OFFSET_FETCH_BY_NAME,
) -> tuple[Any, tuple[EvidenceGap, ...]]:
    # One message type serves the versions for a single group and those for several.
    request = offset_fetch.OffsetFetchRequest(
        group_id=group_ids[0],
        topics=None,
        groups=[offset_fetch.OffsetFetchRequestGroup(group_id=group_id, topics=None) for group_id in group_ids],
        require_stable=require_stable,
    )
    return await attempt(
        EvidenceKind.GROUP_OFFSETS,
        group_ids[0] if len(group_ids) == 1 else f"{count_text(len(group_ids), 'group')} at broker {broker_id}",
        lambda: reader.request(broker_id, ApiKey.OFFSET_FETCH, request, cap=cap),
    )


_DESCRIBING: Final = (_describe_classic, _describe_consumer, describe_share_groups, describe_streams_groups)
_PROBES: Final = (*_DESCRIBING, _fetch_offsets, fetch_share_offsets)


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """Return the assigned partitions; empty for other protocols (Connect, Schema Registry) and unreadable bytes.

    Layout: version int16, topics [name string, partitions [int32]], user data.

    >>> decode_assignment(bytes.fromhex("0000 00000001 0001 74 00000002 00000000 00000003"))
    (TopicPartition(topic='t', partition=0), TopicPartition(topic='t', partition=3))
    >>> decode_assignment(b"")
    ()
    """
    found: list[TopicPartition] = []
    try:
        version, topic_count = struct.unpack_from(">hi", data)
        if version < 0 or topic_count > len(data):
            return ()
        position = 6
        for _ in range(topic_count):
            (length,) = struct.unpack_from(">h", data, position)
            position += 2
            name = data[position : position + length].decode()
            position += length
            (count,) = struct.unpack_from(">i", data, position)
            position += 4
            if count < 0 or count * 4 > len(data) - position:
                return ()
            found += [TopicPartition(name, index) for index in struct.unpack_from(f">{count}i", data, position)]
            position += 4 * count
    except (struct.error, UnicodeDecodeError):
        return ()
    return tuple(sorted(found))
