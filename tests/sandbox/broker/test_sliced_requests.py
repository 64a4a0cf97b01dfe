"""A request with many entries does not delay other clients, and is answered as its parts are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from msgspec import structs

from eosctl.sandbox.api.registry import client_route, client_versions
from eosctl.sandbox.broker.routes import ServedRequests
from eosctl.sandbox.broker.sliced_requests import SLICED, has_many_entries
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.sandbox.replies import Reply
from eosctl.sandbox.turns import SLICE
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from eosctl.wire.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from eosctl.wire.messages.alter_configs import AlterableConfig as LegacyConfig
from eosctl.wire.messages.alter_configs import AlterConfigsRequest
from eosctl.wire.messages.alter_configs import AlterConfigsResource as LegacyResource
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from eosctl.wire.messages.create_acls import AclCreation, CreateAclsRequest
from eosctl.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from eosctl.wire.messages.delete_groups import DeleteGroupsRequest
from eosctl.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from eosctl.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from eosctl.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from eosctl.wire.messages.describe_quorum import DescribeQuorumRequest, RequestTopicData
from eosctl.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from eosctl.wire.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from eosctl.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from eosctl.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from eosctl.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from eosctl.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from eosctl.wire.messages.share_group_describe import ShareGroupDescribeRequest
from eosctl.wire.messages.streams_group_describe import StreamsGroupDescribeRequest
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from eosctl.wire.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.sandbox.harness import Harness

COUNT: Final = 2 * SLICE + 2
REQUESTS: Final[Mapping[int, Callable[[list[str]], Any]]] = {
    ApiKey.LIST_OFFSETS: lambda names: ListOffsetsRequest(
        topics=[ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)]) for name in names]
    ),
    ApiKey.METADATA: lambda names: MetadataRequest(
        [MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
    ),
    ApiKey.DELETE_RECORDS: lambda names: DeleteRecordsRequest(
        [DeleteRecordsTopic(name, [DeleteRecordsPartition(0, offset=-1)]) for name in names]
    ),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: lambda names: DescribeUserScramCredentialsRequest(
        [UserName(name) for name in names]
    ),
    ApiKey.OFFSET_FETCH: lambda names: OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(name, topics=None) for name in names]
    ),
    ApiKey.FIND_COORDINATOR: lambda names: FindCoordinatorRequest(coordinator_keys=names),
    ApiKey.DESCRIBE_GROUPS: DescribeGroupsRequest,
    ApiKey.DELETE_GROUPS: DeleteGroupsRequest,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: lambda names: OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(name, [OffsetForLeaderPartition(0, leader_epoch=0)]) for name in names]
    ),
    ApiKey.DESCRIBE_CONFIGS: lambda names: DescribeConfigsRequest(
        resources=[DescribeConfigsResource(2, name, ["retention.ms"]) for name in names]
    ),
    ApiKey.DESCRIBE_PRODUCERS: lambda names: DescribeProducersRequest([TopicRequest(name, [0]) for name in names]),
    ApiKey.DESCRIBE_TRANSACTIONS: DescribeTransactionsRequest,
    ApiKey.CONSUMER_GROUP_DESCRIBE: ConsumerGroupDescribeRequest,
    ApiKey.SHARE_GROUP_DESCRIBE: ShareGroupDescribeRequest,
    ApiKey.STREAMS_GROUP_DESCRIBE: StreamsGroupDescribeRequest,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: lambda names: IncrementalAlterConfigsRequest(
        [AlterConfigsResource(2 + 6 * (at % 2), name, [AlterableConfig("a", 0, "1")]) for at, name in enumerate(names)]
    ),
    ApiKey.ALTER_CONFIGS: lambda names: AlterConfigsRequest(
        [LegacyResource(2, name, [LegacyConfig("retention.ms", "1")]) for name in names]
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: lambda names: AlterClientQuotasRequest(
        [RequestEntryData([EntityData("user", name)], [OpData("producer_byte_rate", 1e6)]) for name in names]
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: lambda names: AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name, [ReassignablePartition(0, [1])]) for name in names]
    ),
    ApiKey.ELECT_LEADERS: lambda names: ElectLeadersRequest(
        topic_partitions=[TopicPartitions(name, [0]) for name in names]
    ),
    ApiKey.CREATE_ACLS: lambda names: CreateAclsRequest(
        [AclCreation(2, name, 3, "User:a", "*", 3, 3) for name in names]
    ),
    ApiKey.DELETE_ACLS: lambda names: DeleteAclsRequest(
        [DeleteAclsFilter(2, name, 3, None, None, 1, 1) for name in names]
    ),
    ApiKey.DESCRIBE_QUORUM: lambda names: DescribeQuorumRequest([RequestTopicData(name) for name in names]),
    ApiKey.ADD_PARTITIONS_TO_TXN: lambda names: AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(name, 1, 0, topics=[AddPartitionsToTxnTopic("none", [0])]) for name in names
        ]
    ),
    ApiKey.WRITE_TXN_MARKERS: lambda names: WriteTxnMarkersRequest(
        [WritableTxnMarker(int(name[1:]), 0, topics=[WritableTxnMarkerTopic("none", [0])]) for name in names]
    ),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: lambda names: DescribeShareGroupOffsetsRequest(
        [DescribeShareGroupOffsetsRequestGroup(name, topics=None) for name in names]
    ),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: lambda names: initialize_share_group_state.InitializeShareGroupStateRequest(
        "g", share_topics(initialize_share_group_state, "InitializeStateData", names)
    ),
    ApiKey.READ_SHARE_GROUP_STATE: lambda names: read_share_group_state.ReadShareGroupStateRequest(
        "g", share_topics(read_share_group_state, "ReadStateData", names)
    ),
    ApiKey.WRITE_SHARE_GROUP_STATE: lambda names: write_share_group_state.WriteShareGroupStateRequest(
        "g", share_topics(write_share_group_state, "WriteStateData", names)
    ),
    ApiKey.DELETE_SHARE_GROUP_STATE: lambda names: delete_share_group_state.DeleteShareGroupStateRequest(
        "g", share_topics(delete_share_group_state, "DeleteStateData", names)
    ),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: lambda names: (
        read_share_group_state_summary.ReadShareGroupStateSummaryRequest(
            "g", share_topics(read_share_group_state_summary, "ReadStateSummaryData", names)
        )
    ),
}


def share_topics(module: Any, entry: str, names: list[str]) -> list[Any]:
    """Return the entries of a request to the share coordinator, a topic id for each name."""
    return [getattr(module, entry)(name.encode().rjust(16), [module.PartitionData(0)]) for name in names]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    started = Harness(tmp_path_factory.mktemp("sliced") / "data")
    # The first search for a coordinator creates its topic.
    started.request(1, ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["first"]))
    started.advance(1_000)
    yield started
    started.close()


def test_every_sliced_api_is_tried() -> None:
    assert REQUESTS.keys() == SLICED.keys()


@pytest.mark.parametrize("api_key", SLICED, ids=lambda key: ApiKey(key).name)
def test_other_clients_are_answered_between_slices(api_key: int, harness: Harness) -> None:
    version = client_versions(api_key, Emulation("4.4"))[-1]
    names = [f"n{number}" for number in range(COUNT)]
    large, witness = harness.client(), harness.client(client_id="witness")
    many = large.send(api_key, version, REQUESTS[api_key](names))
    one = witness.send(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1"))
    harness.run_until(lambda: one.is_over)
    assert not many.is_over
    harness.run_until(lambda: many.is_over)
    entries = SLICED[api_key].response
    parts = [
        found
        for part in (names[:SLICE], names[SLICE : 2 * SLICE], names[2 * SLICE :])
        for found in getattr(harness.request(1, api_key, version, REQUESTS[api_key](part)), entries)
    ]
    assert len(parts) == COUNT
    assert getattr(many.response, entries) == parts


def test_an_entry_with_many_elements_is_split(harness: Harness) -> None:
    def request(indexes: range) -> ListOffsetsRequest:
        partitions = [ListOffsetsPartition(index, timestamp=-1) for index in indexes]
        return ListOffsetsRequest(topics=[ListOffsetsTopic("a"), ListOffsetsTopic("n", partitions)])

    _, whole = answered_after_others(harness, ApiKey.LIST_OFFSETS, 10, request(range(COUNT)))
    assert [topic.name for topic in whole.topics] == ["a", "n"]
    single = harness.request(1, ApiKey.LIST_OFFSETS, 10, request(range(1))).topics[1].partitions[0]
    assert whole.topics[1].partitions == [structs.replace(single, partition_index=index) for index in range(COUNT)]
    repeated = request(range(COUNT)).topics[1]
    twice = structs.replace(repeated, partitions=[*repeated.partitions, repeated.partitions[0]])
    assert not has_many_entries(ApiKey.LIST_OFFSETS, ListOffsetsRequest(topics=[twice]))


def test_a_produce_of_many_topics_leaves_turns_to_others(harness: Harness) -> None:
    topics = [TopicProduceData(f"n{number}", partition_data=[PartitionProduceData(0, b"")]) for number in range(COUNT)]
    many, response = answered_after_others(harness, ApiKey.PRODUCE, 11, ProduceRequest(acks=-1, topic_data=topics))
    assert isinstance(response, ProduceResponse)
    assert [topic.name for topic in response.responses] == [topic.name for topic in many.topic_data]
    assert {part.error_code for topic in response.responses for part in topic.partition_responses} == {3}


def test_a_commit_of_many_topics_leaves_turns_to_others(harness: Harness) -> None:
    topics = [OffsetCommitRequestTopic(f"n{n}", partitions=[OffsetCommitRequestPartition(0, 5)]) for n in range(COUNT)]
    request = OffsetCommitRequest("first", topics=topics)
    many, response = answered_after_others(harness, ApiKey.OFFSET_COMMIT, 9, request)
    assert isinstance(response, OffsetCommitResponse)
    assert [topic.name for topic in response.topics] == [topic.name for topic in many.topics]


def test_a_transactional_commit_of_many_topics_leaves_turns(harness: Harness) -> None:
    parts = [TxnOffsetCommitRequestPartition(0, 5)]
    topics = [TxnOffsetCommitRequestTopic(f"n{number}", partitions=parts) for number in range(COUNT)]
    many, response = answered_after_others(
        harness, ApiKey.TXN_OFFSET_COMMIT, 5, TxnOffsetCommitRequest("t", "first", 1, 0, topics=topics)
    )
    assert isinstance(response, TxnOffsetCommitResponse)
    assert [topic.name for topic in response.topics] == [topic.name for topic in many.topics]


def test_changes_of_many_loggers_take_linear_work(harness: Harness) -> None:
    few, many = (
        IncrementalAlterConfigsRequest([AlterConfigsResource(8, f"n{number}", ()) for number in range(count)])
        for count in (SLICE // 4, SLICE // 2)
    )
    spent = []
    for request in (few, many):
        opcodes = 0

        def count(frame: Any, event: str, _: object) -> Any:
            nonlocal opcodes
            frame.f_trace_opcodes = True
            opcodes += event == "opcode"
            return count

        sys.settrace(count)
        try:
            harness.request(1, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
        finally:
            sys.settrace(None)
        spent.append(opcodes)
    assert spent[1] < 2.2 * spent[0]


def test_a_filter_that_kafka_refuses_deletes_no_acl(harness: Harness) -> None:
    request = REQUESTS[ApiKey.DELETE_ACLS]([f"n{number}" for number in range(COUNT)])
    refused = DeleteAclsRequest([*request.filters, DeleteAclsFilter(0, "n", 3, None, None, 1, 1)])
    assert has_many_entries(ApiKey.DELETE_ACLS, request)
    assert not has_many_entries(ApiKey.DELETE_ACLS, refused)


def answered_after_others(harness: Harness, api_key: int, version: int, request: Any) -> tuple[Any, Any]:
    """Send a request, and see that another client is answered first; return it and its response."""
    large, witness = harness.client(), harness.client(client_id="witness")
    many = large.send(api_key, version, request)
    one = witness.send(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1"))
    harness.run_until(lambda: one.is_over)
    assert not many.is_over
    harness.run_until(lambda: many.is_over)
    return request, many.response


@pytest.mark.parametrize(
    ("names", "is_sliced"),
    [
        ([f"n{number}" for number in range(COUNT)], True),
        ([f"n{number % SLICE}" for number in range(COUNT)], False),
        ([*(f"n{number}" for number in range(COUNT)), None], False),
        (["n"], False),
    ],
)
def test_only_independent_entries_are_sliced(names: list[str | None], is_sliced: bool) -> None:
    request = MetadataRequest([MetadataRequestTopic(name=name) for name in names])
    assert has_many_entries(ApiKey.METADATA, request) is is_sliced
    assert not has_many_entries(ApiKey.METADATA, MetadataRequest(None))


def test_a_client_that_leaves_ends_its_request(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    client = harness.client()
    replies: list[Reply] = []

    def handle(broker: object, context: RequestContext, request: object) -> None:
        replies.append(context.reply)

    route = client_route(ApiKey.DESCRIBE_GROUPS, 5, Emulation("4.4"))
    assert route is not None
    monkeypatch.setattr(ServedRequests, "route", lambda *_, **__: replace(route, handle=handle))
    client.send(ApiKey.DESCRIBE_GROUPS, 5, DescribeGroupsRequest([f"n{number}" for number in range(COUNT)]))
    (reply,) = replies
    client.disconnect()
    reply(DescribeGroupsResponse())
    harness.advance(1_000)
    assert len(replies) == 1
