"""Share groups (KIP-932) from their coordinators: members, share-partitions, and settings; no group is joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from eosctl.collect.answered import unanswered
from eosctl.collect.configs import collect_group_settings
from eosctl.collect.described import assigned, describe_groups
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.group_details import SharePartition
from eosctl.model.snapshot import Group, GroupMember
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_share_group_offsets as offsets
from eosctl.wire.messages import share_group_describe

SHARE_GROUP: Final = "share"
KIND: Final = EvidenceKind.GROUP_OFFSETS
GRANT_SETTINGS: Final = "Grant DescribeConfigs on group '*'; eosctl check acl doctor prints the commands."


async def describe_share_groups(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    """Describe the members of share groups, to which DescribeGroups answers GROUP_ID_NOT_FOUND."""
    share = {group.group_id: group for group in groups if group.group_type == SHARE_GROUP}

    def described(entry: Any, listed: Group) -> Group:
        members = tuple(
            GroupMember(
                member.member_id,
                member.client_id,
                member.client_host,
                assignment=assigned(member.assignment),
                subscription=tuple(sorted(member.subscribed_topic_names)),
            )
            for member in entry.members
        )
        return replace(listed, state=entry.group_state, members=members, protocol=entry.assignor_name)

    if not share:
        return Probed([])
    request = share_group_describe.ShareGroupDescribeRequest(group_ids=list(share))
    return await describe_groups(reader, broker_id, ApiKey.SHARE_GROUP_DESCRIBE, request, share, described)


async def fetch_share_offsets(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    """Fetch the start offset and the lag of all share-partitions of share groups."""
    share = {group.group_id: group for group in groups if group.group_type == SHARE_GROUP}
    if not share:
        return Probed([])
    request = offsets.DescribeShareGroupOffsetsRequest(
        [offsets.DescribeShareGroupOffsetsRequestGroup(group_id, topics=None) for group_id in share]
    )
    answer, lost = await attempt(
        KIND,
        f"{len(share)} share groups at broker {broker_id}",
        lambda: reader.request(broker_id, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, request),
    )
    if answer is None:
        return Probed([], lost)
    found: list[Group] = []
    gaps: list[EvidenceGap] = []
    for part in answer.groups:
        if part.group_id not in share:
            continue
        if part.error_code != ErrorCode.NONE:
            gaps.append(gap_from_code(KIND, part.group_id, part.error_code, part.error_message or ""))
            continue
        partitions: list[SharePartition] = []
        for topic in part.topics:
            for entry in topic.partitions:
                where = TopicPartition(topic.topic_name, entry.partition_index)
                if entry.error_code != ErrorCode.NONE:
                    gaps.append(_gap_of_partition(part.group_id, where, entry))
                    continue
                start = entry.start_offset if entry.start_offset >= 0 else None
                partitions.append(
                    SharePartition(where, start, entry.leader_epoch, entry.lag if entry.lag >= 0 else None)
                )
        unknown = sum(one.start_offset is not None and one.lag is None for one in partitions)
        if unknown:
            detail = f"the lag of {unknown} share-partitions is not known"
            step = "Brokers report the lag of share groups since Kafka 4.2."
            gaps.append(EvidenceGap(KIND, part.group_id, GapReason.UNSUPPORTED, detail=detail, next_step=step))
        by_partition = tuple(sorted(partitions, key=lambda one: one.partition))
        found.append(replace(share[part.group_id], share_partitions=by_partition))
    answered = {part.group_id for part in answer.groups}
    return Probed(found, (*gaps, *unanswered(KIND, share, answered)))


def _gap_of_partition(
    group_id: str, where: TopicPartition, entry: offsets.DescribeShareGroupOffsetsResponsePartition
) -> EvidenceGap:
    return gap_from_code(KIND, f"{group_id} on {where}", entry.error_code, entry.error_message or "")


async def with_share_settings(reader: ReadOnly, groups: Sequence[Group]) -> Probed[tuple[Group, ...]]:
    """Add the settings of share groups, which include the broker's where a group has none of its own."""
    names = [group.group_id for group in groups if group.group_type == SHARE_GROUP]
    if not names:
        return Probed(tuple(groups))
    answer = await collect_group_settings(reader, names, EvidenceKind.SHARE_STATE)
    settings = {
        name: tuple(setting for setting in found if setting.name.startswith("share."))
        for name, found in answer.value.items()
    }
    gaps = tuple(
        replace(gap, next_step=GRANT_SETTINGS) if gap.reason is GapReason.NOT_AUTHORIZED else gap for gap in answer.gaps
    )
    return Probed(tuple(replace(one, settings=settings.get(one.group_id, ())) for one in groups), gaps)
