"""What holds for a Flink job, wherever it is written: in the job, or in the configuration of its cluster."""

from __future__ import annotations

from typing import Final

from eosctl.model.deployment import Component, Deployment, Role, Value

INTERVAL: Final = "execution.checkpointing.interval"
LIMIT: Final = "execution.checkpointing.timeout"


def checkpointing(deployment: Deployment, job: Component) -> tuple[Value, Value]:
    """Return interval and timeout of a job's checkpoints: its own, else those of the cluster that is given with it."""
    around = job if job.has(INTERVAL) else cluster_of(deployment, job)
    own = job if around is None else around
    return own.value(INTERVAL), job.value(LIMIT) if job.has(LIMIT) else own.value(LIMIT)


def cluster_of(deployment: Deployment, job: Component) -> Component | None:
    """Return the configuration of the Flink cluster that a job runs in: the nearest by folder.

    It names checkpoints, and neither sink nor source. None is returned where none is given.
    """
    clusters = [one for one in deployment.of(Role.FLINK) if one.has(INTERVAL) and not _is_table(one)]
    return max(clusters, key=lambda one: _shared(one.place.file, job.place.file), default=None)


def _is_table(flink: Component) -> bool:
    return any(name.startswith(("sink.", "scan.", "properties.")) or name == "connector" for name in flink.given)


def _shared(one: str, other: str) -> int:
    """Return how many folders two paths have in common."""
    count = 0
    for left, right in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
