"""What a kill costs a real application with transactional state stores and without: docs/transactional-stores.md."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from eosctl.capacity.memory import MEMTABLE_BYTES
from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.conftest import fetch_streams
from tests.apache.java_programs import compile_java, java_command

SOURCE: Final = Path(__file__).parents[2] / "docs" / "examples" / "streams" / "CountsThroughCrash.java"
PATIENCE_S: Final = 240
#: 20 MB for each of two tasks: RocksDB writes the first memtable of 16 MiB out.
COUNT: Final = 40_000
RECORD_BYTES: Final = 1_000


class Counting:
    """The application of the page on a cluster, with one group and state directory over its lives."""

    def __init__(self, engine: ApacheNodes, folder: Path, setting: str) -> None:
        jars = fetch_streams("4.4.0")
        compile_java(SOURCE, folder, f"{jars}/*")
        self._command = java_command(f"{folder}:{jars}/*", SOURCE.stem, heap_mib=384, release="4.4.0")
        self._bootstrap = engine.bootstrap
        self._group = f"counts-{setting}"
        self._log = folder / "output.log"
        self._settings = folder / "counts.properties"
        self._settings.write_text(
            f"bootstrap.servers={engine.bootstrap}\napplication.id={self._group}\nstate.dir={folder / 'state'}\n"
            f"processing.guarantee=exactly_once_v2\nenable.transactional.statestores={setting}\nreplication.factor=1\n"
            "auto.offset.reset=earliest\nconsumer.session.timeout.ms=6000\nstatestore.cache.max.bytes=0\n",
            "utf-8",
        )

    def fill(self) -> subprocess.Popen[bytes]:
        """Begin to write records."""
        return subprocess.Popen([*self._command, "fill", self._bootstrap, str(COUNT)])

    @contextmanager
    def life(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run it, and kill it."""
        with self._log.open("wb") as output:
            running = subprocess.Popen([*self._command, "run", str(self._settings)], stdout=output, stderr=output)
        try:
            yield running
        finally:
            running.kill()
            running.wait()

    def wait_until_handled(self, count: int, running: subprocess.Popen[bytes]) -> None:
        """Wait until it has committed so many records."""
        deadline = time.monotonic() + PATIENCE_S
        while self.handled() < count:
            assert running.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, self._log.read_text()

    def handled(self) -> int:
        """Return how many records it has committed."""
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": self._group})
        try:
            places = [TopicPartition("events", number) for number in (0, 1)]
            return sum(max(place.offset, 0) for place in consumer.committed(places, 10))
        except KafkaException:
            return 0  # its coordinator is loading
        finally:
            consumer.close()

    def written(self) -> int:
        """Return how many records there are for it."""
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": "nobody"})
        try:
            return sum(consumer.get_watermark_offsets(TopicPartition("events", number), 10)[1] for number in (0, 1))
        finally:
            consumer.close()

    def restored(self) -> int:
        """Return how many records the present life has restored."""
        return sum(map(int, re.findall(r"^restored .*: (\d+) records", self._log.read_text(), re.M)))


@pytest.mark.long
@pytest.mark.parametrize("setting", ["false", "true"])
def test_what_a_kill_costs(apache_4_4: ApacheNodes, tmp_path: Path, setting: str) -> None:
    application = Counting(apache_4_4, tmp_path, setting)
    assert application.fill().wait(PATIENCE_S) == 0
    with application.life() as running:
        application.wait_until_handled(application.written(), running)
        filling = application.fill()
        application.wait_until_handled(application.handled() + COUNT // 8, running)
    handled = application.handled()
    assert filling.wait(PATIENCE_S) == 0
    with application.life() as running:
        application.wait_until_handled(handled + COUNT // 4, running)
        restored = application.restored()
    # A commit can be on its way when the process is killed, and so be in the changelog before the group has it.
    if setting == "false":
        assert restored >= handled
    else:
        assert 0 < restored <= 2 * MEMTABLE_BYTES / RECORD_BYTES < handled
