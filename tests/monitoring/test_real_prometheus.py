"""A real Prometheus scrapes a sandbox and the exporter: silent while all is well, loud when a transaction hangs."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.model.client_config import ClientConfig
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.monitoring.alerts import rules_document
from eosctl.monitoring.endpoint import plain_page, serve
from eosctl.monitoring.exporter import Exporter
from eosctl.render.prometheus import render_gauges
from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.services.callbacks import system_now_ms
from eosctl.services.export_cluster import READ_FROM_CLUSTER
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.monitoring.prometheus import (
    DEADLINE_S,
    FASTER,
    HEALTHY_S,
    firing,
    free_port,
    requires_prometheus,
    running_prometheus,
    scraped,
)

EVERY_MS = 15_000 if FASTER == 1 else 500
LONGEST_HOLD_S = 300 / FASTER


async def load(client: Client) -> None:
    place = (await ensure_topic(client, "others")).partitions[0].partition
    producer = TransactionalProducer(client, "others-app", now_ms=system_now_ms)
    await producer.init_transactions()
    for number in range(1_000_000):
        await producer.send(place, [OutgoingRecord(b"k", b"v")] * 10)
        await (producer.abort() if number % 20 == 0 else producer.commit())
        await asyncio.sleep(0.5)


async def wait_for_targets(url: str, count: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while list((await asyncio.to_thread(scraped, url)).values()) != ["up"] * count:
            await asyncio.sleep(0.1)


async def play(folder: Path) -> None:
    node_port = free_port()
    settings = (("transaction.partition.verification.enable", "false"),)
    # One node, whose replicas nothing can keep apart on a busy machine.
    spec = SandboxSpec("alerts", str(folder / "data"), fast=True, metrics_port=node_port, settings=settings)
    cluster = Cluster(spec)
    await cluster.start()
    try:
        config = ClientConfig(parse_endpoints(cluster.bootstrap, "the test"))
        async with connect(config) as client:

            async def look() -> ClusterSnapshot:
                async with connect(config, allowed_apis=READ_ONLY_APIS) as reader:
                    return await collect_snapshot(
                        reader, Observer(system_now_ms, second_look_after_ms=200), READ_FROM_CLUSTER
                    )

            exporter, port = Exporter(look, print), free_port()
            jobs = {"kafka": [f"127.0.0.1:{node_port}"], "eosctl": [f"127.0.0.1:{port}"]}
            with running_prometheus(folder, jobs, rules_document(FASTER), EVERY_MS) as url:
                async with await serve("127.0.0.1", port, plain_page(lambda: render_gauges(exporter.gauges))):
                    await exporter.refresh()
                    tasks = [asyncio.create_task(exporter.keep_fresh(EVERY_MS)), asyncio.create_task(load(client))]
                    try:
                        await wait_for_targets(url, 2)
                        await watch_health(url, tasks)
                        await run_hanging(Stage(config, system_now_ms, random.Random(7)))
                        await wait_for_alarm(url)
                    finally:
                        for task in tasks:
                            task.cancel()
                        await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        await cluster.stop()


async def watch_health(url: str, tasks: list[asyncio.Task[None]]) -> None:
    ends_at = time.monotonic() + HEALTHY_S
    while time.monotonic() < ends_at:
        assert await asyncio.to_thread(firing, url) == frozenset()
        assert not any(task.done() for task in tasks), tasks
        await asyncio.sleep(EVERY_MS / 1000)


async def wait_for_alarm(url: str) -> None:
    expected = {"EosHangingTransaction", "EosLastStableOffsetStalled"}
    async with asyncio.timeout(DEADLINE_S + 2 * LONGEST_HOLD_S):
        while (seen := await asyncio.to_thread(firing, url)) != expected:
            assert seen <= expected
            await asyncio.sleep(EVERY_MS / 2000)


@requires_prometheus
@pytest.mark.timeout(1800 if FASTER == 1 else 600)
def test_alerts_fire_on_a_hanging_transaction_alone(tmp_path: Path) -> None:
    asyncio.run(play(tmp_path))
