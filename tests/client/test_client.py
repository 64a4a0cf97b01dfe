from __future__ import annotations

import asyncio
import random
import time

import pytest

from eosctl.client import (
    Client,
    Failure,
    connect,
    transaction_coordinator,
)
from eosctl.client.client import _no_broker_answered
from eosctl.client.destinations import Role
from eosctl.client.diagnosis import TlsHandshakeFailed
from eosctl.client.memory import MemoryNetwork
from eosctl.client.opening import HEAD_START_S
from eosctl.errors import ClusterUnreachable, RequestTimedOut, UnsupportedByBroker, UsageError
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.evidence import GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_quorum import DescribeQuorumRequest
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from eosctl.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from eosctl.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from eosctl.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from tests.client.scripted_broker import (
    CONFIG,
    HangUp,
    Silence,
    client_of,
    found,
    scripted_cluster,
)


def test_fan_out_returns_an_outcome_for_every_broker() -> None:
    async def scenario() -> None:
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

    run_virtual(scenario())


def test_the_highest_common_version_within_bounds_is_used() -> None:
    async def scenario() -> None:
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

    run_virtual(scenario())


def test_an_old_brokers_version_error_is_understood() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.ranges[ApiKey.API_VERSIONS] = (0, 2)
        async with client_of(network) as client:
            assert (await client.versions(1)).apis[ApiKey.API_VERSIONS].max_version == 2
        assert [version for key, version, _ in broker.requests if key is ApiKey.API_VERSIONS] == [2]

    run_virtual(scenario())


def test_an_answer_that_came_while_the_program_was_busy_counts() -> None:
    def busy(_: HeartbeatRequest) -> HeartbeatResponse:
        time.sleep(0.2)  # The loop stands still, as while much evidence is decoded.
        return HeartbeatResponse()

    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.HEARTBEAT, busy)
        async with client_of(network) as client:
            answer = await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), timeout_ms=100)
        assert answer.error_code == ErrorCode.NONE

    asyncio.run(scenario())


def test_no_wait_outlasts_its_deadline() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.HEARTBEAT, lambda _: Silence())
        loop = asyncio.get_running_loop()
        async with client_of(network) as client:
            begin = loop.time()
            with pytest.raises(RequestTimedOut, match="HEARTBEAT"):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())
            assert loop.time() - begin == pytest.approx(CONFIG.request_timeout_ms / 1000)
            begin = loop.time()
            with pytest.raises(RequestTimedOut):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), timeout_ms=70)
            assert loop.time() - begin == pytest.approx(0.07)
            begin = loop.time()
            with pytest.raises(RequestTimedOut):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), retry_on={ErrorCode.REQUEST_TIMED_OUT})
            assert loop.time() - begin <= CONFIG.timeout_ms / 1000
            assert len(broker.messages(ApiKey.HEARTBEAT)) == 5

    run_virtual(scenario())


def test_a_silent_broker_does_not_block_the_client() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        for broker in scripted_cluster(network, 2):
            broker.on(ApiKey.API_VERSIONS, lambda _: Silence())
        begin = asyncio.get_running_loop().time()
        with pytest.raises(ClusterUnreachable, match="No broker answered"):
            async with client_of(network):
                pass
        waited_s = asyncio.get_running_loop().time() - begin
        assert waited_s == pytest.approx(HEAD_START_S + CONFIG.connect_timeout_ms / 1000)

    run_virtual(scenario())


def test_no_answer_at_all_names_every_cause() -> None:
    down = ClusterUnreachable("Cannot connect to a.", "The broker is down.", "Check the address.")
    expired = TlsHandshakeFailed("The certificate of b has expired.", "Its validity has ended.", "Renew it.")
    error = _no_broker_answered([down, expired, down])
    assert error.what == "No broker answered: Cannot connect to a. The certificate of b has expired."
    assert (error.why, error.next_step) == (
        "The broker is down. Its validity has ended.",
        "Check the address. Renew it.",
    )


def test_an_address_without_answer_does_not_delay_the_next() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        silent, answering = scripted_cluster(network, 2)
        silent.on(ApiKey.API_VERSIONS, lambda _: Silence())
        answering.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        waited_s = []
        for seed in range(8):  # both orders of the two addresses
            begin = asyncio.get_running_loop().time()
            async with connect(CONFIG, connector=network, chance=random.Random(seed)) as client:
                waited_s.append(asyncio.get_running_loop().time() - begin)
                before = silent.connection_count
                await client.request(Role.ANY, ApiKey.LIST_GROUPS, ListGroupsRequest())
                assert silent.connection_count == before  # it is asked last
        assert set(waited_s) == {0.0, HEAD_START_S}
        assert len(answering.messages(ApiKey.LIST_GROUPS)) == 8

    run_virtual(scenario())


def test_a_timeout_closes_the_connection_for_the_next_request() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.answers_in_turn(ApiKey.HEARTBEAT, Silence(), HeartbeatResponse())
        async with client_of(network) as client:
            before = broker.connection_count
            with pytest.raises(RequestTimedOut):
                await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())
            assert (await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest())).error_code == 0
            assert broker.connection_count == before + 1

    run_virtual(scenario())


def test_requests_at_the_same_time_share_one_connection() -> None:
    async def scenario() -> None:
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

    run_virtual(scenario())


def test_a_cancelled_request_leaves_the_others_alone() -> None:
    async def scenario() -> None:
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

    run_virtual(scenario())


def test_an_error_without_retry_is_returned_immediately() -> None:
    async def scenario() -> None:
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

    run_virtual(scenario())


def test_a_broken_connection_is_retried_only_if_allowed() -> None:
    async def scenario() -> None:
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

    run_virtual(scenario())


def test_a_client_for_reading_refuses_to_write() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        async with client_of(network, allowed_apis={ApiKey.LIST_GROUPS}) as client:
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            for refused in (client.request(1, ApiKey.END_TXN, EndTxnRequest()), _fan_out_end_txn(client)):
                with pytest.raises(UsageError, match="END_TXN"):
                    await refused
        assert not broker.messages(ApiKey.END_TXN)

    run_virtual(scenario())


async def _fan_out_end_txn(client: Client) -> None:
    await client.fan_out([1], ApiKey.END_TXN, lambda _: EndTxnRequest())


def test_what_waits_for_the_controller_delays_nothing_else() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1)
        broker.on(ApiKey.DESCRIBE_QUORUM, lambda _: Silence())
        broker.on(ApiKey.HEARTBEAT, lambda _: HeartbeatResponse())
        async with client_of(network) as client:
            waiting = asyncio.ensure_future(client.request(1, ApiKey.DESCRIBE_QUORUM, DescribeQuorumRequest()))
            await asyncio.sleep(1)
            await client.request(1, ApiKey.HEARTBEAT, HeartbeatRequest(), timeout_ms=1_000)
            with pytest.raises(RequestTimedOut):
                await waiting

    run_virtual(scenario())
