"""A response that leaves out a part of its request is a gap for that part, in every probe that names its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from eosctl.collect.aborted_ranges import offset_at
from eosctl.collect.answered import unlisted
from eosctl.collect.batches import fetch_batches
from eosctl.collect.cluster import collect_shape, collect_topics_of_transactions
from eosctl.collect.configs import collect_broker_settings, collect_topic_settings
from eosctl.collect.groups import collect_groups
from eosctl.collect.leader_epochs import collect_leader_epochs
from eosctl.collect.log_directories import collect_log_directories
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.collect.transactions import collect_producers, describe_ids
from eosctl.errors import ClusterUnreachable
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.snapshot import Broker, PartitionInfo, Topic
from eosctl.model.transaction import (
    PartitionProducers,
    ProducerState,
    TopicPartition,
    Transaction,
    TransactionLook,
)
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import (
    consumer_group_describe,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_share_group_offsets,
    describe_transactions,
    fetch,
    list_groups,
    list_offsets,
    metadata,
    offset_fetch,
    offset_for_leader_epoch,
    share_group_describe,
    streams_group_describe,
)
from tests.collect.conftest import ScriptedCluster

ORDERS = TopicPartition("orders", 0)
INFO = PartitionInfo(ORDERS, 1, 3, (1,), (1,))
TOPIC = Topic("orders", "", internal=False, partitions=(INFO,))
OPEN = TransactionLook(0, 1, (PartitionProducers(ORDERS, 1, (ProducerState(9, 0, 0, 0, 0, 5),)),), ())
TRANSACTION = Transaction("app", 1, 9, "Ongoing", partitions=(TopicPartition("deleted", 0),))

EMPTY = {
    ApiKey.DESCRIBE_PRODUCERS: describe_producers.DescribeProducersResponse(),
    ApiKey.DESCRIBE_TRANSACTIONS: describe_transactions.DescribeTransactionsResponse(),
    ApiKey.LIST_OFFSETS: list_offsets.ListOffsetsResponse(),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: offset_for_leader_epoch.OffsetForLeaderEpochResponse(),
    ApiKey.DESCRIBE_CONFIGS: describe_configs.DescribeConfigsResponse(),
    ApiKey.FETCH: fetch.FetchResponse(),
    ApiKey.METADATA: metadata.MetadataResponse(),
    ApiKey.DESCRIBE_LOG_DIRS: describe_log_dirs.DescribeLogDirsResponse(),
}
PROBES: dict[str, Callable[[ReadOnly], Coroutine[Any, Any, Probed[Any]]]] = {
    "producers of orders-0": lambda reader: collect_producers(reader, [INFO]),
    "transactions of app": lambda reader: describe_ids(reader, 1, ["app"]),
    "offsets of orders-0": lambda reader: collect_offsets(reader, [TOPIC]),
    "producers of leader epoch of orders-0": lambda reader: collect_leader_epochs(reader, [TOPIC], OPEN),
    "broker-configs of broker 1": lambda reader: collect_broker_settings(reader, [Broker(1, "h", 1, None)]),
    "topic-configs of orders": lambda reader: collect_topic_settings(reader, [TOPIC]),
    "log-dirs of broker 1": lambda reader: collect_log_directories(reader, [1]),
    "topics of deleted": lambda reader: collect_topics_of_transactions(reader, [TOPIC], [TRANSACTION]),
}


@pytest.fixture
def reader(cluster: ScriptedCluster) -> ReadOnly:
    for api_key, answer in EMPTY.items():
        cluster.on(1, api_key, answer)
    return ReadOnly(cluster)


@pytest.mark.parametrize("missing", PROBES)
def test_what_a_response_leaves_out_is_a_gap(reader: ReadOnly, missing: str) -> None:
    gaps = asyncio.run(PROBES[missing](reader)).gaps
    assert {f"{gap.kind.value} of {gap.subject}" for gap in gaps} == {missing}
    assert {gap.reason for gap in gaps} == {GapReason.BROKER_ERROR}


def test_metadata_without_brokers_is_an_error(reader: ReadOnly) -> None:
    with pytest.raises(ClusterUnreachable, match="lists no brokers"):
        asyncio.run(collect_shape(reader))


def test_a_topic_without_partitions_is_a_gap(cluster: ScriptedCluster) -> None:
    brokers = [metadata.MetadataResponseBroker(1, "h", 9092)]
    topics = [metadata.MetadataResponseTopic(name="orders")]
    cluster.on(1, ApiKey.METADATA, metadata.MetadataResponse(brokers=brokers, topics=topics))
    (gap,) = asyncio.run(collect_shape(ReadOnly(cluster))).gaps
    assert (gap.kind, gap.subject) == (EvidenceKind.TOPICS, "partitions of orders")


@pytest.mark.parametrize("of_another", [False, True])
def test_a_fetch_of_another_partition_is_a_gap(cluster: ScriptedCluster, of_another: bool) -> None:
    topic = fetch.FetchableTopicResponse(topic="other", partitions=[fetch.PartitionData(records=b"x")])
    cluster.on(1, ApiKey.FETCH, fetch.FetchResponse(responses=[topic] if of_another else []))
    data, gaps = asyncio.run(fetch_batches(ReadOnly(cluster), EvidenceKind.OFFSETS, INFO, 0))
    assert (data, [gap.subject for gap in gaps]) == (b"", ["orders-0"])


@pytest.mark.parametrize(
    "entry", [None, list_offsets.ListOffsetsPartitionResponse(0, error_code=6)], ids=["left out", "refused"]
)
def test_an_offset_without_answer_is_a_gap(cluster: ScriptedCluster, entry: Any) -> None:
    topics = [] if entry is None else [list_offsets.ListOffsetsTopicResponse("orders", [entry])]
    cluster.on(1, ApiKey.LIST_OFFSETS, list_offsets.ListOffsetsResponse(topics=topics))
    offset, gaps = asyncio.run(offset_at(ReadOnly(cluster), INFO, 0))
    assert (offset, [gap.subject for gap in gaps]) == (None, ["orders-0"])


GROUPS = {
    "classic": (ApiKey.DESCRIBE_GROUPS, describe_groups.DescribeGroupsResponse, describe_groups.DescribedGroup),
    "consumer": (
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        consumer_group_describe.ConsumerGroupDescribeResponse,
        consumer_group_describe.DescribedGroup,
    ),
    "share": (
        ApiKey.SHARE_GROUP_DESCRIBE,
        share_group_describe.ShareGroupDescribeResponse,
        share_group_describe.DescribedGroup,
    ),
    "streams": (
        ApiKey.STREAMS_GROUP_DESCRIBE,
        streams_group_describe.StreamsGroupDescribeResponse,
        streams_group_describe.DescribedGroup,
    ),
}


@pytest.mark.parametrize("others", [(), ("not-requested",)])
@pytest.mark.parametrize("group_type", GROUPS)
def test_a_group_without_answer_is_a_gap(cluster: ScriptedCluster, group_type: str, others: tuple[str, ...]) -> None:
    listed = list_groups.ListedGroup("app", "consumer", "Stable", group_type)
    cluster.on(1, ApiKey.LIST_GROUPS, list_groups.ListGroupsResponse(groups=[listed]))
    api_key, response, entry = GROUPS[group_type]
    cluster.on(1, api_key, response(groups=[entry(group_id=name) for name in others]))
    cluster.on(1, ApiKey.OFFSET_FETCH, offset_fetch.OffsetFetchResponse())
    shares = [describe_share_group_offsets.DescribeShareGroupOffsetsResponseGroup(name) for name in others]
    cluster.on(
        1,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        describe_share_group_offsets.DescribeShareGroupOffsetsResponse(groups=shares),
    )
    found = asyncio.run(collect_groups(ReadOnly(cluster), [1]))
    assert [group.group_id for group in found.value] == ["app"]
    expected = {(EvidenceKind.GROUPS, "app")}
    if group_type == "share":
        expected.add((EvidenceKind.GROUP_OFFSETS, "app"))
    assert {(gap.kind, gap.subject) for gap in found.gaps} == expected


@pytest.mark.parametrize(
    ("kind", "topic"),
    [(EvidenceKind.TRANSACTIONS, "__transaction_state"), (EvidenceKind.GROUPS, "__consumer_offsets")],
)
def test_a_list_without_ids_of_leaderless_partitions_is_a_gap(kind: EvidenceKind, topic: str) -> None:
    def internal(*leaders: int | None) -> Topic:
        infos = (
            PartitionInfo(TopicPartition(topic, index), leader, 0, (1,), (1,)) for index, leader in enumerate(leaders)
        )
        return Topic(topic, "", internal=True, partitions=tuple(infos))

    everything = frozenset(EvidenceKind)
    assert unlisted(everything, [internal(1, 1)]) == ()
    assert unlisted(everything - {kind}, [internal(1, None)]) == ()
    (gap,) = unlisted(everything, [internal(1, None)])
    assert (gap.kind, gap.reason, gap.detail) == (kind, GapReason.NO_LEADER, f"{topic}-1 has no leader")
    (gap,) = unlisted(everything, [internal(None, None)])
    assert gap.detail == f"partitions 0, 1 of {topic} have no leader"
