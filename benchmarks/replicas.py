"""The cost of replication by connections: part of `python -m benchmarks.cost_curves --only replicas`.

Every figure has a sandbox of its own, as it is installed: compiled or pure. Clusters alternate, so that what else the
machine does hits all of them.

What grows until logs have some kilobytes (tails in memory, the interpreter's pools) is there after the warm-up; index
files are made when a log has two megabytes, which none has by the end.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import psutil

from benchmarks.sandbox_throughput import TOPIC, Server, measure
from eosctl.lab.workloads.load import Load, Profile
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec

ROUNDS: Final = 4
WARM_UP_MS: Final = 2500
LOADS: Final = ((16, 1), (16, 4), (16, 16), (64, 1), (256, 1))
PROFILES: Final = (Profile.TV2, Profile.TV1)
ONE_REPLICA: Final = (
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("offsets.topic.replication.factor", "1"),
    ("default.replication.factor", "1"),
    ("min.insync.replicas", "1"),
)


class Cluster(NamedTuple):
    """The number of brokers, which is also the number of replicas."""

    brokers: int
    replicas: int


CLUSTERS: Final = (Cluster(1, 1), Cluster(3, 1), Cluster(3, 3))


@contextmanager
def sandbox(brokers: int = 1, settings: tuple[tuple[str, str], ...] = ()) -> Iterator[Server]:
    """Run a sandbox in a separate process."""
    with tempfile.TemporaryDirectory() as directory:
        data = str(Path(directory) / "data")
        spec = SandboxSpec(f"curves-{os.getpid()}", data, brokers=brokers, ephemeral=True, settings=settings)
        running = manage.start(spec)
        try:
            yield Server("sandbox", running.bootstrap, psutil.Process(running.pid))
        finally:
            manage.stop(running)


def server_us(cluster: Cluster, load: Load) -> float:
    """Return the server's processor time per transaction in a separate cluster."""
    with sandbox(cluster.brokers, ONE_REPLICA if cluster.replicas == 1 else ()) as server:
        return measure(server, load, cluster.replicas)[1]


def table_by_connections(ms: int) -> Iterator[str]:
    """Yield the rows: loads, clusters, and the cost of three replicas over one."""
    yield f"us of the server, {ROUNDS} runs, least first; columns: brokers/replicas, loads: connections x ids on each."
    yield ""
    yield "| Load | 1/1 | 3/1 | 3/3 | 3/3 to 1/1, of the medians |"
    yield "|---|---|---|---|---|"
    for profile in PROFILES:
        for connections, ids in LOADS:
            load = Load(profile, TOPIC, connections, ids, warm_up_ms=WARM_UP_MS, duration_ms=ms, prefix="replicas")
            rounds = [[server_us(cluster, load) for cluster in CLUSTERS] for _ in range(ROUNDS)]
            costs = list(zip(*rounds, strict=True))
            cells = [", ".join(f"{cost:.0f}" for cost in sorted(each)) for each in costs]
            ratio = median(costs[-1]) / median(costs[0])
            yield f"| {profile.name} {connections}x{ids} | {' | '.join(cells)} | {ratio:.2f} |"
