"""Error messages that no string of the protocol can hold: the answers of Kafka 4.3.1, measured on a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_raft_voter import AddRaftVoterRequest
from eosctl.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
    ResponseEntryData,
)
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicResult, CreateTopicsRequest
from eosctl.wire.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from eosctl.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponseGroup,
)
from eosctl.wire.messages.elect_leaders import ElectLeadersRequest, PartitionResult, TopicPartitions
from tests.sandbox.harness import Harness

LONG = "a" * 0x7FFF
ERROR = ErrorCode.UNKNOWN_SERVER_ERROR
TEXT = "The server experienced an unexpected error when processing the request."
MANY = [CreatableTopic("fine", 1, 1), CreatableTopic(LONG, 1, 1)]
QUOTAS = [RequestEntryData([EntityData(LONG, "x")], [OpData("consumer_byte_rate", 1.0)])]
MOVES = [ReassignableTopic(LONG, [ReassignablePartition(0, [1])])]
CASES: list[tuple[ApiKey, int, Any]] = [
    (ApiKey.CREATE_TOPICS, 2, CreateTopicsRequest(MANY)),
    (ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(MANY)),
    (ApiKey.ELECT_LEADERS, 0, ElectLeadersRequest(0, [TopicPartitions(LONG, [0])])),
    (ApiKey.ELECT_LEADERS, 2, ElectLeadersRequest(0, [TopicPartitions(LONG, [0])])),
    (ApiKey.ALTER_CLIENT_QUOTAS, 0, AlterClientQuotasRequest(QUOTAS)),
    (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 1, AlterPartitionReassignmentsRequest(topics=MOVES)),
    (ApiKey.DESCRIBE_PRODUCERS, 0, DescribeProducersRequest([TopicRequest(LONG, [0])])),
    (ApiKey.ADD_RAFT_VOTER, 1, AddRaftVoterRequest(LONG, 1000, 2)),
]


@pytest.fixture(params=[1, 2], ids=["its-own-controller", "a-controller-elsewhere"])
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    started = Harness(tmp_path, ClusterShape(request.param, Emulation("4.3")))
    yield started
    started.close()


def messages(value: Any) -> list[tuple[int, str | None]]:
    """Return the error of each entry of a response, and of the response itself, in order."""
    own = [(value.error_code, value.error_message)] if hasattr(value, "error_message") else []
    lists = (getattr(value, name) for name in value.__struct_fields__)
    entries = (one for field in lists if isinstance(field, list | tuple) for one in field)
    return own + [error for one in entries if isinstance(one, msgspec.Struct) for error in messages(one)]


@pytest.mark.parametrize(("api_key", "version", "message"), CASES, ids=lambda one: getattr(one, "name", None))
def test_a_message_that_is_too_long_is_an_unexpected_error(
    api_key: ApiKey, version: int, message: Any, harness: Harness
) -> None:
    for broker_id in harness.core.broker_ids:
        response = harness.client(broker_id).request(api_key, version, message)
        found = messages(response)
        assert found
        words = TEXT if api_key in (ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.ADD_RAFT_VOTER) else None
        assert set(found) == {(ERROR, words)}


def test_entries_keep_their_names_and_lose_their_results(harness: Harness) -> None:
    topics = harness.client().request(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(MANY)).topics
    names = ("fine", LONG)
    assert topics == [CreatableTopicResult(one, error_code=ERROR, error_message=None, configs=[]) for one in names]
    result = harness.client().request(*CASES[3]).replica_election_results
    assert [(one.topic, one.partition_result) for one in result] == [(LONG, [PartitionResult(0, ERROR, None)])]
    quotas = harness.client().request(*CASES[4]).entries
    assert quotas == [ResponseEntryData(ERROR, TEXT, [EntityData(LONG, "x")])]


def test_a_response_that_kafka_never_sends_ends_its_connection(harness: Harness) -> None:
    client, other = harness.client(), harness.client()
    wanted = DescribeClientQuotasRequest([ComponentData(LONG, 0, "x")])
    assert client.request(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, wanted) is None
    assert client.closed
    assert other.request(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("x", "1")) is not None


def test_a_share_group_without_a_name_has_no_offsets(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(1, Emulation("4.3")))
    client = harness.client()
    client.request(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([CreatableTopic("n0", 1, 1)]))
    topic = DescribeShareGroupOffsetsRequestTopic("n0", [0])
    group = DescribeShareGroupOffsetsRequestGroup("", [topic])
    response = client.request(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 0, DescribeShareGroupOffsetsRequest([group]))
    assert response.groups == [DescribeShareGroupOffsetsResponseGroup("", [], ERROR, TEXT)]
    harness.close()
