"""Listing and searching 10,000 transactional ids, beside Kafka's own tool, as whole processes in one run.

    python -m benchmarks.txn_tools [--ids 10000] [--open 1000] [--runs 3]

Both ask one and the same broker of Apache Kafka 4.3.1; some of the ids have a transaction open. `find-hanging` needs
a broker or a topic; it is given the broker. Wall and processor time of the whole process, median of alternating runs.
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
from eosctl.client.transactions import TV1
from eosctl.lab.apache.engine import ApacheConfig, ApacheEngine
from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.releases import resolve_release
from eosctl.model.client_config import ClientConfig
from eosctl.settings.endpoints import parse_endpoints

VERSION = "4.3.1"
TOOL = "org.apache.kafka.tools.TransactionsCommand"
HEAP_BYTES = 256 << 20
LANES = 24
TIMEOUT_MS = 900_000
TARGET = 5.0
INSTALLED = as_installed()


class Cost(NamedTuple):
    """What one run of a program took."""

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


async def fill(bootstrap: str, id_count: int, open_count: int) -> None:
    """Initialise ids, and leave a transaction of one record open on some of them."""
    config = ClientConfig(parse_endpoints(bootstrap, "benchmark"), timeout_ms=120_000)

    async def lane(client: Client, numbers: range) -> None:
        for number in numbers:
            producer = TransactionalProducer(
                client,
                f"bench-app-{number:05d}-x",
                now_ms=lambda: time.time_ns() // 1_000_000,
                transaction_timeout_ms=TIMEOUT_MS,
                dialect=TV1,
            )
            await producer.init_transactions()
            if number < open_count:
                await producer.send(partitions[number % len(partitions)], [OutgoingRecord(b"k", b"v")])

    clients = [connect(config, chance=random.Random(number)) for number in range(LANES)]
    opened = [await client.__aenter__() for client in clients]
    try:
        topic = await ensure_topic(opened[0], "bench", partition_count=8, replica_count=1)
        partitions = [info.partition for info in topic.partitions]
        await asyncio.gather(*(lane(client, range(n, id_count, LANES)) for n, client in enumerate(opened)))
    finally:
        for client in clients:
            await client.__aexit__(None, None, None)


def main() -> int:
    """Fill a broker, measure both, print a table; exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", type=int, default=10_000)
    parser.add_argument("--open", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="eosctl-bench-"))
    engine = ApacheEngine(ApacheConfig(VERSION), directory, random.Random())
    try:
        asyncio.run(engine.up())
        begun = time.perf_counter()
        asyncio.run(fill(engine.bootstrap, given.ids, given.open))
        filled_s = time.perf_counter() - begun
        print(f"{given.ids:,} ids, {given.open:,} with an open transaction ({filled_s:.0f} s to fill)", flush=True)
        return measure(engine, given.runs)
    finally:
        asyncio.run(engine.down())
        shutil.rmtree(directory, ignore_errors=True)


def measure(engine: ApacheEngine, runs: int) -> int:
    """Measure every pair in alternating runs."""
    runtime = prepare_runtime(resolve_release(VERSION))
    broker = str(engine.brokers()[0].broker_id)
    official = {
        "list": ["list"],
        "hanging": ["find-hanging", "--broker-id", broker],
    }
    missed = False
    print("| command | eosctl wall / CPU | kafka-transactions wall / CPU | wall | CPU |\n|---|---|---|---|---|")
    for name, words in official.items():
        theirs_command = runtime.command(TOOL, "--bootstrap-server", engine.bootstrap, *words, heap_bytes=HEAP_BYTES)
        ours_command = [sys.executable, "-m", "eosctl", "txn", name, "-b", engine.bootstrap, "-o", "tsv"]
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(run(ours_command))
            theirs.append(run(theirs_command))
        mine, peer = [Cost(*(statistics.median(c[i] for c in costs) for i in range(3))) for costs in (ours, theirs)]
        wall, cpu = peer.wall_s / mine.wall_s, peer.cpu_s / mine.cpu_s
        missed = missed or wall < TARGET or cpu < TARGET
        print(
            f"| txn {name} | {mine.wall_s:.2f} / {mine.cpu_s:.2f} s | {peer.wall_s:.2f} / {peer.cpu_s:.2f} s "
            f"| {wall:.1f}x | {cpu:.1f}x |  lines {mine.lines:,.0f} / {peer.lines:,.0f}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
