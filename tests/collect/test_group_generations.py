"""Members of rebalancing groups, from their newest generation in the log; groups of the Streams protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.collect import group_generations
from eosctl.collect.group_generations import collect_generations, subscription_of
from eosctl.collect.groups import collect_groups
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import GapReason
from eosctl.model.snapshot import ClusterSnapshot, Group, GroupMember, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal import offsets
from eosctl.wire.internal.consumer_protocol import ConsumerProtocolSubscription, encode_subscription
from eosctl.wire.messages import list_groups, list_offsets, offset_fetch
from eosctl.wire.messages import streams_group_describe as sgd
from eosctl.wire.messages.internal.consumer_offsets.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.collect.conftest import ScriptedCluster
from tests.collect.test_batches import leader_with

HOME = TopicPartition("__consumer_offsets", 0)
SNAPSHOT = ClusterSnapshot(0, "c", topics=(Topic(HOME.topic, "", True, (PartitionInfo(HOME, 1, 0, (1,), (1,)),)),))
MEMBERS = (GroupMember("a", "app-1", "h"), GroupMember("b", "app-2", "h"))
REBALANCING = Group("app", 1, "PreparingRebalance", "consumer", "classic", MEMBERS)


def generation(number: int, at_ms: int, *members: tuple[str, list[str]]) -> Record:
    key = offsets.encode_key(GroupMetadataKey("app"))
    described = [
        MemberMetadata(name, subscription=encode_subscription(ConsumerProtocolSubscription(topics=topics)))
        for name, topics in members
    ]
    value = GroupMetadataValue("consumer", number, "stream", "a", at_ms, described)
    return Record(number, at_ms, key, offsets.encode_value(value, 3))


def log_of(cluster: ScriptedCluster, *records: Record) -> None:
    def latest(request: Any) -> Any:
        (topic,) = request.topics
        (asked,) = topic.partitions
        end = 0 if asked.timestamp == -2 else len(records)
        part = list_offsets.ListOffsetsPartitionResponse(asked.partition_index, offset=end)
        return list_offsets.ListOffsetsResponse(topics=[list_offsets.ListOffsetsTopicResponse(topic.name, [part])])

    cluster.on(1, ApiKey.LIST_OFFSETS, latest)
    data = encode_batch(list(records), base_offset=0) if records else b""
    cluster.on(1, ApiKey.FETCH, leader_with([(len(records) - 1, data)]))


def completed(cluster: ScriptedCluster, group: Group = REBALANCING) -> tuple[Group, list[tuple[str, GapReason]]]:
    answer = asyncio.run(collect_generations(ReadOnly(cluster), SNAPSHOT, (group,)))
    return answer.value[0], [(gap.subject, gap.reason) for gap in answer.gaps]


def test_the_newest_generation_has_the_subscriptions(cluster: ScriptedCluster) -> None:
    log_of(
        cluster,
        generation(0, 1_000, ("a", ["old"])),
        generation(1, 2_000, ("a", ["left"]), ("b", ["right", "more"])),
        generation(2, 3_000),
    )
    group, gaps = completed(cluster)
    assert [member.subscription for member in group.members] == [("left",), ("more", "right")]
    assert (group.protocol, group.generation_times_ms, gaps) == ("stream", (1_000, 2_000), [])


def test_a_generation_that_is_not_found_is_a_gap(cluster: ScriptedCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_generations, "RECORDS_PER_PARTITION", 1)
    log_of(cluster, generation(0, 1_000, ("a", ["left"])), generation(1, 2_000))
    cluster.on(1, ApiKey.FETCH, leader_with([(1, encode_batch([generation(1, 2_000)], base_offset=1))]))
    assert completed(cluster) == (REBALANCING, [("app", GapReason.NOT_COLLECTED)])


def test_a_group_of_a_whole_log_never_had_a_generation(cluster: ScriptedCluster) -> None:
    log_of(cluster, generation(0, 1_000))
    assert completed(cluster) == (REBALANCING, [])


def test_a_log_that_may_not_be_read_is_a_gap(cluster: ScriptedCluster) -> None:
    log_of(cluster, generation(0, 1_000, ("a", ["left"])))
    cluster.on(1, ApiKey.FETCH, leader_with([], ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    assert completed(cluster) == (REBALANCING, [(str(HOME), GapReason.NOT_AUTHORIZED)])


def test_stable_groups_and_connect_cost_no_request(cluster: ScriptedCluster) -> None:
    for group in (
        Group("app", 1, "Stable", "consumer", "classic", MEMBERS),
        Group("connect", 1, "PreparingRebalance", "connect", "classic", MEMBERS),
    ):
        assert completed(cluster, group) == (group, [])
    assert not cluster.asked


def test_bytes_of_other_protocols_have_no_topics() -> None:
    assert subscription_of(b"") == subscription_of(b"\x00\x01\xff\xff\xff") == ()


def test_streams_groups_are_described_by_their_own_request(cluster: ScriptedCluster) -> None:
    topology = sgd.Topology(1, [sgd.Subtopology("0", ["lines"], repartition_source_topics=[sgd.TopicInfo("again")])])
    tasks = sgd.Assignment(active_tasks=[sgd.TaskIds("0", [1])])
    member = sgd.Member("m", client_id="app-1", client_host="h", assignment=tasks)
    described = sgd.DescribedGroup(group_id="app", group_state="Stable", topology=topology, members=[member])
    cluster.on(
        1,
        ApiKey.LIST_GROUPS,
        list_groups.ListGroupsResponse(groups=[list_groups.ListedGroup("app", "streams", "Stable", "Streams")]),
    )
    cluster.on(1, ApiKey.STREAMS_GROUP_DESCRIBE, sgd.StreamsGroupDescribeResponse(groups=[described]))
    cluster.on(1, ApiKey.OFFSET_FETCH, offset_fetch.OffsetFetchResponse())
    answer = asyncio.run(collect_groups(ReadOnly(cluster), [1]))
    assert answer.value[0].members == (
        GroupMember(
            "m", "app-1", "h", assignment=(TopicPartition("again", 1), TopicPartition("lines", 1)), topology_epoch=0
        ),
    )
    assert not [gap for gap in answer.gaps if gap.kind.value == "groups"]
