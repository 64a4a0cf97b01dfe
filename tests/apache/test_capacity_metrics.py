"""A workload observed through a real broker's JMX matches its logs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.capacity.metrics_observation import Known, write_measured
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.collect.metrics.broker_counters import collect_counters
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.free_port import free_port

IDS, EACH = 6, 40


def test_counters_of_a_real_broker_give_its_workload(
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    port = free_port()
    options = {
        "com.sun.management.jmxremote.port": port,
        "com.sun.management.jmxremote.rmi.port": port,
        "com.sun.management.jmxremote.host": "127.0.0.1",
        "java.rmi.server.hostname": "127.0.0.1",
        "com.sun.management.jmxremote.authenticate": "false",
        "com.sun.management.jmxremote.ssl": "false",
    }
    load = Load(Profile.CTP2, "orders", 2, IDS // 2, partition_count=2, record_bytes=300, warm_up_ms=0,
                duration_ms=600_000, transactions_per_id=EACH, prefix="measured")  # fmt: skip

    async def run(bootstrap: str) -> tuple[str, float]:
        urls = [f"jmx://127.0.0.1:{port}"]
        async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
            await ensure_topic(client, "orders", partition_count=6)
            before = await collect_counters(urls, system_now_ms, 60_000)
            assert not (await run_load(client, load, now_ms=system_now_ms)).errors
            for _ in range(60):
                # The last transactions complete after their answers.
                after = await collect_counters(urls, system_now_ms, 60_000)
                if after[0].outcomes.get("WriteTxnMarkers", 0) >= IDS * EACH * 3:
                    break
        seconds = (after[0].read_at_ms - before[0].read_at_ms) / 1000
        return write_measured("measured", before, after, Known(IDS, ("orders",))), seconds

    jvm_options = tuple(f"-D{key}={value}" for key, value in options.items())
    with apache_running("4.3.1", tmp_path / "kafka", jvm_options=jvm_options) as engine:
        text, seconds = asyncio.run(run(engine.bootstrap))
    workload = parse_workload(text, "measured.yaml")
    plan = plan_capacity(workload)
    count = IDS * EACH
    topics = {topic.name: topic for topic in plan.topics}
    assert workload.cluster.transaction_version == 2
    assert plan.transactions_per_s * seconds == pytest.approx(count, rel=0.01)
    assert plan.markers_per_s * seconds == pytest.approx(3 * count, rel=0.01)
    assert topics["orders"].data_batches_per_s * seconds == pytest.approx(2 * count, rel=0.01)
    assert topics["orders"].written * seconds == pytest.approx(count * 2 * (61 + 310 + 78), rel=0.1)
    assert topics["__transaction_state"].data_batches_per_s * seconds == pytest.approx(4 * count, rel=0.1)
    assert abs(workload.topic("orders").value_bytes - 300) <= 2
