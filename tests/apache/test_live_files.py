"""fsck on the data directory of a busy real broker: incomplete writes are not reported."""

from __future__ import annotations

import asyncio
import threading
import uuid
from pathlib import Path

import pytest

from eosctl.client import Client
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.services.callbacks import system_now_ms
from tests.commands.conftest import eosctl
from tests.commands.open_transactions import on, record

pytestmark = pytest.mark.usefixtures("own_home")

LANES = 3
LOOKS = 2


def warnings_of(directory: Path, *, second_look_after: str) -> set[tuple[str, str, int | None]]:
    """Return what fsck warns of; other tests leave things behind that it may well warn of."""
    done = eosctl("fsck", directory, "-o", "json", "--second-look-after", second_look_after)
    assert done.code in (0, 3), done.err
    assert "both readings" in done.err, "the broker holds the directory's lock"
    items = [item for item in done.json["items"] if item["severity"] != "info"]
    return {(item["kind"], item["file"], item["offset"]) for item in items}


@pytest.mark.parametrize("apache", [pytest.param("3.9.2", marks=pytest.mark.long), "4.3.1"], indirect=True)
def test_a_busy_broker_raises_no_alarm(apache: ApacheNodes) -> None:
    run = uuid.uuid4().hex[:8]
    (directory,) = apache.data_dirs().values()
    before = warnings_of(directory, second_look_after="1s")
    stop, busy = threading.Event(), threading.Event()
    counts: list[int] = []

    async def lane(client: Client, number: int) -> None:
        found = await ensure_topic(client, f"busy-{run}", partition_count=4)
        producer = TransactionalProducer(client, f"busy-{run}-{number}", now_ms=system_now_ms, dialect=TV1)
        await producer.init_transactions()
        count = 0
        while not stop.is_set():
            partition = found.partitions[(count + number) % 4].partition
            await producer.send(partition, [record(str(count))] * 3)
            await producer.send_offsets(GroupIdentity(f"busy-{run}"), {partition: OffsetToCommit(count)})
            await producer.end(committed=bool(count % 5))
            count += 1
            busy.set()
        counts.append(count)

    async def load(client: Client) -> None:
        await asyncio.gather(*(lane(client, number) for number in range(LANES)))

    loader = threading.Thread(target=lambda: on(apache.bootstrap, load))
    loader.start()
    try:
        assert busy.wait(60)
        for _ in range(LOOKS):
            assert warnings_of(directory, second_look_after="300ms") <= before
    finally:
        stop.set()
        loader.join()
    assert len(counts) == LANES
