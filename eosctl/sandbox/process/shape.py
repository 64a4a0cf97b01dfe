"""The shape of a sandbox's cluster, and the shares of its nodes that several processes host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.process.spec import SandboxSpec


class Share(NamedTuple):
    """The nodes that one process hosts.

    Attributes:
        hosted: The nodes.
        started: Those that start with the process. The listeners of other ones stay closed until they start.
        ports: The ports that brokers bound in an earlier process, in the order of their listeners.
    """

    hosted: frozenset[int]
    started: frozenset[int]
    ports: Mapping[int, Sequence[int]] = {}


def assign_nodes(shape: ClusterShape, worker_count: int) -> Mapping[int, frozenset[int]]:
    """Return the nodes of each worker, numbered from 1.

    Brokers and controllers are dealt in turn, so that each worker has a broker if there are enough, and the end of one
    process leaves three controllers a majority.

    >>> {worker: sorted(nodes) for worker, nodes in assign_nodes(ClusterShape(3), 2).items()}
    {1: [1, 3, 100], 2: [2]}
    """
    shares: dict[int, set[int]] = {worker: set() for worker in range(1, worker_count + 1)}
    for group in (shape.broker_ids, shape.controller_ids):
        _deal(group, shares)
    return {worker: frozenset(nodes) for worker, nodes in shares.items()}


def _deal(node_ids: Sequence[int], shares: Mapping[int, set[int]]) -> None:
    for at, node_id in enumerate(node_ids):
        shares[at % len(shares) + 1].add(node_id)


def shape_of(spec: SandboxSpec, logs_dir: Path | None = None, share: Share | None = None) -> ClusterShape:
    """Return the shape of a specified cluster.

    Args:
        spec: The specification.
        logs_dir: Directory of the nodes' logs; None for no logs.
        share: The nodes of this process; None for all.
    """
    settings = dict(spec.settings)
    unstable = settings.get("unstable.api.versions.enable") == "true"
    return ClusterShape(
        broker_count=spec.brokers,
        emulation=Emulation(spec.emulate, unstable),
        transaction_version=spec.transaction_version,
        settings=settings,
        fast=spec.fast,
        logs_dir=logs_dir,
        security=spec.security,
        controller_count=spec.controllers,
        log_dir_count=spec.log_dirs,
        racks=spec.racks,
        inter_broker_listener=spec.inter_broker_listener,
        cluster_id=spec.cluster_id,
        hosted=None if share is None else share.hosted,
    )
