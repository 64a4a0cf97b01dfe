"""Measure the sandbox's throughput and cost against its targets; with `--kafka` also real Kafka 4.3.1.

    python -m benchmarks.sandbox_throughput
    python -m benchmarks.sandbox_throughput --kafka --save

One broker, replication factor 1, one 100-byte record a transaction. `C x K` is connections times transactional ids on
each. "commit" is EndTxn to its answer; in an open loop transactions begin on schedule, regardless of the
state of earlier ones. CPU per transaction is the sturdiest figure on a machine that others use too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import psutil

from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import init_producer_id
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, LoadReport, Profile
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints

TOPIC = "bench"
OPEN_TRANSACTIONS = 10_000
MB = 1024 * 1024


class Row(NamedTuple):
    """A row of the table."""

    what: str
    measured: str
    target: str
    met: bool | None

    def __str__(self) -> str:
        verdict = {True: "yes", False: "NO", None: ""}[self.met]
        return f"| {self.what} | {self.measured} | {self.target} | {verdict} |"


class Server(NamedTuple):
    """A cluster of one broker, and its process."""

    name: str
    bootstrap: str
    process: psutil.Process

    @property
    def config(self) -> ClientConfig:
        """Return the client configuration."""
        return ClientConfig(parse_endpoints(self.bootstrap, self.name))

    @property
    def rss_mb(self) -> float:
        """Return the current resident memory."""
        return float(self.process.memory_info().rss) / MB


class CpuWatch:
    """Returns a load's own CPU time, and records the server's at the same times."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._server_s: list[float] = []

    def __call__(self) -> float:
        times = self._process.cpu_times()
        self._server_s.append(times.user + times.system)
        return time.process_time()

    def server_us(self, report: LoadReport) -> float:
        """Return the server's CPU time per counted transaction."""
        return (self._server_s[-1] - self._server_s[-2]) * 1e6 / max(1, report.completed_count)


@contextmanager
def sandbox(name: str) -> Iterator[tuple[Server, float]]:
    """Run a sandbox of one broker; also return the time to its first InitProducerId response."""
    with tempfile.TemporaryDirectory() as directory:
        begun = time.perf_counter()
        running = manage.start(SandboxSpec(name, str(Path(directory) / "data"), ephemeral=True))
        try:
            server = Server("sandbox", running.bootstrap, psutil.Process(running.pid))
            asyncio.run(first_producer_id(server))
            yield server, time.perf_counter() - begun
        finally:
            manage.stop(running)


async def first_producer_id(server: Server) -> None:
    async with connect(server.config) as client:
        await init_producer_id(client, "first", 60_000)


@contextmanager
def real_kafka(directory: Path) -> Iterator[Server]:
    """Run Kafka 4.3.1 as one node with 1 GiB of heap and its usual JVM options."""
    config = ApacheConfig(heap_bytes=1024 * MB, jvm_options=("-XX:+UseG1GC",))
    engine = ApacheNodes(config, directory, random.Random())
    asyncio.run(engine.up())
    try:
        port = int(engine.bootstrap.rpartition(":")[2])
        yield Server("Kafka 4.3.1", engine.bootstrap, listener_of(port))
    finally:
        asyncio.run(engine.down())


def listener_of(port: int) -> psutil.Process:
    """Return the process of this user that listens on a port."""
    for child in psutil.Process().children(recursive=True):
        if any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in child.net_connections("tcp")):
            return child
    raise LookupError(f"none of our processes listens on port {port}")


def measure(server: Server, load: Load, replica_count: int | None = None) -> tuple[LoadReport, float]:
    """Put a load on a server; returns the report and the server's CPU time per transaction, us.

    The topic is made with so many replicas, where None is three, or as many as there are brokers.
    """
    watch = CpuWatch(server.process)

    async def run() -> LoadReport:
        async with connect(server.config) as client:
            await ensure_topic(client, TOPIC, partition_count=12, replica_count=replica_count)
            return await run_load(client, load, now_ms=system_now_ms, cpu_s=watch)

    report = asyncio.run(run())
    if report.errors:
        raise RuntimeError(f"the load met errors: {report.errors}")
    return report, watch.server_us(report)


CLOSED_TARGETS_US = {
    (Profile.TV1, 16, 1): 100,
    (Profile.TV1, 16, 16): 60,
    (Profile.TV2, 16, 1): 90,
    (Profile.TV2, 16, 16): 50,
}


def closed_loop(server: Server, duration_ms: int, *, judged: bool = True) -> Iterator[Row]:
    for (profile, connections, ids), target_us in CLOSED_TARGETS_US.items():
        prefix = f"closed-{profile.name}-{connections}x{ids}"
        load = Load(profile, TOPIC, connections, ids, duration_ms=duration_ms, prefix=prefix)
        report, server_us = measure(server, load)
        measured = f"{server_us:.0f} us; {shown(report)}"
        target = f"<= {target_us} us CPU" if judged else ""
        what = f"{server.name}: {profile.name} {connections}x{ids}, CPU per transaction"
        yield Row(what, measured, target, server_us <= target_us if judged else None)


def open_loop(server: Server, rate_per_s: float, duration_ms: int, *, judged: bool = True) -> Iterator[Row]:
    for profile in (Profile.TV1, Profile.TV2):
        load = Load(
            profile,
            TOPIC,
            64,
            4,
            rate_per_s=rate_per_s,
            duration_ms=duration_ms,
            prefix=f"open-{profile.name}-{rate_per_s}",
        )
        report, server_us = measure(server, load)
        held = report.rate_per_s >= 0.99 * rate_per_s and report.backlog_count < 0.1 * rate_per_s
        measured = "held" if held else "not held"
        measured += f": {shown(report)}; server {server_us:.0f} us, backlog {report.backlog_count}"
        target = "held, commit P99 < 50 ms" if judged else ""
        met = held and report.commit.p99_ms < 50 if judged else None
        yield Row(
            f"{server.name}: {profile.name} open loop {rate_per_s:.0f}/s, {duration_ms / 1000:.0f} s",
            measured,
            target,
            met,
        )


def shown(report: LoadReport) -> str:
    commit, whole = report.commit, report.whole
    return (
        f"{report.rate_per_s:,.0f}/s, commit {commit.p50_ms:.1f}/{commit.p99_ms:.1f}/{commit.p999_ms:.1f} ms, "
        f"whole {whole.p50_ms:.1f}/{whole.p99_ms:.1f}/{whole.p999_ms:.1f} ms (p50/p99/p99.9), "
        f"client {report.client_cpu_us:.0f} us"
    )


def open_transactions(server: Server, target_mb: float | None) -> Row:
    load = Load(
        Profile.OPEN1,
        TOPIC,
        connection_count=4,
        ids_per_connection=OPEN_TRANSACTIONS // 4,
        partition_count=3,
        transactions_per_id=1,
        warm_up_ms=0,
        duration_ms=120_000,
        prefix="left-open",
    )
    before_mb = server.rss_mb
    report, _ = measure(server, load)
    after_mb = server.rss_mb
    what = f"{server.name}: {report.completed_count:,} open transactions of 3 partitions, resident"
    met = after_mb < target_mb if target_mb is not None else None
    return Row(what, f"{after_mb:.0f} MB (before: {before_mb:.0f})", f"< {target_mb:.0f} MB" if target_mb else "", met)


def up_of_three() -> Row:
    """Measure the command as a user waits for it."""
    with tempfile.TemporaryDirectory() as directory:
        environment = os.environ | {"XDG_STATE_HOME": directory}
        command = [sys.executable, "-m", "eosctl", "sandbox"]
        begun = time.perf_counter()
        subprocess.run(
            [*command, "up", "--name", "bench", "--brokers", "3", "--ephemeral"],
            env=environment,
            check=True,
            capture_output=True,
        )
        took_s = time.perf_counter() - begun
        subprocess.run([*command, "down", "--name", "bench"], env=environment, check=True, capture_output=True)
    return Row("eosctl sandbox up --brokers 3 returns", f"{took_s:.2f} s", "< 0.6 s", took_s < 0.6)


def measure_sandbox(options: argparse.Namespace) -> Iterator[Row]:
    yield up_of_three()
    with sandbox(f"bench-{os.getpid()}") as (server, started_s):
        yield Row("sandbox: start to first InitProducerId", f"{started_s:.2f} s", "< 0.5 s", started_s < 0.5)
        yield Row("sandbox: resident after it", f"{server.rss_mb:.0f} MB", "< 60 MB", server.rss_mb < 60)
        yield from closed_loop(server, options.seconds * 1000)
    # Fresh processes without memory of an earlier load.
    with sandbox(f"bench-{os.getpid()}-rate") as (server, _):
        yield from open_loop(server, options.rate, options.open_seconds * 1000)
    with sandbox(f"bench-{os.getpid()}-open") as (server, _):
        yield open_transactions(server, 100)


def measure_kafka(options: argparse.Namespace) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as directory, real_kafka(Path(directory)) as server:
        warm_up = Load(Profile.TV1, TOPIC, 16, 16, duration_ms=10_000, prefix="warm-up")
        measure(server, warm_up)
        yield from closed_loop(server, options.seconds * 1000, judged=False)
        for rate_per_s in (2_000, 5_000):
            yield from open_loop(server, rate_per_s, options.open_seconds * 1000, judged=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5, help="length of each closed loop")
    parser.add_argument("--open-seconds", type=int, default=10, help="length of each open loop (60 for the target)")
    parser.add_argument("--rate", type=float, default=10_000, help="transactions per second of the open loop")
    parser.add_argument("--kafka", action="store_true", help="measure a real Kafka 4.3.1 too (needs Java and Maven)")
    parser.add_argument("--save", action="store_true", help="keep the table in benchmarks/results")
    options = parser.parse_args()

    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} at the start"
    lines = [f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {machine}", ""]
    lines += ["| What | Measured | Target | Met |", "|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for source in (measure_sandbox, measure_kafka) if options.kafka else (measure_sandbox,):
        for row in source(options):
            lines.append(str(row))
            print(row, flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")
    if options.save:
        target = Path(__file__).parent / "results" / f"{datetime.now(UTC):%Y-%m-%d}-sandbox-throughput.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text("\n".join(lines) + f"\n\nLoad {os.getloadavg()[0]:.1f} at the end.\n")


if __name__ == "__main__":
    main()
