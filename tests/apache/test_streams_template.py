"""The documented template for Kafka Streams, killed twice while `verify dlq` tests it on a real broker."""

from __future__ import annotations

import asyncio
import re
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import javaproperties
import pytest

from eosctl.client import connect
from eosctl.client.consumer import Reader
from eosctl.client.topics import ensure_topic
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.apache.java_programs import compile_java, java_command
from tests.commands.conftest import eosctl

EXAMPLE: Final = Path(__file__).parents[2] / "docs" / "examples" / "streams"
TOPICS: Final = ("template-orders", "template-invoices", "template-rejected")
#: Settings for a cluster of one broker, and for a short wait after a killed member.
HERE: Final = {
    "application.id": "template-pricing",
    "replication.factor": "1",
    "topic.min.insync.replicas": "1",
    "consumer.session.timeout.ms": "6000",
    "errors.dead.letter.queue.topic.name": TOPICS[2],
}
LIVES_S: Final = (12.0, 10.0)


@pytest.fixture(scope="module")
def command(streams_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Compile the template; return the command line that starts it, without its arguments."""
    classes = tmp_path_factory.mktemp("classes")
    compile_java(EXAMPLE / "ExactlyOnceStreams.java", classes, f"{streams_jars}/*", "-Xlint:all", "-Werror")
    return java_command(f"{classes}:{streams_jars}/*", "ExactlyOnceStreams", heap_mib=256)


@contextmanager
def supervised(command: list[str], log: Path) -> Iterator[list[int]]:
    """Keep the application running and kill it after each of its first lives; yields how its lives ended."""
    over = threading.Event()
    ends: list[int] = []

    def supervise() -> None:
        lives = iter(LIVES_S)
        while not over.is_set():
            with log.open("ab") as output:
                running = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
            if not over.wait(next(lives, 600.0)):
                running.kill()
            else:
                running.terminate()
            ends.append(running.wait(60))

    thread = threading.Thread(target=supervise, daemon=True)
    thread.start()
    try:
        yield ends
    finally:
        over.set()
        thread.join(90)
        assert not thread.is_alive()


def test_the_template_is_exactly_once_though_it_is_killed(
    apache_4_3: ApacheNodes, command: list[str], tmp_path: Path
) -> None:
    config = ClientConfig(parse_endpoints(apache_4_3.bootstrap, "test"))

    async def create() -> None:
        async with connect(config) as client:
            for topic in TOPICS:
                await ensure_topic(client, topic, partition_count=2)

    async def invoices() -> dict[bytes | None, list[int]]:
        async with connect(config) as client:
            reader = await Reader.open(client, [TopicPartition(TOPICS[1], number) for number in range(2)])
            numbers: dict[bytes | None, list[int]] = defaultdict(list)
            for records in (await reader.drain(20_000)).values():
                for record in records:
                    (number,) = re.findall(rb"^#(\d+) priced ", record.value or b"")
                    numbers[record.key].append(int(number))
            return numbers

    asyncio.run(create())
    settings = javaproperties.loads((EXAMPLE / "streams.properties").read_text("utf-8")) | HERE
    settings |= {"bootstrap.servers": apache_4_3.bootstrap, "state.dir": str(tmp_path / "state")}
    file = tmp_path / "streams.properties"
    file.write_text(javaproperties.dumps(settings))
    log = tmp_path / "application.log"
    with supervised([*command, str(file), *TOPICS[:2]], log) as ends:
        done = eosctl(
            *("verify", "dlq", "-b", apache_4_3.bootstrap, "--read", TOPICS[0], "--write", TOPICS[1]),
            *("--dlq", TOPICS[2], "--group", HERE["application.id"], "--inputs", "1500", "--rate", "60"),
            *("--poison-share", "0.1", "--abort-share", "0.2", "--seed", "5", "--settle", "60s", "--yes", "-o", "json"),
        )
        assert done.code == 0, done.out + log.read_text()
    assert ends == [-9, -9, 143], log.read_text()
    (item,) = done.json["items"]
    assert item["dead_letter_count"] > 50
    numbers = asyncio.run(invoices())
    assert len(numbers) == 10
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
