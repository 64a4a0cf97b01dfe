"""Detect partitions of the offsets topic that the coordinator on their leader has not loaded.

From Kafka 4.0 on, a group coordinator that cannot read a record of its partition answers NOT_COORDINATOR for the groups
of that partition, and ListGroups leaves these groups out without an error (`CoordinatorRuntime`). So one name for each
partition, of a group that does not exist, shows whether its groups can be seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from typing import Final

from eosctl.collect.reader import ReadOnly, attempt
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import Topic
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages import describe_groups, metadata

#: A new leader answers NOT_COORDINATOR until its coordinator begins to load.
SECOND_LOOK_S: Final = 1.0


async def collect_unloaded(reader: ReadOnly, topic: Topic, random_name: Callable[[], str]) -> tuple[EvidenceGap, ...]:
    """Return a gap for each partition whose leader twice denies that it coordinates its groups.

    Args:
        reader: The read-only client.
        topic: The offsets topic.
        random_name: Returns a name that does not exist.
    """
    names = _names(len(topic.partitions), random_name())
    leaders = {one.partition.partition: one.leader_id for one in topic.partitions if one.leader_id is not None}
    denied = await _denied(reader, leaders, names)
    if denied:
        await reader.pause(SECOND_LOOK_S)
        leaders = {
            number: leader for number, leader in (await _leaders(reader, topic.name)).items() if number in denied
        }
        denied = await _denied(reader, leaders, names)
    return tuple(
        EvidenceGap(
            kind=EvidenceKind.GROUPS,
            subject=f"{topic.name}-{number}",
            reason=GapReason.BROKER_ERROR,
            error=ErrorCode.NOT_COORDINATOR.name,
            detail=f"Broker {leaders[number]} leads it and has not loaded it: lists leave its groups out.",
            next_step=f"Search the log of broker {leaders[number]} for the error: eosctl logs report.",
        )
        for number in sorted(denied)
    )


def _names(partition_count: int, prefix: str) -> dict[int, str]:
    """Return the name of a group for each partition."""
    names: dict[int, str] = {}
    for number in count():
        name = f"{prefix}{number}"
        names.setdefault(partition_for(name, partition_count), name)
        if len(names) == partition_count:
            return names
    raise AssertionError("count() ends")


async def _denied(reader: ReadOnly, leaders: Mapping[int, int], names: Mapping[int, str]) -> frozenset[int]:
    """Return the partitions whose leader answers NOT_COORDINATOR; a broker without an answer is a gap of its lists."""

    async def ask(broker_id: int) -> list[int]:
        of_name = {names[number]: number for number, leader in leaders.items() if leader == broker_id}
        request = describe_groups.DescribeGroupsRequest(groups=list(of_name))
        answer, _ = await attempt(
            EvidenceKind.GROUPS, "", lambda: reader.request(broker_id, ApiKey.DESCRIBE_GROUPS, request)
        )
        groups = () if answer is None else answer.groups
        return [of_name[one.group_id] for one in groups if one.error_code == ErrorCode.NOT_COORDINATOR]

    answers = await asyncio.gather(*map(ask, sorted(set(leaders.values()))))
    return frozenset(number for answer in answers for number in answer)


async def _leaders(reader: ReadOnly, topic: str) -> dict[int, int]:
    request = metadata.MetadataRequest([metadata.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    answer, _ = await attempt(EvidenceKind.GROUPS, topic, lambda: reader.request_any(ApiKey.METADATA, request))
    topics = () if answer is None else answer.topics
    return {one.partition_index: one.leader_id for found in topics for one in found.partitions if one.leader_id >= 0}
