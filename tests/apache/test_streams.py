"""Kafka Streams with exactly_once_v2 on the sandbox: killed in the middle, it restores and counts no word twice.

With the classic protocol, and with the streams protocol (KIP-1071) of both releases that have it.
"""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.apache.conftest import KafkaTool, fetch_streams
from tests.apache.java_programs import compile_java, java_command

SOURCE = Path(__file__).with_name("java") / "WordCount.java"
LONG_S = 180
WORDS = ("once", "twice", "thrice", "never")
LINE = " ".join(WORDS)


@pytest.fixture(scope="module")
def word_count(streams_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Compile the application; return the command line that runs it."""
    return compile_word_count(streams_jars, tmp_path_factory.mktemp("classes"))


def compile_word_count(jars: Path, classes: Path) -> list[str]:
    """Compile the application against some release of Kafka Streams; return the command line that runs it."""
    compile_java(SOURCE, classes, f"{jars}/*")
    return java_command(f"{classes}:{jars}/*", "WordCount", heap_mib=256)


@contextmanager
def application(
    command: list[str], bootstrap: str, folder: Path, name: str, state: str = "state"
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        running = subprocess.Popen([*command, bootstrap, str(folder / state)], stdout=output, stderr=subprocess.STDOUT)
    try:
        yield running, log
    finally:
        running.kill()
        running.wait()


class Counts:
    """What a downstream reader of committed records sees of each word, in order."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "downstream",
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
            }
        )
        self._consumer.subscribe(["counts"])
        self.seen: dict[str, list[int]] = defaultdict(list)

    def read_until(self, holds: Callable[[], bool], running: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + LONG_S
        while not holds():
            assert running.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()[-4000:]
            message = self._consumer.poll(0.2)
            if message is not None and message.error() is None:
                self.seen[message.key().decode()].append(int(message.value()))

    def close(self) -> None:
        self._consumer.close()


def write_lines(bootstrap: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    for number in range(count):
        producer.produce("lines", key=str(number), value=LINE)
    assert producer.flush(LONG_S) == 0


def test_words_are_counted_exactly_once_through_a_crash(word_count: list[str], tmp_path: Path) -> None:
    with SandboxThread(brokers=1, emulate="4.3", fast=False) as sandbox:
        bootstrap = sandbox.bootstrap
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for created in admin.create_topics([NewTopic("lines", 2), NewTopic("counts", 2)]).values():
            created.result(LONG_S)
        counts = Counts(bootstrap)
        write_lines(bootstrap, 300)
        with application(word_count, bootstrap, tmp_path, "first") as (running, log):
            counts.read_until(lambda: sum(map(len, counts.seen.values())) >= 200, running, log)
            write_lines(bootstrap, 300)  # so that the crash comes while there is work
            running.kill()
            running.wait()
        with application(word_count, bootstrap, tmp_path, "second") as (running, log):
            counts.read_until(lambda: all(len(counts.seen[word]) >= 600 for word in WORDS), running, log)
            restored = [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("restored")]
            assert sum(restored) > 0, "the store came back from its changelog"
            running.terminate()
            running.wait(LONG_S)
        counts.close()
    assert dict(counts.seen) == {word: list(range(1, 601)) for word in WORDS}


#: A killed member is noticed after seconds.
QUICK_SESSIONS = {
    "group.streams.min.heartbeat.interval.ms": "1000",
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.min.session.timeout.ms": "6000",
    "group.streams.session.timeout.ms": "6000",
}


@pytest.mark.parametrize(
    ("version", "release"), [pytest.param("4.3.1", "4.3", marks=pytest.mark.long), ("4.4.0", "4.4")]
)
def test_a_streams_group_counts_through_a_crash(
    version: str, release: str, kafka_tool: KafkaTool, tmp_path: Path
) -> None:
    classes = tmp_path / "classes"
    classes.mkdir()
    java, *arguments = compile_word_count(fetch_streams(version), classes)
    command = [java, "-Dgroup.protocol=streams", "-Dthreads=2", *arguments]
    with SandboxThread(brokers=1, emulate=release, fast=False, config=QUICK_SESSIONS) as sandbox:
        bootstrap = sandbox.bootstrap
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for created in admin.create_topics([NewTopic("lines", 4), NewTopic("counts", 4)]).values():
            created.result(LONG_S)
        counts = Counts(bootstrap)

        def total() -> int:
            return sum(map(len, counts.seen.values()))

        write_lines(bootstrap, 250)
        with application(command, bootstrap, tmp_path, "first", "state-1") as (first, first_log):
            counts.read_until(lambda: total() >= 200, first, first_log)
            with application(command, bootstrap, tmp_path, "second", "state-2") as (second, log):
                counts.read_until(lambda: b"state RUNNING" in log.read_bytes(), second, log)
                write_lines(bootstrap, 250)
                counts.read_until(lambda: total() >= 1200, second, log)
                first.kill()
                first.wait()
                counts.read_until(lambda: total() >= 2000, second, log)
                described = kafka_tool(
                    "org.apache.kafka.tools.streams.StreamsGroupCommand",
                    *("--bootstrap-server", bootstrap, "--describe", "--group", "word-count", "--state"),
                    version=version,
                )
                second.terminate()
                second.wait(LONG_S)
        counts.close()
    assert dict(counts.seen) == {word: list(range(1, 501)) for word in WORDS}
    assert described.stdout.split()[-2:] == ["Stable", "2"]
