"""A real Flink sink leaves as many producers on a real broker as plans say, with each naming strategy."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.engine import MissingTool
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from tests.apache.java_programs import compile_java, java_command
from tests.apache.libraries import flink

SOURCE = Path(__file__).with_name("java") / "FlinkSink.java"
BROKER: Final = 1
LONG_S: Final = 180
SUBTASKS, PARTITIONS, CHECKPOINTS, INTERVAL_MS = 2, 4, 12, 400
OPENED = tuple(f"--add-opens=java.base/java.{part}=ALL-UNNAMED" for part in ("lang", "util", "time"))


class Sink(NamedTuple):
    """Releases of Flink and its connector, and how the sink names its transactional ids."""

    flink: str
    connector: str
    strategy: str

    @property
    def naming(self) -> str:
        return self.strategy.lower() or "incrementing"


SINKS = (
    Sink("1.20.0", "3.4.0-1.20", ""),  # has one way only
    Sink("2.0.0", "4.0.1-2.0", "INCREMENTING"),
    Sink("2.0.0", "4.0.1-2.0", "POOLING"),
)


def compile_sink(sink: Sink, classes: Path) -> list[str]:
    """Compile the job, and return the command line that runs it in one JVM."""
    try:
        jars = resolve_jars(flink(sink.flink, sink.connector))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    compile_java(SOURCE, classes, f"{jars}/*", "-nowarn")
    return java_command(f"{classes}:{jars}/*", "FlinkSink", *OPENED, heap_mib=512, release="4.4.0")


@contextmanager
def job(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as running:
        try:
            yield running
        finally:
            running.kill()


def wait_for_checkpoints(running: subprocess.Popen[bytes], log: Path) -> int:
    """Wait until enough checkpoints are complete, and return their number."""
    deadline = time.monotonic() + LONG_S
    while log.read_text().count("checkpoint ") < CHECKPOINTS:
        assert running.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.02)
    running.kill()
    running.wait()
    return log.read_text().count("checkpoint ")


async def create_topic(bootstrap: str, topic: str) -> None:
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        await ensure_topic(client, topic, partition_count=PARTITIONS)


async def remembered_producers(bootstrap: str, topic: str) -> list[set[int]]:
    """Return the producer ids that each partition remembers."""
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        request = DescribeProducersRequest([TopicRequest(topic, list(range(PARTITIONS)))])
        answer = await client.request(BROKER, ApiKey.DESCRIBE_PRODUCERS, request)
    return [{one.producer_id for one in part.active_producers} for found in answer.topics for part in found.partitions]


def predicted_entries(naming: str, checkpoints: int) -> float:
    """Return the producer states that a plan has for as many checkpoints: its producer ids live no longer."""
    text = f"""
kind: Workload
name: sink
cluster:
  brokers: 1
  replication_factor: 1
  min_insync_replicas: 1
  brokers_lost: 0
  producer_id_expiration: {checkpoints * INTERVAL_MS} ms
topics: {{numbers: {{partitions: {PARTITIONS}, rate: 1500/s, key: 4 B, value: 4 B, batch_records: 1}}}}
applications:
  sink:
    kind: flink
    producers: {SUBTASKS}
    commit_interval: {INTERVAL_MS} ms
    transaction_timeout: 60 s
    naming: {naming}
    writes: {{numbers: auto}}
"""
    (sink,) = plan_capacity(parse_workload(text, "sink.yaml")).applications
    return sink.producer_entries


@pytest.mark.long  # `make prove calibrate` has it
@pytest.mark.parametrize("sink", SINKS, ids=["connector-3.4", "connector-4.0-incrementing", "connector-4.0-pooling"])
def test_a_sink_leaves_the_planned_producers(sink: Sink, apache_4_4: ApacheNodes, tmp_path: Path) -> None:
    topic = f"numbers-{sink.connector}-{sink.naming}"
    classes, log = tmp_path / "classes", tmp_path / "log"
    classes.mkdir()
    command = [*compile_sink(sink, classes), apache_4_4.bootstrap, topic, str(SUBTASKS), str(INTERVAL_MS)]
    asyncio.run(create_topic(apache_4_4.bootstrap, topic))
    with job([*command, *([sink.strategy] if sink.strategy else [])], log) as running:
        checkpoints = wait_for_checkpoints(running, log)
    remembered = asyncio.run(remembered_producers(apache_4_4.bootstrap, topic))
    # A transaction is open when the job is killed, and one more checkpoint may be complete than it printed.
    least, most = (predicted_entries(sink.naming, checkpoints + more) for more in (0, 2))
    assert least * 0.99 <= sum(map(len, remembered)) <= most * 1.01
    if sink.naming == "pooling":
        assert len(set.union(*remembered)) == 2 * SUBTASKS
