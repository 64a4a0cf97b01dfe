"""Markers of a real Kafka Streams application with two sub-topologies, on a real broker, against its plan."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.capacity_plan import CapacityPlan
from tests.apache.test_streams import LONG_S, application, compile_word_count

PARTITIONS: Final = 4
LINES_PER_S: Final = 400
WATCHED_S: Final = 12
REPARTITION: Final = "word-count-KSTREAM-AGGREGATE-STATE-STORE-0000000004-repartition"
CHANGELOG: Final = "word-count-KSTREAM-AGGREGATE-STATE-STORE-0000000004-changelog"
OFFSETS: Final = "__consumer_offsets"
TOPICS: Final = ("lines", REPARTITION, CHANGELOG, "counts", OFFSETS)


class Appended(NamedTuple):
    """What was appended to a topic: records, and markers, which take an offset each."""

    records: int
    markers: int


class Lines:
    """Lines of one word each, at a steady rate, until the end."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._ended = Event()
        self._thread = Thread(target=self._write)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        assert self._producer.flush(LONG_S) == 0

    def _write(self) -> None:
        chosen = random.Random(1)
        while not self._ended.wait(0.01):
            for _ in range(LINES_PER_S // 100):
                self._producer.produce("lines", value=f"word-{chosen.randrange(100_000)}")
            self._producer.poll(0)


class Reader:
    """Offsets of a cluster, and the records between two moments."""

    def __init__(self, bootstrap: str) -> None:
        settings = {"bootstrap.servers": bootstrap, "group.id": "counting", "isolation.level": "read_uncommitted"}
        self._consumer = Consumer({**settings, "enable.auto.commit": False, "enable.partition.eof": True})

    def ends(self) -> dict[TopicPartition, int]:
        known = self._consumer.list_topics(timeout=LONG_S).topics
        every = [TopicPartition(topic, number) for topic in TOPICS for number in known[topic].partitions]
        return {one: self._consumer.get_watermark_offsets(one, LONG_S)[1] for one in every}

    def close(self) -> None:
        self._consumer.close()

    def count(self, before: Mapping[TopicPartition, int], after: Mapping[TopicPartition, int]) -> dict[str, Appended]:
        grown = {(one.topic, one.partition): (before[one], after[one]) for one in after if after[one] > before[one]}
        self._consumer.assign([TopicPartition(topic, number, began) for (topic, number), (began, _) in grown.items()])
        records, waiting = dict.fromkeys(TOPICS, 0), set(grown)
        while waiting:
            message = self._consumer.poll(LONG_S)
            assert message is not None
            place = (str(message.topic()), int(message.partition() or 0))
            ends_here = message.error() is not None or int(message.offset() or 0) >= grown[place][1]
            if ends_here:
                waiting.discard(place)
            elif place in waiting:
                records[place[0]] += 1
        offsets = {topic: sum(e - b for (name, _), (b, e) in grown.items() if name == topic) for topic in TOPICS}
        return {topic: Appended(records[topic], offsets[topic] - records[topic]) for topic in TOPICS}


def plan_of(threads: int, found: Mapping[str, Appended], rhythm: str) -> CapacityPlan:
    """Return the plan of the counted records, with this rhythm of commits."""
    rates = {name: f"{one.records / WATCHED_S}/s" for name, one in found.items()}
    text = f"""
kind: Workload
name: words
cluster: {{brokers: 1, replication_factor: 1, min_insync_replicas: 1, brokers_lost: 0, client_round_trip: 0 ms,
          replication_round_trip: 0 ms}}
topics:
  lines: {{partitions: {PARTITIONS}, rate: {rates["lines"]}, value: 10 B}}
  {REPARTITION}: {{partitions: {PARTITIONS}, rate: {rates[REPARTITION]}, key: 10 B, value: 10 B}}
  {CHANGELOG}:
    {{partitions: {PARTITIONS}, rate: {rates[CHANGELOG]}, key: 10 B, value: 16 B, cleanup: compact, live: 1 MB}}
  counts: {{partitions: {PARTITIONS}, rate: {rates["counts"]}, key: 10 B, value: 1 B}}
applications:
  words:
    kind: streams
    producers: {threads}
    {rhythm}
    reads: [lines, {REPARTITION}]
    writes: {{{REPARTITION}: auto, {CHANGELOG}: auto, counts: 1}}
    written_by: {{counts: {REPARTITION}}}
"""
    return plan_capacity(parse_workload(text, "words.yaml"))


@pytest.fixture
def watch(
    streams_jars: Path, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> Callable[[int, int], dict[str, Appended]]:
    """Return what runs the application, and counts what it appended while it was watched."""
    classes = tmp_path / "classes"
    classes.mkdir()
    java, *arguments = compile_word_count(streams_jars, classes)

    def run(threads: int, interval_ms: int) -> dict[str, Appended]:
        folder = tmp_path / str(interval_ms)
        folder.mkdir()
        command = [java, f"-Dthreads={threads}", f"-Dcommit.interval.ms={interval_ms}", *arguments]
        with apache_running("4.3.1", folder / "kafka") as engine:
            admin = AdminClient({"bootstrap.servers": engine.bootstrap})
            for created in admin.create_topics([NewTopic(name, PARTITIONS) for name in ("lines", "counts")]).values():
                created.result(LONG_S)
            reader = Reader(engine.bootstrap)
            with Lines(engine.bootstrap), application(command, engine.bootstrap, folder, "words") as (running, log):
                deadline = time.monotonic() + LONG_S
                while "state RUNNING" not in log.read_text():
                    assert running.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()[-4000:]
                    time.sleep(0.1)
                time.sleep(5)  # so that all tasks run, and have caught up
                before = reader.ends()
                time.sleep(WATCHED_S)
                after = reader.ends()
            found = reader.count(before, after)
            reader.close()
        return found

    return run


@pytest.mark.parametrize("threads", [8, pytest.param(6, marks=pytest.mark.long)])
def test_a_transaction_reaches_the_topics_of_its_tasks(
    threads: int, watch: Callable[[int, int], dict[str, Appended]]
) -> None:
    found = watch(threads, 100)
    plan = plan_of(threads, found, f"transactions: {found[OFFSETS].markers / WATCHED_S}/s")
    planned = {topic.name: topic.markers_per_s * WATCHED_S for topic in plan.topics}
    for topic in (REPARTITION, CHANGELOG, "counts", OFFSETS):
        assert planned[topic] == pytest.approx(found[topic].markers, rel=0.1), (topic, found, planned)


@pytest.mark.long  # `make prove calibrate` has it
def test_the_time_of_a_commit_holds_at_another_interval(watch: Callable[[int, int], dict[str, Appended]]) -> None:
    threads, first, second = 8, 100, 300
    commit_ms = threads * 1000 * WATCHED_S / watch(threads, first)[OFFSETS].markers - first
    found = watch(threads, second)
    plan = plan_of(threads, found, f"commit_interval: {second} ms\n    commit_duration: {commit_ms} ms")
    assert plan.transactions_per_s * WATCHED_S == pytest.approx(found[OFFSETS].markers, rel=0.1)
