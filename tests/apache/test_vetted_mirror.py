"""MirrorMaker 2 with its vetted configuration: committed records are copied once, aborted ones never, past a kill."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from tests.apache.conftest import running
from tests.apache.java_programs import java_command
from tests.apache.libraries import library
from tests.settings.filled_profiles import filled

pytestmark = pytest.mark.long

VERSION = "4.3.1"
LONG_S = 300
HALF = 200


@pytest.fixture(scope="module")
def program() -> list[str]:
    release = resolve_release(VERSION)
    try:
        mirror = library(f"mirror-{VERSION}", f"org.apache.kafka:connect-mirror:{VERSION}")
        jars = [resolve_jars(release), resolve_jars(mirror)]
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    path = ":".join(f"{folder}/*" for folder in jars)
    quiet = "-Dorg.apache.logging.log4j.level=ERROR"
    return java_command(path, "org.apache.kafka.connect.mirror.MirrorMaker", quiet, heap_mib=512, release=VERSION)


@contextmanager
def mirroring(program: list[str], properties: Path, log: Path) -> Iterator[None]:
    """Run MirrorMaker; it is killed at the end."""
    with log.open("ab") as output:
        running = subprocess.Popen([*program, str(properties)], stdout=output, stderr=subprocess.STDOUT)
    try:
        yield
        assert running.poll() is None, log.read_text()[-4000:]
    finally:
        running.kill()
        running.wait()


def write(bootstrap: str, first: int) -> None:
    """Commit half of the records, ten in a transaction, with as many aborted ones between them."""
    producer = Producer(
        {**filled("librdkafka-transactional", TRANSACTIONAL_ID="origin"), "bootstrap.servers": bootstrap}
    )
    producer.init_transactions(LONG_S)
    for start in range(first, first + HALF, 10):
        for end, sign in ((producer.abort_transaction, "-"), (producer.commit_transaction, "+")):
            producer.begin_transaction()
            for number in range(start, start + 10):
                producer.produce("orders", f"{sign}{number}")
            producer.flush(LONG_S)
            end(LONG_S)


def read(reader: Consumer, count: int, seen: dict[int, str]) -> None:
    """Read `count` records by offset, since a group without commits starts over after a rebalance."""
    deadline = time.monotonic() + LONG_S
    while len(seen) < count:
        assert time.monotonic() < deadline, list(seen.items())[-20:]
        read_some(reader, 1000, 0.5, seen)


def read_some(reader: Consumer, count: int, timeout_s: float, seen: dict[int, str]) -> None:
    for message in reader.consume(count, timeout_s):
        offset, value = message.offset(), message.value()
        if message.error() is None and offset is not None and value is not None:
            seen[offset] = value.decode()


def test_committed_records_are_copied_once(program: list[str], tmp_path: Path) -> None:
    with running(VERSION, tmp_path / "brokers", filled("broker-eos-production"), node_count=3) as engine:
        # One cluster under two names: the copy's name begins with that of its origin.
        properties = {
            **filled("mirrormaker2-eos"),
            **{f"{alias}.bootstrap.servers": engine.bootstrap for alias in ("source", "target")},
            "source->target.topics": "orders",
            "refresh.topics.interval.seconds": "1",
            "listeners": "http://127.0.0.1:0",
        }
        file, log = tmp_path / "mm2.properties", tmp_path / "mm2.log"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()), "utf-8")
        admin = AdminClient({"bootstrap.servers": engine.bootstrap})
        admin.create_topics([NewTopic("orders", 1, 3)])["orders"].result(LONG_S)
        settings = filled("consumer-read-committed", GROUP_ID="reader")
        reader = Consumer(
            {**settings, "bootstrap.servers": engine.bootstrap, "topic.metadata.refresh.interval.ms": 1000}
        )
        reader.subscribe(["^source.orders"])
        seen: dict[int, str] = {}
        write(engine.bootstrap, 0)
        with mirroring(program, file, log):
            read(reader, HALF // 2, seen)  # killed while it copies, or just after
        write(engine.bootstrap, HALF)
        with mirroring(program, file, log):
            read(reader, 2 * HALF, seen)
            read_some(reader, 1, 3.0, seen)
        reader.close()
    assert [seen[offset] for offset in sorted(seen)] == [f"+{number}" for number in range(2 * HALF)]
