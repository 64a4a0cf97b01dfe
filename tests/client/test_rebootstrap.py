"""A client names the cluster and the broker that it expects, and notices that an address belongs to another one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.client import connect, transaction_coordinator
from eosctl.client.memory import MemoryNetwork
from eosctl.client.routing import ClusterChanged
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from eosctl.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.client.rebootstrap import client_of_lost_address
from tests.client.recording import RecordingConnector
from tests.client.scripted_broker import ScriptedBroker, cluster_metadata, found, scripted_cluster


def as_node(broker: ScriptedBroker, node_id: int) -> None:
    """Let a broker check what clients expect, as 4.4 does."""

    def answer(request: ApiVersionsRequest) -> ApiVersionsResponse:
        if request.node_id not in (-1, node_id):
            return ApiVersionsResponse(ErrorCode.REBOOTSTRAP_REQUIRED)
        return broker.api_versions()

    broker.on(ApiKey.API_VERSIONS, answer)


def expected_by(broker: ScriptedBroker) -> list[tuple[str | None, int]]:
    return [(one.cluster_id, one.node_id) for one in broker.messages(ApiKey.API_VERSIONS)]


@pytest.mark.parametrize("by_id", [False, True], ids=["coordinator", "node"])
def test_a_broker_that_has_moved_is_found_by_bootstrapping_again(by_id: bool) -> None:
    async def run() -> None:
        network = MemoryNetwork()
        first, second = scripted_cluster(network, 2)
        third = ScriptedBroker(Endpoint("broker-3", 9092))
        third.listen(network)
        homes: list[ScriptedBroker] = [first, second]
        for broker in (first, second, third):
            broker.on(ApiKey.METADATA, lambda _: cluster_metadata(*homes))
            broker.on(ApiKey.FIND_COORDINATOR, lambda message: found(message, 2))
            broker.on(ApiKey.END_TXN, lambda _: EndTxnResponse())
            broker.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        as_node(first, 1)
        as_node(third, 2)
        as_node(second, 7)  # Another broker listens at the address since.
        async with connect(ClientConfig(bootstrap=(first.endpoint,)), connector=network) as client:
            homes[1] = third
            answer: Any
            if by_id:
                answer = await client.request(2, ApiKey.LIST_GROUPS, ListGroupsRequest())
            else:
                answer = await client.request(transaction_coordinator("t"), ApiKey.END_TXN, EndTxnRequest("t"))
        assert answer.error_code == 0
        assert expected_by(second) == [("scripted", 2)]
        assert expected_by(third) == [("scripted", 2)]
        assert expected_by(first) == [(None, -1)] * 2
        assert not second.messages(ApiKey.END_TXN) and not second.messages(ApiKey.LIST_GROUPS)

    run_virtual(run())


def test_brokers_before_4_4_get_no_expected_name() -> None:
    async def run() -> None:
        network = MemoryNetwork()
        first, second = scripted_cluster(network, 2)
        second.ranges[ApiKey.API_VERSIONS] = (0, 4)
        second.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        async with connect(ClientConfig(bootstrap=(first.endpoint,)), connector=network) as client:
            assert (await client.request(2, ApiKey.LIST_GROUPS, ListGroupsRequest())).error_code == 0
        versions = [version for key, version, _ in second.requests if key is ApiKey.API_VERSIONS]
        assert (versions, expected_by(second)) == ([4], [(None, -1)])

    run_virtual(run())


@pytest.mark.parametrize("by_role", [False, True], ids=["coordinator", "any"])
def test_a_client_does_not_follow_its_address_to_another_cluster(by_role: bool) -> None:
    async def run() -> None:
        with SandboxThread() as own, SandboxThread() as other:
            wire = RecordingConnector()
            async with client_of_lost_address(wire, own.bootstrap, other.bootstrap) as client:
                expected = client.cluster.cluster_id
                with pytest.raises(ClusterChanged, match=expected) as changed:
                    if by_role:
                        await client.request_any(ApiKey.LIST_GROUPS, ListGroupsRequest())
                    else:
                        await client.request(transaction_coordinator("t"), ApiKey.END_TXN, EndTxnRequest("t"))
                (broker_id,) = {one.message.node_id for one in wire.of(ApiKey.API_VERSIONS)} - {-1}
            assert changed.value.exit_code == 1
            assert not wire.of(ApiKey.END_TXN) and not wire.of(ApiKey.LIST_GROUPS)
            asked = [(one.version, one.message.cluster_id) for one in wire.of(ApiKey.API_VERSIONS)]
            assert asked[0] == (5, None) and (5, expected) in asked and broker_id >= 0

    asyncio.run(run())
