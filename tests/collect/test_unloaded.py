"""A partition of the offsets topic whose coordinator did not load it is a gap: its groups are in no list."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.collect import unloaded
from eosctl.collect.reader import ReadOnly
from eosctl.collect.unloaded import collect_unloaded
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages import describe_groups, metadata

NAME = "__consumer_offsets"
COUNT = 5


class Brokers:
    """Leaders of a topic, which answer NOT_COORDINATOR for some partitions so many times."""

    def __init__(self, leaders: dict[int, int], denials: dict[int, int]) -> None:
        self.leaders, self.denials = leaders, denials

    async def request(
        self, place: int, api_key: int, message: describe_groups.DescribeGroupsRequest, *, cap: int | None = None
    ) -> Any:
        assert api_key == ApiKey.DESCRIBE_GROUPS
        groups = []
        for name in message.groups:
            number = partition_for(name, COUNT)
            is_denied = self.leaders[number] != place or self.denials.get(number, 0) > 0
            self.denials[number] = self.denials.get(number, 0) - 1
            code = ErrorCode.NOT_COORDINATOR if is_denied else ErrorCode.NONE
            groups.append(describe_groups.DescribedGroup(error_code=code, group_id=name))
        return describe_groups.DescribeGroupsResponse(groups=groups)

    async def request_any(self, api_key: int, message: metadata.MetadataRequest) -> Any:
        assert not message.allow_auto_topic_creation
        partitions = [
            metadata.MetadataResponsePartition(partition_index=number, leader_id=leader)
            for number, leader in self.leaders.items()
        ]
        return metadata.MetadataResponse(topics=[metadata.MetadataResponseTopic(name=NAME, partitions=partitions)])


def gaps_of(brokers: Brokers, leaders: dict[int, int]) -> list[tuple[str, str]]:
    infos = tuple(
        PartitionInfo(TopicPartition(NAME, number), leader, 0, (leader,), (leader,))
        for number, leader in leaders.items()
    )
    topic = Topic(NAME, "o", True, infos)
    found = asyncio.run(collect_unloaded(ReadOnly(brokers), topic, lambda: "-random"))  # type: ignore[arg-type]
    return [(gap.subject, gap.error) for gap in found]


@pytest.fixture(autouse=True)
def without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unloaded, "SECOND_LOOK_S", 0)


LEADERS = dict.fromkeys(range(COUNT), 1) | {3: 2}


def test_loaded_partitions_give_nothing() -> None:
    assert gaps_of(Brokers(LEADERS, {}), LEADERS) == []


def test_a_partition_that_stays_denied_is_a_gap() -> None:
    assert gaps_of(Brokers(LEADERS, {3: 99}), LEADERS) == [(f"{NAME}-3", "NOT_COORDINATOR")]


def test_a_partition_that_loads_meanwhile_gives_nothing() -> None:
    assert gaps_of(Brokers(LEADERS, {3: 1}), LEADERS) == []


def test_a_leader_that_has_changed_is_asked_again() -> None:
    assert gaps_of(Brokers(LEADERS | {3: 1}, {}), LEADERS) == []
