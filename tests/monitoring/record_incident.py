"""Record what Prometheus would scrape of a real broker: ten minutes of healthy load, then an incident of many faults.

By hand, half an hour each::

    python -m tests.monitoring.record_incident AGENT.jar 4.3.1 healthy 10
    python -m tests.monitoring.record_incident AGENT.jar 4.3.1 incident 18

AGENT.jar is jmx_exporter's agent. The recordings in ``tests/fixtures/metrics`` were made so; tests replay them.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from eosctl.client import Client, Role, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, produce, wait_until_ended
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.errors import EosctlError
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.model.metric_page import MetricSample
from eosctl.model.transaction import TopicPartition
from eosctl.monitoring.cluster_gauges import measure_cluster
from eosctl.monitoring.exports import jmx_exporter_document
from eosctl.render.machine import render_yaml
from eosctl.services.callbacks import system_now_ms
from eosctl.services.export_cluster import READ_FROM_CLUSTER
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.lab.scenarios.stage.verification import VERIFICATION_SETTING
from tests.monitoring.promtool import ASKED
from tests.monitoring.series import SCRAPE_S, Series, series_name, value_text

SETTINGS = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    # A transaction is late for the broker after this and five minutes more.
    "transaction.max.timeout.ms": "60000",
}


def records(count: int = 10) -> list[OutgoingRecord]:
    return [OutgoingRecord(b"k", b"v" * 100)] * count


async def healthy_load(client: Client, place: TopicPartition) -> None:
    """Commit a transaction every half second, abort each twentieth."""
    producer = TransactionalProducer(client, "orders-app", now_ms=system_now_ms)
    await producer.init_transactions()
    for number in range(1_000_000):
        await producer.send(place, records())
        await (producer.abort() if number % 20 == 0 else producer.commit())
        await asyncio.sleep(0.5)


async def fence_again_and_again(client: Client, place: TopicPartition) -> None:
    """Let two instances share a transactional id."""
    while True:
        first = TransactionalProducer(client, "shared-id", now_ms=system_now_ms)
        await first.init_transactions()
        await TransactionalProducer(client, "shared-id", now_ms=system_now_ms).init_transactions()
        with contextlib.suppress(EosctlError):
            await first.send(place, records(1))
        await asyncio.sleep(1)


async def begin_too_early(client: Client, place: TopicPartition) -> None:
    """Begin each transaction right behind the last one's EndTxn, before its markers are written."""
    producer = TransactionalProducer(client, "back-to-back", now_ms=system_now_ms, dialect=TV1)
    await producer.init_transactions()
    while True:
        for _ in range(20):
            await producer.send(place, records(1))
            await producer.commit()
        await asyncio.sleep(0.2)


async def write_late(client: Client, place: TopicPartition) -> None:
    """Write batches of transactions that have ended; the leader asks the coordinator and refuses them."""
    producer = TransactionalProducer(client, "late-app", now_ms=system_now_ms, dialect=TV1)
    await producer.init_transactions()
    while True:
        await producer.send(place, records(1))
        late = producer.encode(place, records(1))
        await producer.commit()
        await wait_until_ended(client, "late-app")
        with contextlib.suppress(EosctlError):
            await produce(client, place, late, transactional_id="late-app", bounds=TV1.produce)
        # The refused batch used up a sequence number that the log never saw.
        await producer.init_transactions()
        await asyncio.sleep(2)


async def set_verification(client: Client, enabled: bool) -> None:
    change = AlterableConfig(VERIFICATION_SETTING, 0, str(enabled).lower())
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(4, "", [change])])
    await client.request(Role.CONTROLLER, ApiKey.INCREMENTAL_ALTER_CONFIGS, request)


def scrape(port: int) -> list[MetricSample]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        return [one for one in parse_samples(answer.read().decode()) if one.name in ASKED]


async def look(client: Client) -> list[MetricSample]:
    snapshot = await collect_snapshot(client, Observer(system_now_ms, second_look_after_ms=500), READ_FROM_CLUSTER)
    gauges = measure_cluster(snapshot)
    return [MetricSample(one.name, dict(each.labels), each.value) for one in gauges for each in one.samples]


def found_in(samples: list[MetricSample]) -> dict[str, str]:
    return {series_name("b1", one.name, one.labels.items()): value_text(one.value) for one in samples}


async def record(bootstrap: str, port: int, kind: str, minutes: float) -> Series:
    config = ClientConfig(parse_endpoints(bootstrap, "recording"))
    series = Series()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connect(config)) for _ in range(5)]
        place = (await ensure_topic(clients[0], "orders", partition_count=1)).partitions[0].partition
        other = (await ensure_topic(clients[0], "others", partition_count=1)).partitions[0].partition
        working = [asyncio.create_task(healthy_load(clients[0], place))]
        await asyncio.sleep(30)
        if kind == "incident":
            await set_verification(clients[1], False)
            await run_hanging(Stage(config, system_now_ms, random.Random(7)), patience_ms=10_000)
            await set_verification(clients[1], True)
            working += [
                asyncio.create_task(fence_again_and_again(clients[2], other)),
                asyncio.create_task(begin_too_early(clients[3], other)),
                asyncio.create_task(write_late(clients[4], other)),
            ]
        ends_at = time.monotonic() + minutes * 60
        while time.monotonic() < ends_at:
            began = time.monotonic()
            series.add(found_in([*await asyncio.to_thread(scrape, port), *await look(clients[1])]))
            for task in working:
                assert not task.done(), task
            await asyncio.sleep(max(0.0, SCRAPE_S - (time.monotonic() - began)))
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
    return series


def main(agent: str, version: str, kind: str, minutes: str) -> None:
    with socket.socket() as free, tempfile.TemporaryDirectory() as folder:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        free.close()
        configuration = Path(folder) / "exporter.yaml"
        configuration.write_text(render_yaml(jmx_exporter_document()), "utf-8")
        options = (f"-javaagent:{agent}=127.0.0.1:{port}:{configuration}",)
        shape = ApacheConfig(version, settings=SETTINGS, jvm_options=options)
        engine = ApacheNodes(shape, Path(folder) / "kafka", random.Random())
        asyncio.run(engine.up())
        try:
            series = asyncio.run(record(engine.bootstrap, port, kind, float(minutes)))
        finally:
            asyncio.run(engine.down())
    print(series.save(f"{kind}-{version}", version), series.count, len(series.values))


if __name__ == "__main__":
    main(*sys.argv[1:])
