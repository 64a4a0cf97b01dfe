from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from eosctl.client import Client
from eosctl.client.memory import MemoryNetwork
from eosctl.client.topics import ensure_topic
from eosctl.errors import AuthorizationDenied, BrokerError
from eosctl.lab.virtual_loop import run_virtual
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from tests.client.scripted_broker import ScriptedBroker, client_of, cluster_metadata, scripted_cluster


def created(error_code: int = 0) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult("orders", error_code=error_code)])


def play(scenario: Callable[[list[ScriptedBroker], Client], Awaitable[None]]) -> None:
    async def run() -> None:
        network = MemoryNetwork()
        brokers = scripted_cluster(network, 4)
        async with client_of(network) as client:
            await scenario(brokers, client)

    run_virtual(run())


def show(brokers: list[ScriptedBroker], **leaders: list[int]) -> None:
    for broker in brokers:
        broker.on(ApiKey.METADATA, lambda _: cluster_metadata(*brokers, leaders=leaders))


def test_a_topic_that_exists_is_left_alone() -> None:
    async def scenario(brokers: list[ScriptedBroker], client: Client) -> None:
        show(brokers, orders=[1, 2])
        assert len((await ensure_topic(client, "orders", partition_count=9)).partitions) == 2
        assert not any(broker.messages(ApiKey.CREATE_TOPICS) for broker in brokers)

    play(scenario)


def test_a_missing_topic_is_created_and_awaited() -> None:
    async def scenario(brokers: list[ScriptedBroker], client: Client) -> None:
        def create(_: CreateTopicsRequest) -> CreateTopicsResponse:
            show(brokers, orders=[-1, 2])
            asyncio.get_running_loop().call_later(3, lambda: show(brokers, orders=[3, 2]))
            return created()

        brokers[0].on(ApiKey.CREATE_TOPICS, create)
        topic = await ensure_topic(client, "orders", partition_count=2, settings={"cleanup.policy": "compact"})
        assert [partition.leader_id for partition in topic.partitions] == [3, 2]
        ((wanted,),) = [message.topics for message in brokers[0].messages(ApiKey.CREATE_TOPICS)]
        assert (wanted.num_partitions, wanted.replication_factor) == (2, 3)
        assert [(one.name, one.value) for one in wanted.configs] == [("cleanup.policy", "compact")]

    play(scenario)


def test_another_client_may_create_it_first() -> None:
    async def scenario(brokers: list[ScriptedBroker], client: Client) -> None:
        def create(_: Any) -> CreateTopicsResponse:
            show(brokers, orders=[1])
            return created(ErrorCode.TOPIC_ALREADY_EXISTS)

        brokers[0].on(ApiKey.CREATE_TOPICS, create)
        assert (await ensure_topic(client, "orders")).name == "orders"

    play(scenario)


def test_refusals_and_leaders_that_never_come_are_reported() -> None:
    async def scenario(brokers: list[ScriptedBroker], client: Client) -> None:
        brokers[0].on(ApiKey.CREATE_TOPICS, lambda _: created(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        with pytest.raises(AuthorizationDenied, match="The topic orders cannot be created"):
            await ensure_topic(client, "orders")
        show(brokers, orders=[-1])
        with pytest.raises(BrokerError, match="Waiting for the leaders of orders: LEADER_NOT_AVAILABLE"):
            await ensure_topic(client, "orders")

    play(scenario)
