"""Describe requests of coordinators: one request for several groups of one type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import Group
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode


async def describe_groups(
    reader: ReadOnly, broker_id: int, api_key: ApiKey, request: Any, subject: str, described: Callable[[Any], Group]
) -> Probed[list[Group]]:
    """Query the members of groups of one type; a group that cannot be described is a gap."""
    answer, lost = await attempt(
        EvidenceKind.GROUPS,
        f"details of {subject} at broker {broker_id}",
        lambda: reader.request(broker_id, api_key, request),
    )
    if answer is None:
        return Probed([], lost)
    found = [described(entry) for entry in answer.groups if entry.error_code == ErrorCode.NONE]
    gaps = tuple(
        gap_from_code(EvidenceKind.GROUPS, entry.group_id, entry.error_code)
        for entry in answer.groups
        if entry.error_code != ErrorCode.NONE
    )
    return Probed(found, gaps)


def assigned(assignment: Any) -> tuple[TopicPartition, ...]:
    """Return the partitions of an assignment of ConsumerGroupDescribe or ShareGroupDescribe, in order."""
    return tuple(sorted(TopicPartition(t.topic_name, i) for t in assignment.topic_partitions for i in t.partitions))
