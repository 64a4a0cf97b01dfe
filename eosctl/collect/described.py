"""Describe requests of coordinators: one request for several groups of one type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eosctl.collect.answered import unanswered
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import Group
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

_NOUNS: Final = {
    ApiKey.DESCRIBE_GROUPS: "groups",
    ApiKey.CONSUMER_GROUP_DESCRIBE: "consumer groups",
    ApiKey.SHARE_GROUP_DESCRIBE: "share groups",
    ApiKey.STREAMS_GROUP_DESCRIBE: "streams groups",
}


async def describe_groups(
    reader: ReadOnly,
    broker_id: int,
    api_key: ApiKey,
    request: Any,
    groups: Mapping[str, Group],
    described: Callable[[Any, Group], Group],
) -> Probed[list[Group]]:
    """Query the members of groups of one type; a group that cannot be described is a gap.

    Args:
        reader: The read-only client.
        broker_id: The coordinator.
        api_key: The API of that type of groups.
        request: A request for all of `groups`.
        groups: The listed groups by id.
        described: Adds an entry of the response to its listed group.
    """
    answer, lost = await attempt(
        EvidenceKind.GROUPS,
        f"details of {len(groups)} {_NOUNS[api_key]} at broker {broker_id}",
        lambda: reader.request(broker_id, api_key, request),
    )
    if answer is None:
        return Probed([], lost)
    found = [
        described(entry, groups[entry.group_id])
        for entry in answer.groups
        if entry.error_code == ErrorCode.NONE and entry.group_id in groups
    ]
    gaps = tuple(
        gap_from_code(EvidenceKind.GROUPS, entry.group_id, entry.error_code)
        for entry in answer.groups
        if entry.error_code != ErrorCode.NONE
    )
    answered = {entry.group_id for entry in answer.groups}
    return Probed(found, (*gaps, *unanswered(EvidenceKind.GROUPS, groups, answered)))


def assigned(assignment: Any) -> tuple[TopicPartition, ...]:
    """Return the partitions of an assignment of ConsumerGroupDescribe or ShareGroupDescribe, in order."""
    return tuple(sorted(TopicPartition(t.topic_name, i) for t in assignment.topic_partitions for i in t.partitions))
