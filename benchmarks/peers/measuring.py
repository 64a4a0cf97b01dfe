"""Run the same loads on several clusters alternately: server cost per transaction, and client latency."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from eosctl.client import connect
from eosctl.client.ports import WallClock
from eosctl.client.topics import ensure_topic
from eosctl.errors import EosctlError
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, LoadReport, Profile
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints

TOPIC: Final = "eosctl-bench"
PARTITIONS: Final = 12
OPEN_CONNECTIONS: Final = 64
OPEN_IDS: Final = 4
#: An open loop keeps up if the rate is nearly reached and the final backlog is below this many seconds.
HELD_SHARE: Final = 0.99
HELD_BACKLOG_S: Final = 0.1


class Rival(NamedTuple):
    """A cluster of one broker, and its measured process."""

    name: str
    bootstrap: str
    pid: int


class Shape(NamedTuple):
    """A load: `connections` times `ids`, in a closed loop unless `rate_per_s` is set."""

    profile: Profile
    connections: int
    ids: int
    rate_per_s: float | None = None

    @property
    def name(self) -> str:
        """Return the name in tables."""
        shape = f"{self.profile.name} {self.connections}x{self.ids}"
        return shape if self.rate_per_s is None else f"{shape}, {self.rate_per_s:,.0f}/s"


class Sample(NamedTuple):
    """A run of a load on a cluster; `error` is set if it failed, and other fields are then invalid."""

    server_cpu_us: float
    report: LoadReport | None
    error: str = ""

    @property
    def is_held(self) -> bool | None:
        """Return whether an open loop kept up; None for a closed loop."""
        report = self.report
        if report is None or report.load.rate_per_s is None:
            return None
        wanted = report.load.rate_per_s
        return report.rate_per_s >= HELD_SHARE * wanted and report.backlog_count < HELD_BACKLOG_S * wanted


class Spread(NamedTuple):
    """Median, minimum, and maximum of the runs."""

    median: float
    least: float
    most: float


def spread(values: Sequence[float]) -> Spread:
    """Summarize at least one value."""
    return Spread(median(values), min(values), max(values))


def process_cpu_s(pid: int) -> float:
    """Return the CPU time of a process, user and system, in seconds (`/proc`, ticks of 10 ms).

    Raises:
        EosctlError: The process has ended.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError as error:
        raise EosctlError(
            f"Process {pid} has ended during the measurement.", "It is missing in /proc.", "See its log."
        ) from error
    fields = stat[stat.rindex(")") + 2 :].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _CpuWatch:
    """Returns the generator's CPU time, and records the server's at the same times."""

    def __init__(self, pid: int, own_cpu_s: Callable[[], float]) -> None:
        self._pid = pid
        self._own_cpu_s = own_cpu_s
        self.server_s: list[float] = []

    def __call__(self) -> float:
        self.server_s.append(process_cpu_s(self._pid))
        return self._own_cpu_s()


class Clocks(NamedTuple):
    """The wall clock (milliseconds since the epoch), and the generator's CPU time in seconds."""

    now_ms: WallClock
    cpu_s: Callable[[], float]


def run_once(rival: Rival, shape: Shape, duration_ms: int, prefix: str, clocks: Clocks) -> Sample:
    """Run a load on a cluster once; an error of the cluster is a result."""
    load = Load(
        shape.profile,
        TOPIC,
        shape.connections,
        shape.ids,
        rate_per_s=shape.rate_per_s,
        duration_ms=duration_ms,
        prefix=prefix,
    )
    watch = _CpuWatch(rival.pid, clocks.cpu_s)

    async def run() -> LoadReport:
        async with connect(ClientConfig(parse_endpoints(rival.bootstrap, rival.name))) as client:
            await ensure_topic(client, TOPIC, partition_count=PARTITIONS)
            return await run_load(client, load, now_ms=clocks.now_ms, cpu_s=watch)

    try:
        report = asyncio.run(run())
    except EosctlError as error:
        return Sample(0.0, None, error.what)
    if report.errors or not report.completed_count:
        found = ", ".join(f"{name} x{count}" for name, count in report.errors.items())
        return Sample(0.0, report, found or "no transaction ended")
    used_s = watch.server_s[-1] - watch.server_s[-2]
    return Sample(used_s * 1e6 / report.completed_count, report)


def alternate(
    rivals: Sequence[Rival],
    shapes: Sequence[Shape],
    rounds: int,
    duration_ms: int,
    clocks: Clocks,
    announce: Callable[[str], None],
) -> dict[tuple[str, Shape], list[Sample]]:
    """Run every load on every cluster, round by round, so that other activity affects all equally.

    A first run of a second on each cluster, with the first load, is a warm-up and not counted.
    """
    for rival in rivals:
        run_once(rival, shapes[0], 1_000, "warm-up", clocks)
    samples: dict[tuple[str, Shape], list[Sample]] = {}
    for number in range(rounds):
        for at, shape in enumerate(shapes):
            for rival in rivals:
                announce(f"round {number + 1} of {rounds}: {shape.name} on {rival.name}")
                sample = run_once(rival, shape, duration_ms, f"bench-{number}-{at}", clocks)
                samples.setdefault((rival.name, shape), []).append(sample)
    return samples
