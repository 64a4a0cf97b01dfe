from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from eosctl.client import (
    Client,
    CoordinatorKind,
    Failure,
    Role,
    connect,
    group_coordinator,
    transaction_coordinator,
)
from eosctl.client.memory import MemoryNetwork
from eosctl.errors import BrokerError, ClusterUnreachable, RequestTimedOut, UnsupportedByBroker, UsageError
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
from eosctl.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from tests.client.scripted_broker import (
    HangUp,
    ScriptedBroker,
    Silence,
    cluster_metadata,
    scripted_cluster,
)

T = TypeVar("T")
NETWORK_CONFIG = ClientConfig(bootstrap=(Endpoint("broker-1", 9092), Endpoint("broker-2", 9092)))


def simulate(story: Coroutine[Any, Any, T]) -> T:
    return run_virtual(story)


def client_of(network: MemoryNetwork, **options: Any) -> Any:
    return connect(NETWORK_CONFIG, connector=network, chance=random.Random(1), **options)


def found(message: FindCoordinatorRequest, node_id: int) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(coordinators=[Coordinator(key, node_id, "x", 1) for key in message.coordinator_keys])


def test_fan_out_returns_an_outcome_for_every_broker_and_loses_none() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        brokers = scripted_cluster(network, 6)
        answers = [
            ListTransactionsResponse(),
            ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
            ListTransactionsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
            Silence(),
            None,
            None,
        ]
        for broker, answer in zip(brokers, answers, strict=True):
            broker.on(ApiKey.LIST_TRANSACTIONS, lambda _, answer=answer: answer)
        brokers[4].ranges[ApiKey.LIST_TRANSACTIONS] = (90, 91)
        network.stop_listening(brokers[5].endpoint)
        async with client_of(network) as client:
            outcomes = await client.fan_out(
                [*client.cluster.node_ids, 77], ApiKey.LIST_TRANSACTIONS, lambda _: ListTransactionsRequest()
            )
        assert list(outcomes) == [1, 2, 3, 4, 5, 6, 77]
        assert outcomes[1] == ListTransactionsResponse(unknown_state_filters=[], transaction_states=[])
        reasons = {node_id: outcome.reason for node_id, outcome in outcomes.items() if isinstance(outcome, Failure)}
        assert reasons == {
            2: GapReason.LOADING,
            3: GapReason.NOT_AUTHORIZED,
            4: GapReason.TIMED_OUT,
            5: GapReason.UNSUPPORTED,
            6: GapReason.UNREACHABLE,
            77: GapReason.UNREACHABLE,
        }
        assert outcomes[2].error_code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert "CLUSTER_AUTHORIZATION_FAILED" in outcomes[3].error.what

    simulate(story())


def test_the_highest_common_version_is_spoken_within_the_callers_bounds() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.ranges[ApiKey.HEARTBEAT] = (1, 3)
        broker.on(ApiKey.HEARTBEAT, lambda _: HeartbeatResponse())
        async with client_of(network) as client:
            await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())
            await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), cap=2)
            with pytest.raises(UnsupportedByBroker) as caught:
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), floor=4)
            with pytest.raises(UnsupportedByBroker):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), cap=0)
        assert [version for key, version, _ in broker.requests if key is ApiKey.HEARTBEAT] == [3, 2]
        assert "HEARTBEAT needs version 4" in caught.value.what
        assert "serves 1 to 3" in caught.value.what

    simulate(story())


def test_an_old_brokers_refusal_of_the_first_question_is_understood() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.ranges[ApiKey.API_VERSIONS] = (0, 2)
        async with client_of(network) as client:
            assert (await client.versions(1)).apis[ApiKey.API_VERSIONS].max_version == 2
        assert [version for key, version, _ in broker.requests if key is ApiKey.API_VERSIONS] == [2]

    simulate(story())


def test_no_wait_outlasts_its_deadline() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.HEARTBEAT, lambda _: Silence())
        loop = asyncio.get_running_loop()
        async with client_of(network) as client:
            begin = loop.time()
            with pytest.raises(RequestTimedOut, match="HEARTBEAT"):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())
            assert loop.time() - begin == pytest.approx(NETWORK_CONFIG.request_timeout_ms / 1000)
            begin = loop.time()
            with pytest.raises(RequestTimedOut):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), timeout_ms=70)
            assert loop.time() - begin == pytest.approx(0.07)
            begin = loop.time()
            with pytest.raises(RequestTimedOut):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), retry_on={ErrorCode.REQUEST_TIMED_OUT})
            assert loop.time() - begin <= NETWORK_CONFIG.timeout_ms / 1000
            assert len(broker.messages(ApiKey.HEARTBEAT)) == 5

    simulate(story())


def test_a_broker_that_accepts_and_says_nothing_does_not_hold_the_client() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        for broker in scripted_cluster(network, 2):
            broker.on(ApiKey.API_VERSIONS, lambda _: Silence())
        begin = asyncio.get_running_loop().time()
        with pytest.raises(ClusterUnreachable, match="No broker answered"):
            async with client_of(network):
                pass
        waited_s = asyncio.get_running_loop().time() - begin
        assert waited_s == pytest.approx(2 * NETWORK_CONFIG.connect_timeout_ms / 1000)

    simulate(story())


def test_a_time_out_closes_the_connection_and_the_next_request_opens_another() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.answers_in_turn(ApiKey.HEARTBEAT, Silence(), HeartbeatResponse())
        async with client_of(network) as client:
            before = broker.connection_count
            with pytest.raises(RequestTimedOut):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())
            assert (await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())).error_code == 0
            assert broker.connection_count == before + 1

    simulate(story())


def test_requests_at_the_same_time_share_one_connection() -> None:
    async def story() -> None:
        network = MemoryNetwork(latency=lambda: 0.001)
        brokers = scripted_cluster(network, 1)
        brokers[0].on(ApiKey.HEARTBEAT, lambda message: HeartbeatResponse(error_code=message.generation_id))
        config = ClientConfig(bootstrap=(Endpoint("elsewhere", 1),))
        network.listen(Endpoint("elsewhere", 1), brokers[0].accept)
        async with connect(config, connector=network) as client:
            answers = await asyncio.gather(
                *(client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(generation_id=n)) for n in range(20))
            )
        assert [answer.error_code for answer in answers] == list(range(20))
        assert brokers[0].connection_count == 2  # the bootstrap address and the one that the broker advertises

    simulate(story())


def test_a_cancelled_request_leaves_the_others_alone() -> None:
    async def story() -> None:
        network = MemoryNetwork(latency=lambda: 0.01)
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.HEARTBEAT, lambda message: HeartbeatResponse(error_code=message.generation_id))
        async with client_of(network) as client:
            first = asyncio.ensure_future(client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(generation_id=1)))
            second = asyncio.ensure_future(client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(generation_id=2)))
            await asyncio.sleep(0.005)
            first.cancel()
            assert (await second).error_code == 2
            assert broker.connection_count == 1

    simulate(story())


def test_a_coordinator_that_moves_is_found_again() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        first, second = scripted_cluster(network, 2)
        home = [1, 2]
        for broker in (first, second):
            broker.on(ApiKey.FIND_COORDINATOR, lambda message: found(message, home.pop(0)))
        first.on(ApiKey.END_TXN, lambda _: EndTxnResponse(error_code=ErrorCode.NOT_COORDINATOR))
        second.answers_in_turn(
            ApiKey.END_TXN, EndTxnResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), EndTxnResponse()
        )
        home += [2]
        async with client_of(network) as client:
            answer = await client.request(transaction_coordinator("t"), ApiKey.END_TXN, EndTxnRequest("t"))
        assert answer.error_code == 0
        assert home == []
        assert len(second.messages(ApiKey.END_TXN)) == 2

    simulate(story())


def test_an_error_that_nobody_asked_to_repeat_is_returned_at_once() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.FIND_COORDINATOR, lambda message: found(message, 1))
        broker.answers_in_turn(
            ApiKey.END_TXN, EndTxnResponse(error_code=ErrorCode.CONCURRENT_TRANSACTIONS), EndTxnResponse()
        )
        async with client_of(network) as client:
            where = transaction_coordinator("t")
            assert (await client.request(where, ApiKey.END_TXN, EndTxnRequest("t"))).error_code == 51
            broker.answers_in_turn(
                ApiKey.END_TXN, EndTxnResponse(error_code=ErrorCode.CONCURRENT_TRANSACTIONS), EndTxnResponse()
            )
            answer = await client.request(
                where, ApiKey.END_TXN, EndTxnRequest("t"), retry_on={ErrorCode.CONCURRENT_TRANSACTIONS}
            )
            assert answer.error_code == 0

    simulate(story())


def test_a_broken_connection_is_repeated_only_where_the_caller_allows_it() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        async with client_of(network) as client:
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            broker.answers_in_turn(ApiKey.HEARTBEAT, HangUp(), HeartbeatResponse())
            with pytest.raises(ClusterUnreachable, match="closed the connection"):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            broker.answers_in_turn(ApiKey.HEARTBEAT, HangUp(), HeartbeatResponse())
            answer = await client.request(
                1, ApiKey.HEARTBEAT, HeartbeatRequest(), retry_on={ErrorCode.NETWORK_EXCEPTION}
            )
            assert answer.error_code == 0

    simulate(story())


def test_a_leader_is_looked_up_again_when_it_has_moved() -> None:
    async def story() -> None:
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

    simulate(story())


def test_a_partition_without_leader_is_waited_for_and_then_reported() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        scripted_cluster(network, 1, t=[-1])
        async with client_of(network) as client:
            begin = asyncio.get_running_loop().time()
            with pytest.raises(BrokerError, match="LEADER_NOT_AVAILABLE"):
                await client.request(TopicPartition("t", 0), ApiKey.HEARTBEAT, HeartbeatRequest(), timeout_ms=2_000)
            assert 0 < asyncio.get_running_loop().time() - begin <= 2

            with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
                await client.request(TopicPartition("t", 1), ApiKey.HEARTBEAT, HeartbeatRequest())

    simulate(story())


def test_coordinators_of_many_keys_are_one_request_and_partly_data() -> None:
    async def story() -> None:
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

    simulate(story())


def test_coordinators_are_found_one_by_one_on_an_old_broker() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.ranges[ApiKey.FIND_COORDINATOR] = (0, 3)
        broker.on(ApiKey.FIND_COORDINATOR, lambda message: FindCoordinatorResponse(node_id=len(message.key)))
        async with client_of(network) as client:
            assert await client.find_coordinators(CoordinatorKind.GROUP, ["a", "bb"]) == {"a": 1, "bb": 2}
            assert await client.node_id(group_coordinator("bb")) == 2

    simulate(story())


def test_any_broker_that_lives_is_enough() -> None:
    async def story() -> None:
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

    simulate(story())


def test_when_all_known_brokers_are_gone_the_bootstrap_addresses_are_tried_again() -> None:
    async def story() -> None:
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

    simulate(story())


def test_a_client_for_reading_refuses_to_write() -> None:
    async def story() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        async with client_of(network, allowed_apis={ApiKey.LIST_GROUPS}) as client:
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            for refused in (client.request(1, ApiKey.END_TXN, EndTxnRequest()), _fan_out_end_txn(client)):
                with pytest.raises(UsageError, match="END_TXN"):
                    await refused
        assert not broker.messages(ApiKey.END_TXN)

    simulate(story())


async def _fan_out_end_txn(client: Client) -> None:
    await client.fan_out([1], ApiKey.END_TXN, lambda _: EndTxnRequest())


def test_metadata_never_creates_a_topic() -> None:
    async def story() -> None:
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

    simulate(story())
