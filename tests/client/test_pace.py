"""Requests to a broker keep their limit, and brokers do not wait for each other."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.client.client import connect
from eosctl.client.memory import MemoryNetwork
from eosctl.client.pool import Pace
from eosctl.collect.reader import ReadOnly
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import Endpoint
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.client.scripted_broker import CONFIG, scripted_cluster

BROKERS = [Endpoint("b", number) for number in range(3)]


@given(
    st.integers(1, 1000),
    st.lists(st.tuples(st.sampled_from(BROKERS), st.floats(0, 2)), max_size=40),
)
def test_requests_of_a_broker_are_an_interval_apart(rate: int, arrivals: list[tuple[Endpoint, float]]) -> None:
    async def scenario() -> None:
        loop, pace = asyncio.get_running_loop(), Pace(rate)
        sent: dict[Endpoint, list[float]] = {broker: [] for broker in BROKERS}

        async def request(broker: Endpoint, after_s: float) -> None:
            await asyncio.sleep(after_s)
            came_at = loop.time()
            await pace.turn(broker)
            assert loop.time() - came_at <= len(arrivals) / rate + 1e-6
            sent[broker].append(loop.time())

        await asyncio.gather(*(request(*one) for one in arrivals))
        for times in sent.values():
            assert all(after - before >= 1 / rate - 1e-6 for before, after in pairwise(times))

    run_virtual(scenario())


def test_the_client_keeps_the_limit_of_each_broker() -> None:
    async def scenario(requests_per_second: float | None) -> float:
        network, loop = MemoryNetwork(), asyncio.get_running_loop()
        brokers = scripted_cluster(network, 3)
        for broker in brokers:
            broker.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())
        config = replace(CONFIG, requests_per_second=requests_per_second)
        async with connect(config, connector=network) as client:
            began_at, reader = loop.time(), ReadOnly(client)
            asks = [
                reader.request(node_id, ApiKey.LIST_GROUPS, ListGroupsRequest())
                for node_id in client.cluster.node_ids
                for _ in range(41)
            ]
            await asyncio.gather(*asks)
            return loop.time() - began_at

    assert run_virtual(scenario(None)) < 1
    assert 2 <= run_virtual(scenario(20)) < 2.5


def test_the_option_reaches_the_client() -> None:
    resolved = resolve_connection(Connection("localhost:9092", requests_per_second=7), lambda _: None, {})
    assert resolved.config.requests_per_second == 7
    assert resolve_connection(Connection("localhost:9092"), lambda _: None, {}).config.requests_per_second is None
