"""Faults of a real broker that simulated ones do not have: its disk, its threads, its memory of producers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from eosctl.client import Client, Role, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.monitoring.recording.separate import SeparateNodes

RECORDS = [OutgoingRecord(b"k", b"v" * 100)] * 10
LONG_MS = 10 * 60_000


class Stand(NamedTuple):
    """A broker and what is needed to harm it; ``slow_disk`` is the file that slow_disk.c reads."""

    engine: ApacheNodes | SeparateNodes
    slow_disk: Path
    stack: AsyncExitStack

    async def client(self) -> Client:
        """Return a client of its own, open while the recording lasts."""
        config = ClientConfig(
            parse_endpoints(self.engine.bootstrap, "the recording"), timeout_ms=LONG_MS, request_timeout_ms=LONG_MS
        )
        return await self.stack.enter_async_context(connect(config))

    def slow_down(self, sync_ms: int = 0, read_ms: int = 0) -> None:
        self.slow_disk.write_text(f"{sync_ms} {read_ms}\n", "utf-8")


async def commit_again_and_again(client: Client, name: str) -> None:
    place = (await ensure_topic(client, f"{name}-topic", partition_count=1)).partitions[0].partition
    producer = TransactionalProducer(client, name, now_ms=system_now_ms)
    await producer.init_transactions()
    while True:
        await producer.send(place, RECORDS)
        await producer.commit()
        await asyncio.sleep(0.1)


async def slow_syncs(stand: Stand, app_count: int) -> None:
    """Let every sync of a log take 1.5 s, and logs be synced with every append."""
    for number in range(app_count):
        client = await stand.client()
        stand.stack.callback(asyncio.create_task(commit_again_and_again(client, f"app-{number}")).cancel)
    await asyncio.sleep(20)
    stand.slow_down(sync_ms=1500)


async def load_slowly(stand: Stand, read_ms: int) -> None:
    """Restart the broker, whose disk has become slow: it loads its transactions one read after the other."""
    producer = TransactionalProducer(await stand.client(), "app", now_ms=system_now_ms)
    place = (await ensure_topic(await stand.client(), "orders")).partitions[0].partition
    await producer.init_transactions()
    for _ in range(100):
        await producer.send(place, RECORDS)
        await producer.commit()

    async def restart() -> None:
        await asyncio.sleep(20)
        assert isinstance(stand.engine, ApacheNodes)
        (broker,) = stand.engine.brokers()
        await stand.engine.stop(broker.broker_id)
        stand.slow_down(read_ms=read_ms)
        await stand.engine.restart(broker.broker_id)

    stand.stack.callback(asyncio.create_task(restart()).cancel)


async def damage_a_compacted_log(stand: Stand) -> None:
    """Damage a closed segment of a compacted topic, so that the cleaner gives its partition up."""
    client = await stand.client()
    settings = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
    place = (await ensure_topic(client, "state", partition_count=1, settings=settings)).partitions[0].partition
    producer = TransactionalProducer(client, "state-app", now_ms=system_now_ms)
    await producer.init_transactions()
    await producer.send(place, RECORDS)
    await producer.commit()
    await asyncio.sleep(30)
    assert isinstance(stand.engine, ApacheNodes)
    (directory,) = stand.engine.data_dirs().values()
    first = min((directory / "state-0").glob("*.log"))
    with first.open("r+b") as file:
        file.seek(61)
        file.write(b"\xff" * 40)

    async def write() -> None:
        while True:
            await asyncio.sleep(2)
            await producer.send(place, RECORDS)
            await producer.commit()

    stand.stack.callback(asyncio.create_task(write()).cancel)


async def more_and_more_producers(stand: Stand) -> None:
    """Write with a new producer id each time: 10,000 in a burst, then three per second."""
    client = await stand.client()
    count = 50
    places = (await ensure_topic(client, "ids", partition_count=count)).partitions

    async def write(first_id: int) -> None:
        record = [Record(0, system_now_ms(), b"k", b"v")]
        data = [
            PartitionProduceData(
                info.partition.partition,
                encode_batch(record, producer_id=first_id + index, producer_epoch=0, base_sequence=0),
            )
            for index, info in enumerate(places)
        ]
        request = ProduceRequest(None, -1, 30_000, [TopicProduceData(name="ids", partition_data=data)])
        while True:
            answer = await client.request(Role.ANY, ApiKey.PRODUCE, request, floor=9, cap=11)
            codes = {part.error_code for part in answer.responses[0].partition_responses}
            if codes == {ErrorCode.NONE}:
                return
            # The broker of a new topic becomes its leader after the controller says so.
            assert codes <= {ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER}, codes
            await asyncio.sleep(0.1)

    for number in range(201):
        await write(1_000_000 + number * count)

    async def continue_writing() -> None:
        for number in range(201, 1_000_000):
            await write(1_000_000 + number * count)
            await asyncio.sleep(15)

    stand.stack.callback(asyncio.create_task(continue_writing()).cancel)


async def open_many_transactions(stand: Stand) -> None:
    """Begin 10,050 transactions and leave them open."""
    client = await stand.client()
    place = (await ensure_topic(client, "many")).partitions[0].partition
    numbers = iter(range(10_050))

    async def begin() -> None:
        for number in numbers:
            producer = TransactionalProducer(
                client, f"task-{number}", now_ms=system_now_ms, transaction_timeout_ms=14 * 60_000, dialect=TV1
            )
            await producer.init_transactions()
            await producer.declare(place)

    await asyncio.gather(*(begin() for _ in range(20)))


class BrokerFault(NamedTuple):
    """A fault of a broker.

    Attributes:
        make: Makes it.
        minutes: How long to record.
        settings: Of the broker.
        separate: Whether the controller is a process of its own.
    """

    make: Callable[[Stand], Awaitable[None]]
    minutes: float
    settings: Mapping[str, str] = MappingProxyType({})
    separate: bool = False


BROKER_FAULTS = {
    "slow-syncs": BrokerFault(lambda stand: slow_syncs(stand, 5), 8, {"log.flush.interval.messages": "1"}),
    # Handlers that wait for the disk fill the queue, and network threads wait for free space in it.
    "stuck-threads": BrokerFault(
        lambda stand: slow_syncs(stand, 20),
        7,
        {
            "log.flush.interval.messages": "1",
            "num.io.threads": "1",
            "num.network.threads": "1",
            "queued.max.requests": "1",
        },
        separate=True,
    ),
    "slow-load": BrokerFault(lambda stand: load_slowly(stand, 7_000), 4, {"transaction.state.log.num.partitions": "1"}),
    "very-slow-load": BrokerFault(
        lambda stand: load_slowly(stand, 20_000), 5, {"transaction.state.log.num.partitions": "1"}
    ),
    "damaged-log": BrokerFault(damage_a_compacted_log, 18, {"log.cleaner.backoff.ms": "1000"}),
    "producer-ids": BrokerFault(more_and_more_producers, 31.5),
    "many-transactions": BrokerFault(open_many_transactions, 9),
}
