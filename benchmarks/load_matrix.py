"""Measure throughput by commit interval, batch, linger, and mode, as a Markdown table.

    python benchmarks/load_matrix.py             the sandbox alone
    python benchmarks/load_matrix.py --apache    and one node of Apache Kafka 4.3.1 (Java 17, Maven)
    python benchmarks/load_matrix.py --quick     a short trial, not a measurement

One producer (librdkafka) writes as fast as it can. Each transactional row is compared with the same row without
transactions, measured just before and just after it, and with the minimum that a plan expects: the share that is left
when every interval stands still for all of its commit (formula F34). A commit also sends what waits in the queue.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import mean, quantiles
from typing import NamedTuple

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.capacity.latency import throughput_share
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec

INTERVALS_MS = (50, 100, 500, 1_000)
BATCHES = ((16_384, 0), (16_384, 5), (131_072, 20))
RECORD_BYTES = 1_000
PARTITIONS = 6
WARM_UP_S = 1.0
VALUE = b"x" * RECORD_BYTES
QUEUED_RECORDS = 2_000


class Mode(NamedTuple):
    """How a producer writes; `interval_ms` None means no transactions, i.e. at-least-once with idempotence."""

    interval_ms: int | None
    batch_size_bytes: int
    linger_ms: int


class Outcome(NamedTuple):
    """The result of a producer."""

    records_per_s: float
    commits_ms: tuple[float, ...]


def produce(bootstrap: str, topic: str, mode: Mode, duration_s: float) -> Outcome:
    """Write for a duration and return the acknowledged records per second, in intervals that end with a commit.

    Without transactions, an interval ends with a flush at the end of the whole run.
    """
    settings: dict[str, str | int | bool] = {
        "bootstrap.servers": bootstrap,
        "enable.idempotence": True,
        "batch.size": mode.batch_size_bytes,
        "linger.ms": mode.linger_ms,
        # Queued records at the end of the interval prolong the commit.
        "queue.buffering.max.messages": QUEUED_RECORDS,
    }
    if mode.interval_ms is not None:
        settings["transactional.id"] = f"matrix-{mode.interval_ms}-{mode.batch_size_bytes}-{mode.linger_ms}"
    producer = confluent_kafka.Producer(settings)
    if mode.interval_ms is None:
        write(producer, topic, WARM_UP_S)
        producer.flush(60)
        began = time.monotonic()
        count = write(producer, topic, duration_s)
        producer.flush(60)
        return Outcome(count / (time.monotonic() - began), ())
    producer.init_transactions(60)
    transact(producer, topic, mode.interval_ms, WARM_UP_S)
    began = time.monotonic()
    count, commits = transact(producer, topic, mode.interval_ms, duration_s)
    return Outcome(count / (time.monotonic() - began), tuple(commits))


def transact(
    producer: confluent_kafka.Producer, topic: str, interval_ms: int, duration_s: float
) -> tuple[int, list[float]]:
    """Run transactions for a duration; return their records and the duration of each commit, in milliseconds."""
    ends, count, commits = time.monotonic() + duration_s, 0, []
    while time.monotonic() < ends:
        producer.begin_transaction()
        count += write(producer, topic, interval_ms / 1000)
        called = time.monotonic()
        producer.commit_transaction(60)
        commits.append((time.monotonic() - called) * 1000)
    return count, commits


def write(producer: confluent_kafka.Producer, topic: str, duration_s: float) -> int:
    """Produce records for a duration; wait while the queue is full."""
    ends, count = time.monotonic() + duration_s, 0
    while time.monotonic() < ends:
        try:
            for _ in range(20):
                producer.produce(topic, VALUE, partition=count % PARTITIONS)
                count += 1
        except BufferError:
            producer.poll(0.002)
        producer.poll(0)
    return count


def rows(bootstrap: str, duration_s: float, intervals: tuple[int, ...]) -> Iterator[str]:
    """Measure every cell; each transactional one between two without transactions."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic("matrix", PARTITIONS, 1)])["matrix"].result(30)
    before: dict[tuple[int, int], float] = {}
    for (batch, linger), interval in product(BATCHES, intervals):
        plain = Mode(None, batch, linger)
        if (batch, linger) not in before:
            before[batch, linger] = produce(bootstrap, "matrix", plain, duration_s).records_per_s
        found = produce(bootstrap, "matrix", Mode(interval, batch, linger), duration_s)
        after = produce(bootstrap, "matrix", plain, duration_s).records_per_s
        base = mean((before[batch, linger], after))
        before[batch, linger] = after
        commits = found.commits_ms
        p99 = quantiles(commits, n=100, method="inclusive")[98] if len(commits) > 1 else commits[0]
        # A period is the time for records and the commit that follows.
        expected = throughput_share(mean(commits), interval + mean(commits))
        yield (
            f"| {interval} ms | {batch // 1024} KiB, {linger} ms | {found.records_per_s:,.0f}/s | "
            f"{found.records_per_s * RECORD_BYTES / 1e6:.1f} MB/s | {base:,.0f}/s | "
            f"{found.records_per_s / base:.0%} | {expected:.0%} | {mean(commits):.1f} / {p99:.1f} ms |"
        )


def show(title: str, bootstrap: str, duration_s: float, intervals: tuple[int, ...]) -> None:
    print(f"\n### {title}\n")
    print("| Commit interval | Batch, linger | Exactly-once | | At-least-once | Share | At least | Commit mean / P99 |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for row in rows(bootstrap, duration_s, intervals):
        print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apache", action="store_true", help="run real Kafka too")
    parser.add_argument("--quick", action="store_true", help="a blink for each cell, two intervals")
    chosen = parser.parse_args()
    duration_s, intervals = (0.6, INTERVALS_MS[:2]) if chosen.quick else (4.0, INTERVALS_MS)
    print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores, {platform.platform()}, "
        f"Python {platform.python_version()}, librdkafka {confluent_kafka.libversion()[0]}, "
        f"load {os.getloadavg()[0]:.1f} at the start; one producer, one node, RF 1, {PARTITIONS} partitions, "
        f"records of {RECORD_BYTES:,} B, {duration_s:g} s a cell."
    )
    with tempfile.TemporaryDirectory() as directory:
        running = manage.start(SandboxSpec("matrix", str(Path(directory) / "data"), ephemeral=True))
        try:
            show("Sandbox, one broker", running.bootstrap, duration_s, intervals)
        finally:
            manage.stop(running)
    if chosen.apache:
        with tempfile.TemporaryDirectory() as directory:
            config = ApacheConfig("4.3.1", heap_bytes=1 << 30, jvm_options=("-XX:+UseG1GC",))
            engine = ApacheNodes(config, Path(directory), random.Random())
            asyncio.run(engine.up())
            try:
                show("Apache Kafka 4.3.1, one node", engine.bootstrap, duration_s, intervals)
            finally:
                asyncio.run(engine.down())
    print(f"\nLoad {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
