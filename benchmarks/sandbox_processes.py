"""Measure a sandbox in one and in several processes, and model it on 16 cores.

    python -m benchmarks.sandbox_processes
    python -m benchmarks.sandbox_processes --rounds 5 --seconds 10 --save

Four brokers; one 100-byte record a transaction, TV2, in a closed loop. Every figure has a sandbox of its own, and the
numbers of processes alternate, so that what else the machine does hits all of them. Figures are medians.

"busiest" is the processor time that the busiest process needs for a transaction: its inverse bounds the throughput, if
each process has a core. It does not depend on what else the machine does, as the measured rate does.

The model for P processes on P cores is computed from 1 and 4 processes:

- A transaction costs S1 + X (1 - 1/P). S1 is the cost in one process. X is the cost of encoding messages that would all
  cross processes: coordinators and leaders are spread evenly, so the share 1 - 1/P of their messages does. The share
  of followers in another process grows by the same factor, but is lower with more brokers, which the model ignores.
- The busiest process has the same share of the work over the average as with 4 processes.
- Clients run elsewhere, and cores do not slow each other down (shared caches, memory bandwidth, clock rates).
- Each process serves as many clients in a turn as it does here.

The row of 2 processes tests the first assumption: their cost was measured, too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import psutil

from benchmarks.replicas import ONE_REPLICA
from benchmarks.sandbox_throughput import TOPIC
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, LoadReport, Profile
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints

BROKERS: Final = 4
PROCESSES: Final = (1, 2, 4)
REPLICAS: Final = (1, 3)
MODELED: Final = 16


class Figures(NamedTuple):
    """What one run measured: transactions per second, and processor time per transaction in us.

    `worker_us` has the time of each process that hosts nodes, `rest_us` that of the process that hosts none.
    """

    rate_per_s: float
    commit_p99_ms: float
    client_us: float
    worker_us: Sequence[float]
    rest_us: float

    @property
    def server_us(self) -> float:
        """Return the time of all processes."""
        return sum(self.worker_us) + self.rest_us

    @property
    def busiest_us(self) -> float:
        """Return the time of the busiest process."""
        return max(self.worker_us)


class Model(NamedTuple):
    """The cost of a transaction: `one_us` in one process, `crossing_us` more if all its messages crossed processes.

    `imbalance` is the work of the busiest process over the average.
    """

    one_us: float
    crossing_us: float
    imbalance: float

    @classmethod
    def of(cls, one_us: float, several_us: float, busiest_us: float, processes: int) -> Model:
        """Return the model of the costs in one process, in several, and in the busiest of these."""
        crossing_us = (several_us - one_us) / (1 - 1 / processes)
        return cls(one_us, crossing_us, busiest_us * processes / several_us)

    def server_us(self, processes: int) -> float:
        """Return the cost of a transaction."""
        return self.one_us + self.crossing_us * (1 - 1 / processes)

    def rate_per_s(self, processes: int) -> float:
        """Return the transactions per second at which the busiest process needs a whole core."""
        imbalance = 1.0 if processes == 1 else self.imbalance
        return processes * 1e6 / (self.server_us(processes) * imbalance)


class Watch:
    """Returns a load's own processor time, and records that of the sandbox's processes at the same times."""

    def __init__(self, sandbox: RunningSandbox) -> None:
        described = manage.send_command(sandbox, "status").get("processes", ())
        self._workers = [psutil.Process(each["pid"]) for each in described] or [psutil.Process(sandbox.pid)]
        self._rest = [psutil.Process(sandbox.pid)] if described else []
        self._seconds: list[list[float]] = []

    def __call__(self) -> float:
        self._seconds.append([_cpu_s(process) for process in (*self._workers, *self._rest)])
        return _cpu_s(psutil.Process())

    def figures(self, report: LoadReport) -> Figures:
        """Return the figures of the counted time."""
        before, after = self._seconds[-2:]
        count = max(1, report.completed_count)
        costs = [(end - begin) * 1e6 / count for begin, end in zip(before, after, strict=True)]
        workers = len(self._workers)
        return Figures(
            report.rate_per_s, report.commit.p99_ms, report.client_cpu_us, costs[:workers], sum(costs[workers:])
        )


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def measure(processes: int, replicas: int, load: Load) -> Figures:
    """Put a load on a sandbox of its own."""
    with tempfile.TemporaryDirectory() as directory:
        spec = SandboxSpec(
            f"processes-{os.getpid()}",
            str(Path(directory) / "data"),
            brokers=BROKERS,
            processes=processes,
            ephemeral=True,
            settings=ONE_REPLICA if replicas == 1 else (),
        )
        running = manage.start(spec)
        try:
            watch = Watch(running)
            config = ClientConfig(parse_endpoints(running.bootstrap, "sandbox"))

            async def run() -> LoadReport:
                async with connect(config) as client:
                    await ensure_topic(client, TOPIC, partition_count=16, replica_count=replicas)
                    return await run_load(client, load, now_ms=system_now_ms, cpu_s=watch)

            report = asyncio.run(run())
        finally:
            manage.stop(running)
    if report.errors:
        raise RuntimeError(f"the load met errors: {report.errors}")
    return watch.figures(report)


def typical(runs: Sequence[Figures], value: Callable[[Figures], float]) -> float:
    """Return the median of a figure."""
    return median(map(value, runs))


def row(replicas: int, processes: int, runs: Sequence[Figures]) -> str:
    """Return the row of a configuration: medians."""
    busiest = typical(runs, lambda run: run.busiest_us)
    cells = (
        str(replicas),
        str(processes),
        f"{typical(runs, lambda run: run.rate_per_s):,.0f}",
        f"{typical(runs, lambda run: run.commit_p99_ms):.1f}",
        f"{typical(runs, lambda run: run.server_us):.0f}",
        f"{busiest:.0f}",
        f"{typical(runs, lambda run: run.rest_us):.1f}",
        f"{typical(runs, lambda run: run.client_us):.0f}",
        f"{1e6 / busiest:,.0f}",
    )
    return f"| {' | '.join(cells)} |"


def modeled(replicas: int, measured: Mapping[int, Sequence[Figures]]) -> Iterator[str]:
    """Yield the rows of the model, with the costs that were measured, by number of processes."""
    costs = {processes: typical(runs, lambda run: run.server_us) for processes, runs in measured.items()}
    several = PROCESSES[-1]
    model = Model.of(costs[1], costs[several], typical(measured[several], lambda run: run.busiest_us), several)
    for processes in (*PROCESSES, MODELED):
        known = f"{costs[processes]:.0f}" if processes in costs else ""
        rate, factor = model.rate_per_s(processes), model.rate_per_s(processes) / model.rate_per_s(1)
        yield f"| {replicas} | {processes} | {model.server_us(processes):.0f} | {known} | {rate:,.0f} | {factor:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="length of each run after its warm-up")
    parser.add_argument("--connections", type=int, default=16, help="connections to each broker")
    parser.add_argument("--ids", type=int, default=4, help="transactional ids of a connection")
    parser.add_argument("--save", action="store_true", help="keep the tables in benchmarks/results")
    options = parser.parse_args()
    load = Load(
        Profile.TV2,
        TOPIC,
        options.connections,
        options.ids,
        warm_up_ms=2_000,
        duration_ms=options.seconds * 1000,
        prefix="processes",
    )
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} at the start"
    clients = f"{options.connections} connections to each of {BROKERS} brokers, {options.ids} ids on each"
    runs = f"{options.rounds} rounds of {options.seconds} s"
    lines = [f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {machine}; {runs}; {clients}."]
    found: dict[tuple[int, int], list[Figures]] = defaultdict(list)
    for _ in range(options.rounds):
        for replicas in REPLICAS:
            for processes in PROCESSES:
                found[replicas, processes].append(measure(processes, replicas, load))
                print(row(replicas, processes, found[replicas, processes][-1:]), flush=True)
    lines += ["", "| Replicas | Processes | Txn/s | Commit P99, ms | Server, us | Busiest, us | Supervisor, us |"]
    lines[-1] += " Client, us | Bound by the busiest, txn/s |"
    lines += ["|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    lines += [row(replicas, processes, found[replicas, processes]) for replicas in REPLICAS for processes in PROCESSES]
    lines += ["", "| Replicas | Processes and cores | Server, us, modeled | Measured | Txn/s, modeled | Factor |"]
    lines += ["|---:|---:|---:|---:|---:|---:|"]
    for replicas in REPLICAS:
        lines += modeled(replicas, {processes: found[replicas, processes] for processes in PROCESSES})
    lines += ["", f"Load {os.getloadavg()[0]:.1f} at the end."]
    print("\n".join(lines))
    if options.save:
        target = Path(__file__).parent / "results" / f"{datetime.now(UTC):%Y-%m-%d}-sandbox-processes.md"
        target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
