"""Offsets of many groups: in one request where a broker can, in one each where it cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.collect.groups import collect_groups
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import GapReason
from eosctl.model.snapshot import CommittedOffset
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_groups, list_groups
from eosctl.wire.messages import offset_fetch as api
from tests.collect.conftest import ScriptedCluster

ORDERS = TopicPartition("orders", 0)
IDS = ("a", "b", "c")
OFFSETS = {"a": 10, "b": 20}
SECRET = "c"


def several_groups(request: Any) -> Any:
    """Answer as versions 8 and later do (KIP-709)."""
    groups = []
    for group_id in [asked.group_id for asked in request.groups]:
        unstable = request.require_stable and group_id == "b"
        code = int(ErrorCode.UNSTABLE_OFFSET_COMMIT if unstable else ErrorCode.NONE)
        entry = api.OffsetFetchResponsePartitions(0, OFFSETS.get(group_id, -1), error_code=code)
        refused = int(ErrorCode.GROUP_AUTHORIZATION_FAILED if group_id == SECRET else ErrorCode.NONE)
        topics = [] if refused else [api.OffsetFetchResponseTopics("orders", partitions=[entry])]
        groups.append(api.OffsetFetchResponseGroup(group_id, topics, error_code=refused))
    return api.OffsetFetchResponse(groups=groups)


def one_at_a_time(request: Any) -> Any:
    """Answer as versions up to 7 do: only `group_id` is on the wire."""
    (group,) = several_groups(
        api.OffsetFetchRequest(
            groups=[api.OffsetFetchRequestGroup(request.group_id)], require_stable=request.require_stable
        )
    ).groups
    topics = [
        api.OffsetFetchResponseTopic(
            topic.name,
            [
                api.OffsetFetchResponsePartition(p.partition_index, p.committed_offset, error_code=p.error_code)
                for p in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return api.OffsetFetchResponse(topics=topics, error_code=group.error_code)


@pytest.mark.parametrize(("answer", "requests"), [(several_groups, 2), (one_at_a_time, 8)])
def test_offsets_of_groups(cluster: ScriptedCluster, answer: Any, requests: int) -> None:
    listed = [list_groups.ListedGroup(group_id, "consumer", "Stable") for group_id in IDS]
    cluster.on(1, ApiKey.LIST_GROUPS, list_groups.ListGroupsResponse(groups=listed))
    entries = [describe_groups.DescribedGroup(group_id=group_id) for group_id in IDS]
    cluster.on(1, ApiKey.DESCRIBE_GROUPS, describe_groups.DescribeGroupsResponse(groups=entries))
    cluster.on(1, ApiKey.OFFSET_FETCH, answer)
    found = asyncio.run(collect_groups(ReadOnly(cluster), [1]))
    assert [(group.group_id, group.offsets) for group in found.value] == [
        ("a", (CommittedOffset(ORDERS, 10, -1, unstable=False),)),
        ("b", (CommittedOffset(ORDERS, 20, -1, unstable=True),)),
        ("c", ()),
    ]
    assert [(gap.subject, gap.reason) for gap in found.gaps] == [(SECRET, GapReason.NOT_AUTHORIZED)]
    assert sum(key is ApiKey.OFFSET_FETCH for _, key, _ in cluster.asked) == requests


class LeavingOut(ScriptedCluster):
    """Leaves every group out of responses for several groups."""

    async def request(self, node_id: int, api_key: ApiKey, message: Any, *, cap: int | None = None) -> Any:
        if api_key is ApiKey.OFFSET_FETCH and cap is not None and cap > 7:
            return api.OffsetFetchResponse()
        return await super().request(node_id, api_key, message, cap=cap)


def test_groups_that_are_left_out_are_requested_alone() -> None:
    cluster = LeavingOut()
    cluster.on(1, ApiKey.LIST_GROUPS, list_groups.ListGroupsResponse(groups=[list_groups.ListedGroup("a", "consumer")]))
    entry = describe_groups.DescribedGroup(group_id="a")
    cluster.on(1, ApiKey.DESCRIBE_GROUPS, describe_groups.DescribeGroupsResponse(groups=[entry]))
    cluster.on(1, ApiKey.OFFSET_FETCH, one_at_a_time)
    (group,) = asyncio.run(collect_groups(ReadOnly(cluster), [1])).value
    assert group.offsets == (CommittedOffset(ORDERS, 10, -1, unstable=False),)
