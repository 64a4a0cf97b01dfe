"""How costs grow: is each a straight line, and if not, why not?

    python -m benchmarks.cost_curves [--only NAME] [--seconds 1.5] [--save]

Sandbox: a closed loop of transactions, in which one thing grows while the others stay; the server's processor time for
each transaction, and how many there are a second (the generator shares the machine, so that is the weaker figure).
Tools: whole processes on ever larger inputs; processor time.

Each curve is held against the straight line that fits it best (least squares): where no point lies further than 15 %
off it, it is linear, and the line is printed as cost = base + slope x size, with an explanation of the shape.
Figures measured under other load are judged by processor time alone; the load is in the head of the table.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import linear_regression
from typing import Final, NamedTuple

from benchmarks import as_installed
from benchmarks.config_lint import fill
from benchmarks.decode import data_batches, write_batches
from benchmarks.log_scan import write_log
from benchmarks.replicas import sandbox, table_by_connections
from benchmarks.sandbox_throughput import Server, measure
from eosctl.lab.workloads.load import Load, Profile
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.internal import transaction_log
from eosctl.wire.internal.transaction_log import TransactionKey, TransactionPartitions, TransactionValue
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.records.batch import encode_batch, with_offset
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.sandbox.harness import START_MS, Harness

TOLERANCE: Final = 0.15
MB: Final = 1 << 20
IDS: Final = (16, 64, 256, 1_024, 4_096)
PARTITIONS: Final = (1, 2, 4, 8, 12)
REPLICAS: Final = (1, 2, 3)
CONNECTIONS: Final = (4, 16, 64, 256)
LOADS: Final = 3
LOADED_RECORDS: Final = (12_500, 25_000, 50_000, 100_000)
SEGMENT_MB: Final = (64, 128, 256, 512)
LINT_FILES: Final = (125, 250, 500, 1_000)
LOG_MB: Final = (32, 64, 128, 256)


class Point(NamedTuple):
    """What a size costs: processor microseconds of the server for a transaction, or seconds of a program."""

    size: int
    cost: float
    per_second: float | None = None


class Curve(NamedTuple):
    """Points of growing size.

    Attributes:
        name: What grows, and what it costs.
        unit: Of the cost.
        points: In the order of size.
        why: The explanation of the shape.
        notes: Additional lines of Markdown.
    """

    name: str
    unit: str
    points: Sequence[Point]
    why: str
    notes: Sequence[str] = ()


class Line(NamedTuple):
    """The straight line that fits best, and the largest distance of a point from it, as a share of the point."""

    base: float
    slope: float
    off: float

    @property
    def fits(self) -> bool:
        """Return whether all points lie near it."""
        return self.off <= TOLERANCE


def fit(points: Sequence[Point]) -> Line:
    """Fit a straight line."""
    sizes, costs = [point.size for point in points], [point.cost for point in points]
    slope, base = linear_regression(sizes, costs)
    return Line(base, slope, max(abs(base + slope * point.size - point.cost) / point.cost for point in points))


def shown(curve: Curve) -> list[str]:
    """Return the rows of a curve."""
    line = fit(curve.points)
    shape = f"{line.base:.3g} + {line.slope:.3g} x size, no point more than {line.off:.0%} off"
    verdict = f"linear: {shape}" if line.fits else f"no straight line ({line.off:.0%} off)"
    rows = ["", f"### {curve.name}", "", f"{verdict}. {curve.why}", "", f"| Size | Cost, {curve.unit} | Per second |"]
    rows.append("|---:|---:|---:|")
    for point in curve.points:
        rate = "" if point.per_second is None else f"{point.per_second:,.0f}"
        rows.append(f"| {point.size:,} | {point.cost:.3g} | {rate} |")
    return [*rows, "", *curve.notes] if curve.notes else rows


# --- the sandbox ------------------------------------------------------------------------------------------------------


def point(server: Server, size: int, load: Load) -> Point:
    """Put a load on a server."""
    report, server_us = measure(server, load)
    return Point(size, server_us, report.rate_per_s)


def by_ids(ms: int) -> Curve:
    """More transactional ids on the same 16 connections: more requests in flight, and more state."""
    with sandbox() as server:
        points = [
            point(server, count, Load(Profile.TV2, "bench", 16, count // 16, duration_ms=ms, prefix=f"ids-{count}"))
            for count in IDS
        ]
    why = (
        "Falls, then stays: requests that wait together are read, appended, and answered together and share the "
        "system calls; from some hundred ids on no more can be shared, and a known id costs one table lookup, "
        "regardless of the table's size."
    )
    return Curve("Transactional ids (16 connections, one partition, RF 1)", "us of the server", points, why)


def by_partitions(ms: int) -> Curve:
    """More partitions in each transaction: a batch and a marker for each."""
    with sandbox() as server:
        points = [
            point(
                server,
                count,
                Load(Profile.TV2, "bench", 16, 4, partition_count=count, duration_ms=ms, prefix=f"partitions-{count}"),
            )
            for count in PARTITIONS
        ]
    why = "Each partition costs a batch that is verified and appended, and a marker."
    return Curve("Partitions of a transaction (16 connections x 4 ids, RF 1)", "us of the server", points, why)


def by_replicas(ms: int) -> Curve:
    """More replicas of everything: of the data, and of the coordinators' log."""
    points = []
    for count in REPLICAS:
        with sandbox(count) as server:
            load = Load(Profile.TV2, "bench", 16, 4, duration_ms=ms, prefix=f"replicas-{count}")
            points.append(point(server, count, load))
    why = (
        "As many brokers as replicas, in one process. The second one adds everything that replication is: fetches, "
        "waiting for the high watermark, markers over a link; the third adds its fetches alone."
    )
    title = "Replicas (as many brokers, 16 connections x 4 ids)"
    return Curve(title, "us of the server", points, why, tuple(table_by_connections(ms)))


def by_connections(ms: int) -> Curve:
    """Return the same 256 ids over more connections: less that comes together on each, and as much in all."""
    with sandbox() as server:
        points = [
            point(
                server,
                count,
                Load(Profile.TV2, "bench", count, 256 // count, duration_ms=ms, prefix=f"connections-{count}"),
            )
            for count in CONNECTIONS
        ]
    why = (
        "Flat: what a turn shares depends on the ids in flight, not on the connections over which they come; one more "
        "read and write for each is little compared with a transaction."
    )
    return Curve("Connections (256 ids over all of them, RF 1)", "us of the server", points, why)


def by_load(ms: int) -> Curve:
    """Ever longer logs of open transactions, a record each, that a coordinator loads as it starts."""
    points = [Point(count, min(load_s(count) for _ in range(LOADS))) for count in LOADED_RECORDS]
    why = "Every batch is checked as after a crash, then loaded, each once. Kafka 4.3.1 takes 0.5 s for 100,000."
    return Curve("Coordinator load: records after a crash, an id each", "s", points, why)


def load_s(count: int) -> float:
    """Return the processor time of a start on a log of so many open transactions, until all are known."""
    with tempfile.TemporaryDirectory() as directory:
        harness = Harness(Path(directory), ClusterShape(settings={"transaction.state.log.num.partitions": "1"}))
        while harness.request(1, ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("app-0", 1)).error_code:
            harness.advance(100)
        harness.kill(1)
        log = harness.core.directory_of(1) / "__transaction_state-0" / f"{0:020}.log"
        log.parent.mkdir(exist_ok=True)
        log.write_bytes(b"".join(open_transactions(count, START_MS)))
        began = time.process_time()
        harness.restart(1)
        states = harness.core.broker(1).transactions.states
        while states.is_loading:
            harness.advance(1)
        took_s = time.process_time() - began
        assert sum(len(each.transactions) for each in states.loaded_partitions()) == count
        harness.close()
    return took_s


def open_transactions(count: int, began_ms: int) -> Iterator[bytes]:
    """Yield the batches of so many open transactions, one record each, as Kafka writes them."""
    for number in range(count):
        value = TransactionValue(
            producer_id=number,
            producer_epoch=0,
            transaction_timeout_ms=900_000,
            transaction_status=1,
            transaction_partitions=(TransactionPartitions("orders", (0, 1, 2)),),
            transaction_last_update_timestamp_ms=began_ms,
            transaction_start_timestamp_ms=began_ms,
        )
        key = transaction_log.encode_key(TransactionKey(f"app-{number}"))
        yield with_offset(encode_batch([Record(0, began_ms, key, transaction_log.encode_value(value, 1))]), number, 0)


# --- the tools --------------------------------------------------------------------------------------------------------


def processor_s(command: Sequence[str], environment: dict[str, str]) -> float:
    """Run a program twice and return the lesser processor time of the two, its children's too."""
    costs = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def eosctl(*words: str) -> list[str]:
    return [sys.executable, "-m", "eosctl", *words]


def by_segment(ms: int) -> Curve:
    """Ever larger segments, decoded batch by batch."""
    installed, points = as_installed(), []
    batches = data_batches(random.Random(1), 1_000, 16, Compression.NONE)
    for size in SEGMENT_MB:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "plain-0" / f"{0:020}.log"
            write_batches(path, size * MB, batches, 16)
            points.append(Point(size, processor_s(eosctl("decode", "segment", "-o", "tsv", str(path)), installed)))
    why = "The base is the start of the program."
    return Curve("Decoding: MiB of a segment, batches of 16 KiB", "s", points, why)


def by_files(ms: int) -> Curve:
    """Ever more configuration files."""
    installed, points = as_installed(), []
    for count in LINT_FILES:
        with tempfile.TemporaryDirectory() as directory:
            fill(Path(directory), count)
            command = eosctl("config", "lint", directory, "--exit-zero", "-o", "json")
            points.append(Point(count, processor_s(command, installed)))
    why = "Rules across files compare applications by name, in tables; none compares each with each."
    return Curve("Lint: files", "s", points, why)


def by_log(ms: int) -> Curve:
    """Larger and larger logs, scanned with the whole catalog."""
    installed, points = as_installed(), []
    for size in LOG_MB:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "app.log"
            write_log(path, size * MB)
            points.append(Point(size, processor_s(eosctl("logs", "scan", str(path), "-o", "json"), installed)))
    why = "The base is the start of the program and its catalog."
    return Curve("Scan: MiB of an application's log, the whole catalog", "s", points, why)


CURVES: Final[dict[str, Callable[[int], Curve]]] = {
    "ids": by_ids,
    "partitions": by_partitions,
    "replicas": by_replicas,
    "connections": by_connections,
    "load": by_load,
    "decode": by_segment,
    "lint": by_files,
    "scan": by_log,
}


def commit() -> str:
    """Name the commit that is measured, and whether the work tree differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "no repository"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CURVES, action="append", help="this curve; repeatable")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of each closed loop")
    parser.add_argument("--save", action="store_true", help="keep the curves in benchmarks/results")
    options = parser.parse_args()
    began = datetime.now(UTC)
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} at the start"
    lines = ["# Cost curves", "", f"{began:%Y-%m-%d %H:%M} UTC, commit {commit()}, {machine}."]
    print("\n".join(lines), flush=True)
    for name in options.only or CURVES:
        rows = shown(CURVES[name](round(options.seconds * 1_000)))
        lines += rows
        print("\n".join(rows), flush=True)
    took_s = (datetime.now(UTC) - began).total_seconds()
    end = f"Load {os.getloadavg()[0]:.1f} at the end, after {took_s:.0f} s."
    lines += ["", end]
    print(f"\n{end}")
    if options.save:
        target = Path(__file__).parent / "results" / f"{began:%Y-%m-%d}-cost-curves.md"
        target.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
