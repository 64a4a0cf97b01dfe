"""Record what Prometheus would scrape of a real broker with a fault; by hand, some minutes each::

    python -m tests.monitoring.recording.broker AGENT.jar SLOW_DISK.so NAME...

AGENT.jar is jmx_exporter's agent; slow_disk.c explains how to build SLOW_DISK.so. The recordings in
``tests/fixtures/metrics`` were made so, tests replay them.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path

from eosctl.client import connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.errors import EosctlError
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TransactionLook
from eosctl.monitoring.cluster_gauges import measure_cluster, unreachable
from eosctl.monitoring.exports import jmx_exporter_document
from eosctl.render.machine import render_yaml
from eosctl.services.callbacks import system_now_ms
from eosctl.services.export_cluster import READ_FROM_CLUSTER
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.free_port import free_port
from tests.monitoring.promtool import ASKED
from tests.monitoring.recording.broker_faults import BROKER_FAULTS, BrokerFault, Stand
from tests.monitoring.recording.separate import SeparateNodes
from tests.monitoring.series import SCRAPE_S, Series, series_name, value_text

VERSION = "4.3.1"
SETTINGS = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}


def scrape(port: int, instance: str) -> dict[str, str]:
    """Return the asked series of a page; none when it does not answer, as Prometheus then has none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SCRAPE_S) as answer:
            samples = list(parse_samples(answer.read().decode()))
    except (urllib.error.URLError, OSError):
        return {}
    return {
        series_name(instance, one.name, one.labels.items()): value_text(one.value)
        for one in samples
        if one.name in ASKED
    }


async def look(bootstrap: str, earlier: list[TransactionLook]) -> dict[str, str]:
    """Return the exporter's metrics; keeps the transactions for its next poll."""
    config = ClientConfig(parse_endpoints(bootstrap, "the recording"))
    try:
        async with connect(config, allowed_apis=READ_ONLY_APIS) as client:
            snapshot = await collect_snapshot(
                client, Observer(system_now_ms, second_look_after_ms=500), READ_FROM_CLUSTER
            )
        gauges = measure_cluster(snapshot, *earlier)
        earlier[:] = snapshot.looks[-1:]
    except EosctlError:
        gauges = unreachable()
    return {
        series_name("e", one.name, each.labels): value_text(each.value)
        for one in gauges
        for each in one.samples
        if one.name in ASKED
    }


async def record(engine: ApacheNodes | SeparateNodes, port: int, slow_disk: Path, fault: BrokerFault) -> Series:
    series, earlier = Series(), list[TransactionLook]()
    async with AsyncExitStack() as stack:
        await fault.make(Stand(engine, slow_disk, stack))
        ends_at = time.monotonic() + fault.minutes * 60
        result = await look(engine.bootstrap, earlier)
        seen = asyncio.create_task(look(engine.bootstrap, earlier))
        while time.monotonic() < ends_at:
            began = time.monotonic()
            # A poll takes longer than a scrape while the cluster has problems: Prometheus then reads the last page.
            if seen.done():
                result = await seen
                seen = asyncio.create_task(look(engine.bootstrap, earlier))
            series.add(await asyncio.to_thread(scrape, port, "b1") | result)
            await asyncio.sleep(max(0.0, SCRAPE_S - (time.monotonic() - began)))
        seen.cancel()
    return series


def main(agent: str, library: str, *names: str) -> None:
    for name in names:
        fault = BROKER_FAULTS[name]
        with tempfile.TemporaryDirectory() as folder:
            port, configuration, slow_disk = free_port(), Path(folder) / "exporter.yaml", Path(folder) / "slow"
            configuration.write_text(render_yaml(jmx_exporter_document()), "utf-8")
            slow_disk.write_text("0 0\n", "utf-8")
            os.environ.update(LD_PRELOAD=str(Path(library).absolute()), SLOW_DISK=str(slow_disk))
            options = (f"-javaagent:{agent}=127.0.0.1:{port}:{configuration}",)
            settings = SETTINGS | dict(fault.settings)
            engine: ApacheNodes | SeparateNodes
            if fault.separate:
                engine = SeparateNodes(VERSION, settings, options, Path(folder) / "kafka")
            else:
                shape = ApacheConfig(VERSION, settings=settings, jvm_options=options)
                engine = ApacheNodes(shape, Path(folder) / "kafka", random.Random())
            try:
                asyncio.run(engine.up())
                series = asyncio.run(record(engine, port, slow_disk, fault))
            finally:
                asyncio.run(engine.down())
        print(series.save(f"{name}-{VERSION}", VERSION), series.count, len(series.values), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
