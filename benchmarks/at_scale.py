"""Doctor, `txn hanging`, `txn list`, and the exporter on a cluster as large users have it.

    python -m benchmarks.at_scale [--parts 8,4,2,1] [--partitions 200000] [--ids 1000000] [--groups 50000]

The cluster only answers (`benchmarks.synthetic_server`), in a process of its own: the figures are the cost of asking
and judging. Processor time, clock, and the largest memory of each whole process, at parts of the size and at the whole;
the exit code is 1 when a target is missed. The last rows are single readings of an exporter that keeps running.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from benchmarks import as_installed
from benchmarks.synthetic_cluster import Shape
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.export_cluster import ClusterMeasurer, ExportRequest

INSTALLED: Final = as_installed()
PROGRAM: Final = (sys.executable, "-m", "eosctl")
#: Clock and memory of the whole size.
TARGET_S: Final = {"doctor": 60.0, "txn hanging": 20.0}
TARGET_MB: Final = 1_000
_READINGS: Final = 3


class Cost(NamedTuple):
    """The cost of one run of a program, and its exit code."""

    wall_s: float
    cpu_s: float
    memory_mb: float
    code: int


@contextmanager
def cluster(shape: Shape) -> Iterator[str]:
    """Serve a cluster of a size and yield its bootstrap address."""
    options = [word for name, value in shape._asdict().items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "benchmarks.synthetic_server", *options]
    with subprocess.Popen(command, env=INSTALLED, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        yield server.stdout.readline().strip()
        server.stdin.close()


def run(words: Sequence[str]) -> Cost:
    """Run eosctl and measure its process."""
    begun = time.perf_counter()
    with subprocess.Popen([*PROGRAM, *words], env=INSTALLED, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - begun
    return Cost(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode)


async def read_repeatedly(bootstrap: str) -> None:
    """Read a cluster three times as the serving exporter does, and print the cost of each reading."""
    request = ExportRequest(Connection(bootstrap, timeout_ms=600_000))
    config = resolve_connection(request.connection, lambda _: None).config
    measurer = ClusterMeasurer(config, request)
    for _ in range(_READINGS):
        begun, before = time.perf_counter(), time.process_time()
        measurer.measure(await measurer.read())
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(time.perf_counter() - begun, time.process_time() - before, peak_mb, flush=True)
    await measurer.close()


def readings(bootstrap: str) -> Iterator[Cost]:
    """Yield the cost of each reading of an exporter in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.at_scale", "--read", bootstrap]
    with subprocess.Popen(words, env=INSTALLED, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            wall_s, cpu_s, memory_mb = map(float, line.split())
            yield Cost(wall_s, cpu_s, memory_mb, 0)


def part_of(shape: Shape, part: int) -> Shape:
    """Return a cluster of a part of the size, with as many brokers."""
    return shape._replace(partitions=shape.partitions // part, ids=shape.ids // part, groups=shape.groups // part)


def main() -> int:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="8,4,2,1", help="Divisors of the size.")
    parser.add_argument("--read", default="", help="Only read this cluster repeatedly, as an exporter.")
    parser.add_argument("--only", default="", help="Part of the names of the commands to measure.")
    for name, value in Shape()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    given = vars(parser.parse_args())
    only, read = given.pop("only"), given.pop("read")
    if read:
        asyncio.run(read_repeatedly(read))
        return 0
    parts = [int(part) for part in given.pop("parts").split(",")]
    whole = Shape(**given)
    missed = False
    print("| Partitions | Ids | Groups | Command | Clock, s | Processor, s | Memory, MB | Exit code |")
    print("|---:|---:|---:|---|---:|---:|---:|---:|", flush=True)
    for part in parts:
        shape = part_of(whole, part)
        with cluster(shape) as bootstrap:
            commands = {
                "doctor": ("doctor", "-b", bootstrap, "-o", "json", "--timeout", "10m"),
                "txn hanging": ("txn", "hanging", "-b", bootstrap, "-o", "json", "--timeout", "10m"),
                "exporter --once": ("exporter", "--once", "-b", bootstrap, "--timeout", "10m"),
                "txn list --open": ("txn", "list", "--open", "-b", bootstrap, "-o", "json", "--timeout", "10m"),
            }
            for name, words in commands.items():
                if only not in name:
                    continue
                cost = run(words)
                missed |= part == 1 and (cost.wall_s > TARGET_S.get(name, 1e9) or cost.memory_mb > TARGET_MB)
                _print_row(shape, name, cost)
            for number, cost in enumerate(readings(bootstrap), 1):
                _print_row(shape, f"exporter, reading {number}", cost)
    return int(missed)


def _print_row(shape: Shape, name: str, cost: Cost) -> None:
    print(
        f"| {shape.partitions:,} | {shape.ids:,} | {shape.groups:,} | {name} | {cost.wall_s:.1f} | {cost.cpu_s:.1f} "
        f"| {cost.memory_mb:,.0f} | {cost.code} |",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
