"""Measure `doctor` on 1,000 partitions and 10,000 transactional ids, as a whole process.

    python -m benchmarks.doctor [--engine apache|embedded] [--partitions 1000] [--ids 10000] [--open 1000] [--runs 3]

The cluster is one broker of Apache Kafka 4.3.1, or the embedded one in a process of its own. Wall and processor time of
the whole process, median of the runs; the exit code is 1 when the target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import as_installed
from benchmarks.txn_tools import VERSION, Cost, Load, fill, run
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints

TARGET_S = 5.0


@contextmanager
def apache(directory: Path) -> Iterator[str]:
    """Run a real broker."""
    engine = ApacheNodes(ApacheConfig(VERSION), directory, random.Random())
    try:
        asyncio.run(engine.up())
        yield engine.bootstrap
    finally:
        asyncio.run(engine.down())


@contextmanager
def embedded(directory: Path) -> Iterator[str]:
    """Run the sandbox in a separate process."""
    environment = {**as_installed(), "XDG_STATE_HOME": str(directory)}
    command = [sys.executable, "-m", "eosctl", "sandbox"]
    subprocess.run([*command, "up", "--brokers", "1"], env=environment, check=True, capture_output=True)
    try:
        shown = [*command, "exec", "--", "sh", "-c", "echo $EOSCTL_BOOTSTRAP_SERVERS"]
        yield subprocess.run(shown, env=environment, check=True, capture_output=True, text=True).stdout.split()[-1]
    finally:
        subprocess.run([*command, "down"], env=environment, check=True, capture_output=True)


async def widen(bootstrap: str, partition_count: int) -> None:
    """Create a topic with many partitions."""
    config = ClientConfig(parse_endpoints(bootstrap, "benchmark"), timeout_ms=300_000, request_timeout_ms=120_000)
    async with connect(config) as client:
        await ensure_topic(client, "wide", partition_count=partition_count, replica_count=1)


def main() -> int:
    """Fill a cluster and run `doctor`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("apache", "embedded"), default="apache")
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--ids", type=int, default=10_000)
    parser.add_argument("--open", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="eosctl-bench-"))
    try:
        with (apache if given.engine == "apache" else embedded)(directory) as bootstrap:
            begun = time.perf_counter()
            asyncio.run(widen(bootstrap, given.partitions))
            asyncio.run(fill(bootstrap, Load(given.ids, given.open, 0)))
            print(f"{given.engine}: filled in {time.perf_counter() - begun:.0f} s", flush=True)
            command = [sys.executable, "-m", "eosctl", "doctor", "-b", bootstrap, "-o", "json"]
            costs = [run(command) for _ in range(given.runs)]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    wall_s, cpu_s, _ = (statistics.median(cost[i] for cost in costs) for i in range(len(Cost._fields)))
    print(f"doctor: {wall_s:.2f} s wall, {cpu_s:.2f} s CPU, target {TARGET_S:.0f} s")
    return int(wall_s > TARGET_S)


if __name__ == "__main__":
    sys.exit(main())
