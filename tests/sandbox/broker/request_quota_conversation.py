"""Requests of a client far above its `request_percentage`, recorded from real brokers and played on the sandbox."""

from __future__ import annotations

from typing import Any

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_client_quotas as quotas
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from eosctl.wire.messages.describe_cluster import DescribeClusterRequest
from eosctl.wire.messages.describe_groups import DescribeGroupsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from eosctl.wire.messages.metadata import MetadataRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.broker.mutation_quota_conversation import BROKER, EXACT, Cluster

CLIENT, TOPIC = "busy", "quota-requested"
TINY = 0.000_01  # Percent of a thread: every request exceeds it.


def play(cluster: Cluster) -> list[dict[str, Any]]:
    """Send each request on a connection of its own; return throttle times, and records of the fetches."""
    _limit(cluster, None)
    creation = CreateTopicsRequest([CreatableTopic(TOPIC, 1, 1)], 30_000, False)
    _send(cluster, "other", ApiKey.CREATE_TOPICS, 7, creation)
    produced = _send(cluster, "other", ApiKey.PRODUCE, 9, _records(1))
    while produced.responses[0].partition_responses[0].error_code:
        cluster.advance(50)
        produced = _send(cluster, "other", ApiKey.PRODUCE, 9, _records(1))
    _limit(cluster, TINY)
    steps = []
    for api_key, version, request in _requests():
        answer = _send(cluster, CLIENT, api_key, version, request)
        step: dict[str, Any] = {"api": f"{api_key.name} {version}", "throttle_ms": answer.throttle_time_ms}
        if api_key is ApiKey.FETCH:
            step["topics"] = len(answer.responses)
            step["session"] = bool(answer.session_id)
        steps.append(step)
    steps.append({"api": "PRODUCE 9 without acks", "muted": _is_muted(cluster)})
    steps.append({"api": "other", "throttle_ms": _send(cluster, "other", *_requests()[0]).throttle_time_ms})
    return steps


def _requests() -> list[tuple[ApiKey, int, Any]]:
    fetched = FetchTopic(TOPIC, partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=1_000_000)])
    listed = ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0, timestamp=-1)])
    return [
        (ApiKey.METADATA, 12, MetadataRequest([])),
        (ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1")),
        (ApiKey.PRODUCE, 9, _records(1)),
        (ApiKey.FETCH, 11, FetchRequest(-1, 100, 1, 50_000_000, 0, 0, -1, [fetched])),
        (ApiKey.FETCH, 11, FetchRequest(-1, 100, 1, 50_000_000, 0, 0, 0, [fetched])),
        (ApiKey.LIST_OFFSETS, 6, ListOffsetsRequest(-1, 0, [listed])),
        (ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(None, 60_000)),
        (ApiKey.DESCRIBE_GROUPS, 5, DescribeGroupsRequest(["none"])),
        (ApiKey.DESCRIBE_CLUSTER, 0, DescribeClusterRequest()),
        (ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([CreatableTopic("quota-new", 1, 1)], 30_000, True)),
    ]


def _records(acks: int) -> ProduceRequest:
    data = PartitionProduceData(0, encode_batch([Record(0, 1_790_000_000_000, None, b"x")]))
    return ProduceRequest(None, acks, 30_000, [TopicProduceData(TOPIC, partition_data=[data])])


def _is_muted(cluster: Cluster) -> bool:
    """Return whether the response to the request after one without acks waits for most of a second."""
    client = cluster.client(BROKER, CLIENT)
    started_ms = cluster.now_ms()
    client.send(ApiKey.PRODUCE, 9, _records(0))
    pending = client.send(ApiKey.METADATA, 12, MetadataRequest([]))
    cluster.run_until(lambda: pending.is_over)
    return cluster.now_ms() - started_ms > 800


def _limit(cluster: Cluster, percentage: float | None) -> None:
    change = quotas.OpData("request_percentage", percentage or 0.0, percentage is None)
    entry = quotas.RequestEntryData([quotas.EntityData("client-id", CLIENT)], [change])
    _send(cluster, "admin", ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([entry]))
    query = DescribeClientQuotasRequest([ComponentData("client-id", EXACT, CLIENT)], True)
    while bool(_send(cluster, "admin", ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, query).entries) != (percentage is not None):
        cluster.advance(10)


def _send(cluster: Cluster, client_id: str, api_key: int, version: int, request: Any) -> Any:
    pending = cluster.client(BROKER, client_id).send(api_key, version, request)
    cluster.run_until(lambda: pending.is_over)
    return pending.response
