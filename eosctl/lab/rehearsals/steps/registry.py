"""The steps by name, and the execution of a step."""

from __future__ import annotations

import inspect
from typing import Final

from eosctl.lab.rehearsals.clusters import HERE, RehearsalCluster, RehearsalClusters
from eosctl.lab.rehearsals.rehearsal import StepWords
from eosctl.lab.rehearsals.steps import cluster, groups, replicas, topics, transactions
from eosctl.lab.steps import StepRegistry

STEPS: Final = StepRegistry("docs/runbooks/rehearsals.md", (cluster, replicas, transactions, groups, topics))


async def do(clusters: RehearsalClusters, step: StepWords) -> None:
    """Run a step.

    Raises:
        UsageError: The step is unknown.
        ConfigFileError: Its arguments are invalid.
        EosctlError: The cluster rejected the request.
    """
    doing, arguments = STEPS.bind(step, "in")
    first = next(iter(inspect.signature(doing).parameters.values()))
    target: RehearsalCluster | RehearsalClusters = (
        clusters if first.name == "clusters" else clusters.named(str(step.get("in", HERE)))
    )
    await doing(target, **arguments)
