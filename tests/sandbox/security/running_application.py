"""An application that a guarded cluster runs: it answers each input once, and hands over what it cannot handle."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from eosctl.client import Client, connect
from eosctl.client.consumer import Reader
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms

INPUTS: Final = "inputs"
OUTPUTS: Final = "outputs"
DEAD: Final = "dead"
GROUP: Final = "answering"
_JOIN_S: Final = 60.0


@contextmanager
def running(admin: ClientConfig) -> Iterator[None]:
    """Run the application in a thread of its own; it is ready when the block begins."""
    ready, stop = threading.Event(), threading.Event()
    failed: list[BaseException] = []

    async def work() -> None:
        async with connect(admin) as client:
            await _answer(client, ready, stop)

    def live() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=live, name="application", daemon=True)
    thread.start()
    try:
        ready.wait()
        yield
    finally:
        stop.set()
        thread.join(_JOIN_S)
        assert failed == []


async def _answer(client: Client, ready: threading.Event, stop: threading.Event) -> None:
    """Answer inputs in transactions, and commit one without inputs as well, so that the cluster is never quiet."""
    places = {}
    for topic in (INPUTS, OUTPUTS, DEAD):
        found = await ensure_topic(client, topic, partition_count=1, replica_count=1)
        places[topic] = found.partitions[0].partition
    reader = await Reader.open(client, [places[INPUTS]])
    producer = TransactionalProducer(client, GROUP, now_ms=system_now_ms)
    await producer.init_transactions()
    while not stop.is_set():
        records = (await reader.poll(max_wait_ms=50)).get(places[INPUTS], ())
        for record in records:
            value = record.value or b""
            target = DEAD if b"poison" in value else OUTPUTS
            await producer.send(places[target], [OutgoingRecord(record.key, value)])
        if not records:
            await producer.send(places[OUTPUTS], [OutgoingRecord(b"idle", b"idle")])
        await producer.send_offsets(GroupIdentity(GROUP), _offsets(reader, places[INPUTS]))
        await producer.commit()
        ready.set()


def _offsets(reader: Reader, place: TopicPartition) -> dict[TopicPartition, OffsetToCommit]:
    return {place: OffsetToCommit(reader.positions[place])}
