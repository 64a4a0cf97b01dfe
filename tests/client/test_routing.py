from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.client import (
    CoordinatorKind,
    Failure,
    Role,
    connect,
    group_coordinator,
    transaction_coordinator,
)
from eosctl.client.memory import MemoryNetwork
from eosctl.errors import BrokerError
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.evidence import GapReason
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from eosctl.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from eosctl.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from eosctl.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.client.scripted_broker import (
    ScriptedBroker,
    Silence,
    client_of,
    cluster_metadata,
    found,
    scripted_cluster,
)


def test_a_coordinator_that_moves_is_found_again() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        first, second = scripted_cluster(network, 2)
        home = [1, 2, 2]
        for broker in (first, second):
            broker.on(ApiKey.FIND_COORDINATOR, lambda message: found(message, home.pop(0)))
        first.on(ApiKey.END_TXN, lambda _: EndTxnResponse(error_code=ErrorCode.NOT_COORDINATOR))
        second.answers_in_turn(
            ApiKey.END_TXN, EndTxnResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), EndTxnResponse()
        )
        async with client_of(network) as client:
            answer = await client.request(transaction_coordinator("t"), ApiKey.END_TXN, EndTxnRequest("t"))
        assert answer.error_code == 0
        assert home == []
        assert len(second.messages(ApiKey.END_TXN)) == 2

    run_virtual(scenario())


def test_a_silent_coordinator_is_looked_up_again() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        first, second = scripted_cluster(network, 2)
        home = [2, 2, 1]
        second.on(ApiKey.API_VERSIONS, lambda _: Silence())
        first.on(ApiKey.FIND_COORDINATOR, lambda message: found(message, home.pop(0)))
        first.on(ApiKey.END_TXN, lambda _: EndTxnResponse())
        async with connect(ClientConfig(bootstrap=(first.endpoint,)), connector=network) as client:
            answer = await client.request(transaction_coordinator("t"), ApiKey.END_TXN, EndTxnRequest("t"))
        assert answer.error_code == 0
        assert home == []

    run_virtual(scenario())


def test_a_leader_is_looked_up_again_when_it_has_moved() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        first, second = brokers = scripted_cluster(network, 2)
        leader = [1]
        for broker in brokers:
            broker.on(ApiKey.METADATA, lambda _: cluster_metadata(*brokers, leaders={"t": leader}))

        def no_longer(_: Any) -> HeartbeatResponse:
            leader[0] = 2
            return HeartbeatResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)

        first.on(ApiKey.HEARTBEAT, no_longer)
        second.on(ApiKey.HEARTBEAT, lambda _: HeartbeatResponse())
        async with client_of(network) as client:
            answer = await client.request(TopicPartition("t", 0), ApiKey.HEARTBEAT, HeartbeatRequest())
        assert answer.error_code == 0
        assert len(first.messages(ApiKey.HEARTBEAT)) == len(second.messages(ApiKey.HEARTBEAT)) == 1

    run_virtual(scenario())


def test_a_partition_without_leader_is_awaited_then_reported() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        scripted_cluster(network, 1, t=[-1])
        async with client_of(network) as client:
            begin = asyncio.get_running_loop().time()
            with pytest.raises(BrokerError, match="LEADER_NOT_AVAILABLE"):
                await client.request(TopicPartition("t", 0), ApiKey.HEARTBEAT, HeartbeatRequest(), timeout_ms=2_000)
            assert 0 < asyncio.get_running_loop().time() - begin <= 2

            with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
                await client.request(TopicPartition("t", 1), ApiKey.HEARTBEAT, HeartbeatRequest())

    run_virtual(scenario())


def test_coordinators_of_many_keys_are_one_partial_request() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        codes = {"a": [0], "b": [15, 15, 0], "c": [53]}

        def find(message: FindCoordinatorRequest) -> FindCoordinatorResponse:
            return FindCoordinatorResponse(
                coordinators=[
                    Coordinator(key, 1, "h", 1, codes[key].pop(0) if len(codes[key]) > 1 else codes[key][0])
                    for key in message.coordinator_keys
                ]
            )

        broker.on(ApiKey.FIND_COORDINATOR, find)
        async with client_of(network) as client:
            outcomes = await client.find_coordinators(CoordinatorKind.TRANSACTION, ["a", "b", "c", "a"])
        assert (outcomes["a"], outcomes["b"]) == (1, 1)
        assert isinstance(outcomes["c"], Failure)
        assert outcomes["c"].reason is GapReason.NOT_AUTHORIZED
        asked = [tuple(message.coordinator_keys) for message in broker.messages(ApiKey.FIND_COORDINATOR)]
        assert asked == [("a", "b", "c"), ("b",), ("b",)]

    run_virtual(scenario())


def test_coordinators_are_found_one_by_one_on_an_old_broker() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.ranges[ApiKey.FIND_COORDINATOR] = (0, 3)
        broker.on(ApiKey.FIND_COORDINATOR, lambda message: FindCoordinatorResponse(node_id=len(message.key)))
        async with client_of(network) as client:
            assert await client.find_coordinators(CoordinatorKind.GROUP, ["a", "bb"]) == {"a": 1, "bb": 2}
            assert await client.node_id(group_coordinator("bb")) == 2

    run_virtual(scenario())


def test_any_broker_that_lives_is_enough() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        first, second, third = scripted_cluster(network, 3)
        third.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse(error_code=0))
        async with client_of(network) as client:
            network.stop_listening(first.endpoint)
            network.stop_listening(second.endpoint)
            for broker in (first, second):
                for transport in broker.transports:
                    transport.close()
            await asyncio.sleep(0.001)
            assert (await client.request(Role.ANY, ApiKey.LIST_GROUPS, ListGroupsRequest())).error_code == 0
            assert (await client.refresh_metadata([])).node_ids == (1, 2, 3)

    run_virtual(scenario())


def test_bootstrap_addresses_are_retried_when_all_brokers_fail() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        old = ScriptedBroker(Endpoint("retired", 1))
        broker.on(ApiKey.METADATA, lambda _: cluster_metadata(old))
        async with client_of(network) as client:
            assert client.cluster.endpoint(1) == old.endpoint
            for transport in broker.transports:
                transport.close()
            await asyncio.sleep(0.001)
            broker.on(ApiKey.METADATA, lambda _: cluster_metadata(broker))
            assert (await client.refresh_metadata([])).endpoint(1) == broker.endpoint

    run_virtual(scenario())


def test_metadata_never_creates_a_topic() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        async with client_of(network) as client:
            await client.refresh_metadata(["absent"])
            await client.refresh_metadata()
        asked = broker.messages(ApiKey.METADATA)
        assert [message.allow_auto_topic_creation for message in asked] == [False] * 3
        assert [message.topics and [topic.name for topic in message.topics] for message in asked] == [
            [],
            ["absent"],
            None,
        ]

    run_virtual(scenario())
