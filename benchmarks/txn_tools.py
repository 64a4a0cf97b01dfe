"""Compare listing and searching 10,000 transactional ids, and group lag, with Kafka's own tools.

    python -m benchmarks.txn_tools [--ids 10000] [--open 1000] [--groups 200] [--runs 3]

All ask one and the same broker of Apache Kafka 4.3.1; some of the ids have a transaction open. `find-hanging` needs a
broker or a topic; it is given the broker. Wall and processor time of the whole process, median of alternating runs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import as_installed
from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit
from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.releases import resolve_release
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints

VERSION = "4.3.1"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
HEAP_BYTES = 256 << 20
LANES = 24
#: Records in each partition before the open transactions; groups have read part of them.
RECORDS_BEFORE = 2_000
TIMEOUT_MS = 900_000
TARGET = 5.0
INSTALLED = as_installed()


class Cost(NamedTuple):
    """The cost of one run of a program."""

    wall_s: float
    cpu_s: float
    lines: int


def run(command: Sequence[str]) -> Cost:
    """Run a program and measure it; exit code 3 means findings."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=INSTALLED, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall_s, cpu_s, len(done.stdout.splitlines()))


class Load(NamedTuple):
    """The broker's content: transactional ids, open transactions, and groups."""

    ids: int
    open: int
    groups: int


async def fill(bootstrap: str, load: Load) -> None:
    """Initialize ids, commit records and group offsets, and leave transactions of one record open."""
    config = ClientConfig(parse_endpoints(bootstrap, "benchmark"), timeout_ms=120_000)

    def producer_of(client: Client, transactional_id: str) -> TransactionalProducer:
        return TransactionalProducer(
            client,
            transactional_id,
            now_ms=lambda: time.time_ns() // 1_000_000,
            transaction_timeout_ms=TIMEOUT_MS,
            dialect=TV1,
        )

    async def lane(client: Client, numbers: range) -> None:
        for number in numbers:
            producer = producer_of(client, f"bench-app-{number:05d}-x")
            await producer.init_transactions()
            if number < load.open:
                await producer.send(partitions[number % len(partitions)], [OutgoingRecord(b"k", b"v")])

    clients = [connect(config, chance=random.Random(number)) for number in range(LANES)]
    opened = [await client.__aenter__() for client in clients]
    try:
        topic = await ensure_topic(opened[0], "bench", partition_count=8, replica_count=1)
        partitions = [info.partition for info in topic.partitions]
        first = producer_of(opened[0], "bench-first")
        await first.init_transactions()
        for partition in partitions:
            await first.send(partition, [OutgoingRecord(b"k", bytes(100))] * RECORDS_BEFORE)
        for number in range(load.groups):
            read = {partition: OffsetToCommit(number * RECORDS_BEFORE // load.groups) for partition in partitions}
            await first.send_offsets(GroupIdentity(f"bench-group-{number:04d}"), read)
        await first.commit()
        await asyncio.gather(*(lane(client, range(n, load.ids, LANES)) for n, client in enumerate(opened)))
    finally:
        for client in clients:
            await client.__aexit__(None, None, None)


def main() -> int:
    """Fill a broker, measure both tools, and print a table; exit with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", type=int, default=10_000)
    parser.add_argument("--open", type=int, default=1_000)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="eosctl-bench-"))
    engine = ApacheNodes(ApacheConfig(VERSION), directory, random.Random())
    try:
        asyncio.run(engine.up())
        begun = time.perf_counter()
        asyncio.run(fill(engine.bootstrap, Load(given.ids, given.open, given.groups)))
        filled_s = time.perf_counter() - begun
        print(
            f"{given.ids:,} ids, {given.open:,} with an open transaction, {given.groups:,} groups "
            f"({filled_s:.0f} s to fill)",
            flush=True,
        )
        return measure(engine, given.runs)
    finally:
        asyncio.run(engine.down())
        shutil.rmtree(directory, ignore_errors=True)


def measure(engine: ApacheNodes, runs: int) -> int:
    """Measure every pair in alternating runs."""
    runtime = prepare_runtime(resolve_release(VERSION))
    broker = str(engine.brokers()[0].broker_id)
    official = {
        "txn list": (TRANSACTIONS, "list"),
        "txn hanging": (TRANSACTIONS, "find-hanging", "--broker-id", broker),
        "group lag": (GROUPS, "--describe", "--all-groups"),
    }
    missed = False
    print("| command | eosctl wall / CPU | Kafka's tool wall / CPU | wall | CPU |\n|---|---|---|---|---|")
    for name, (tool, *words) in official.items():
        theirs_command = runtime.command(tool, "--bootstrap-server", engine.bootstrap, *words, heap_bytes=HEAP_BYTES)
        ours_command = [sys.executable, "-m", "eosctl", *name.split(), "-b", engine.bootstrap, "-o", "tsv"]
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(run(ours_command))
            theirs.append(run(theirs_command))
        mine, peer = [Cost(*(statistics.median(c[i] for c in costs) for i in range(3))) for costs in (ours, theirs)]
        wall, cpu = peer.wall_s / mine.wall_s, peer.cpu_s / mine.cpu_s
        missed = missed or wall < TARGET or cpu < TARGET
        print(
            f"| {name} | {mine.wall_s:.2f} / {mine.cpu_s:.2f} s | {peer.wall_s:.2f} / {peer.cpu_s:.2f} s "
            f"| {wall:.1f}x | {cpu:.1f}x |  lines {mine.lines:,.0f} / {peer.lines:,.0f}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
