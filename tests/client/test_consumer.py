from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from eosctl.client import connect
from eosctl.client.client import Client
from eosctl.client.consumer import EARLIEST, IsolationLevel, Reader, fetch, list_offset
from eosctl.client.memory import MemoryNetwork
from eosctl.errors import AuthorizationDenied, BrokerError, DecodeError
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from eosctl.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.client.scripted_broker import ScriptedBroker, scripted_cluster

ORDERS = TopicPartition("orders", 0)


def batch(base_offset: int, *values: bytes, producer_id: int = -1) -> bytes:
    return encode_batch(
        [Record(0, 1, None, value) for value in values],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=0 if producer_id >= 0 else -1,
        transactional=producer_id >= 0,
    )


def fetched(**data: Any) -> FetchResponse:
    answer = PartitionData(**{"partition_index": 0, "high_watermark": 10, "last_stable_offset": 6, **data})
    return FetchResponse(responses=[FetchableTopicResponse("orders", partitions=[answer])])


def offset(value: int, error_code: int = 0) -> ListOffsetsResponse:
    answer = ListOffsetsPartitionResponse(0, error_code, offset=value)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("orders", [answer])])


def play(scenario: Callable[[ScriptedBroker, Client], Awaitable[None]]) -> None:
    async def run() -> None:
        network = MemoryNetwork()
        (broker,) = scripted_cluster(network, 1, orders=[1])
        config = ClientConfig(bootstrap=(Endpoint("broker-1", 9092),))
        async with connect(config, connector=network, chance=random.Random(0)) as client:
            await scenario(broker, client)

    run_virtual(run())


def test_a_fetch_shows_records_and_where_they_end() -> None:
    async def scenario(broker: ScriptedBroker, client: Client) -> None:
        broker.on(ApiKey.FETCH, lambda _: fetched(records=batch(3, b"a", b"b") + batch(5, b"c"), log_start_offset=1))
        found = await fetch(client, ORDERS, 4)
        assert [(r.offset, r.value) for r in found.records] == [(4, b"b"), (5, b"c")]
        assert found[2:] == (6, 10, 6, 1)
        (request,) = broker.messages(ApiKey.FETCH)
        assert (request.isolation_level, request.replica_id) == (1, -1)

    play(scenario)


def test_aborted_records_are_left_out_only_for_read_committed() -> None:
    async def scenario(broker: ScriptedBroker, client: Client) -> None:
        def answer(request: FetchRequest) -> FetchResponse:
            aborted = [AbortedTransaction(7, 0)] if request.isolation_level else None
            return fetched(records=batch(0, b"gone", producer_id=7) + batch(1, b"kept"), aborted_transactions=aborted)

        broker.on(ApiKey.FETCH, answer)
        committed = await fetch(client, ORDERS, 0)
        everything = await fetch(client, ORDERS, 0, isolation=IsolationLevel.READ_UNCOMMITTED)
        assert [r.value for r in committed.records] == [b"kept"]
        assert [r.value for r in everything.records] == [b"gone", b"kept"]
        assert committed.next_offset == everything.next_offset == 2

    play(scenario)


def test_an_answer_without_records_moves_nothing() -> None:
    async def scenario(broker: ScriptedBroker, client: Client) -> None:
        broker.on(ApiKey.FETCH, lambda _: fetched(records=None))
        found = await fetch(client, ORDERS, 4)
        assert (found.records, found.next_offset) == ((), 4)

    play(scenario)


def test_refusals_and_damage_name_the_partition() -> None:
    async def scenario(broker: ScriptedBroker, client: Client) -> None:
        broker.on(ApiKey.FETCH, lambda _: fetched(error_code=ErrorCode.OFFSET_OUT_OF_RANGE))
        with pytest.raises(BrokerError, match="Fetch of orders-0 at offset 99: OFFSET_OUT_OF_RANGE"):
            await fetch(client, ORDERS, 99)
        broker.on(ApiKey.FETCH, lambda _: fetched(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        with pytest.raises(AuthorizationDenied):
            await fetch(client, ORDERS, 0)
        damaged = bytearray(batch(0, b"abc"))
        damaged[-1] ^= 1
        broker.on(ApiKey.FETCH, lambda _: fetched(records=bytes(damaged)))
        with pytest.raises(DecodeError, match="orders-0 holds a damaged batch"):
            await fetch(client, ORDERS, 0)
        broker.on(ApiKey.LIST_OFFSETS, lambda _: offset(-1, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        with pytest.raises(AuthorizationDenied, match="ListOffsets of orders-0"):
            await list_offset(client, ORDERS)

    play(scenario)


def test_a_reader_stops_at_the_end_at_its_start() -> None:
    log = batch(0, b"a", b"b") + batch(2, b"c")

    async def scenario(broker: ScriptedBroker, client: Client) -> None:
        def at(request: ListOffsetsRequest) -> ListOffsetsResponse:
            asked = request.topics[0].partitions[0].timestamp
            return offset(0 if asked == EARLIEST else 3)

        def read(request: FetchRequest) -> FetchResponse:
            position = request.topics[0].partitions[0].fetch_offset
            return fetched(records=log if position < 2 else batch(2, b"c") if position < 3 else b"")

        broker.on(ApiKey.LIST_OFFSETS, at)
        broker.on(ApiKey.FETCH, read)
        reader = await Reader.open(client, [ORDERS])
        assert {p: [r.value for r in found] for p, found in (await reader.drain(1000)).items()} == {
            ORDERS: [b"a", b"b", b"c"]
        }
        assert await reader.drain(1000) == {}
        assert reader.positions == {ORDERS: 3}

    play(scenario)


def test_waiting_for_an_unreachable_end_is_bounded() -> None:
    async def scenario(broker: ScriptedBroker, client: Client) -> None:
        broker.on(ApiKey.LIST_OFFSETS, lambda _: offset(8))
        broker.on(ApiKey.FETCH, lambda _: fetched(records=b""))
        reader = Reader(client, IsolationLevel.READ_COMMITTED, {ORDERS: 5})
        with pytest.raises(BrokerError, match="orders-0 could not be read to the end"):
            await reader.drain(2000)

    play(scenario)
