"""The loss of an availability zone (F24b): what is left of each partition, and how busy the other brokers become."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import ceil
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.capacity.resources import Demand, use_resources
from eosctl.model.capacity_plan import Advice, Figure, Grade, ResourceUse, Unit
from eosctl.model.workload import ClusterSpec

_COPIED_ANEW: Final = frozenset({"disk space", "heap for EOS state", "replicas"})
"""What grows only when lost replicas are created on other brokers. Kafka does not do that by itself, and a zone
returns."""


class ZoneLoss(NamedTuple):
    """The cluster without its largest zone.

    Attributes:
        brokers_lost: Brokers in it, which are spread evenly over the zones.
        copies_left: The fewest copies of a partition in the other zones.
        resources: What the remaining brokers do more.
    """

    brokers_lost: int
    copies_left: int
    resources: tuple[ResourceUse, ...]


def lose_zone(cluster: ClusterSpec, demand: Demand) -> ZoneLoss | None:
    """Return the cluster without a zone; None for a cluster in one zone.

    Replicas are spread over the zones (``broker.rack``), so a zone has at most ``ceil(copies / zones)`` of a partition.
    """
    if cluster.zone_count < 2:
        return None
    lost, copies = _largest_zone(cluster), _copies_without_zone(cluster)
    used = use_resources(replace(cluster, brokers_lost=lost), demand)
    return ZoneLoss(lost, copies, tuple(one for one in used if one.name not in _COPIED_ANEW))


def copies_without_brokers(cluster: ClusterSpec) -> int:
    """Return the fewest copies of a partition that `brokers_lost` leave: as many as a zone, they are taken to be one.

    Fewer brokers can be of several zones.
    """
    if cluster.zone_count > 1 and cluster.brokers_lost == _largest_zone(cluster):
        return _copies_without_zone(cluster)
    return max(0, cluster.replication_factor - cluster.brokers_lost)


def _largest_zone(cluster: ClusterSpec) -> int:
    return ceil(cluster.broker_count / cluster.zone_count)


def _copies_without_zone(cluster: ClusterSpec) -> int:
    return cluster.replication_factor - ceil(cluster.replication_factor / cluster.zone_count)


def zone_figures(loss: ZoneLoss) -> Iterator[Figure]:
    """Yield the figures of a lost zone."""
    name = "copies of a partition that are left when a zone is lost, at least"
    yield Figure(name, loss.copies_left, Unit.COUNT, "F24b", Grade.EXACT)
    for one in loss.resources:
        if one.name == "network out":
            name = "network out of each broker that is left when a zone is lost"
            yield Figure(name, one.used_after_loss, Unit.BYTES_PER_S, "F24b", Grade.ASSUMED)


def zone_advice(cluster: ClusterSpec, loss: ZoneLoss) -> Iterator[Advice]:
    """Recommend what lets transactions commit, and the brokers suffice, without a zone."""
    if loss.copies_left < cluster.min_insync_replicas:
        zones = _zones_that_suffice(cluster)
        yield Advice(
            "zones" if zones else "replication.factor",
            str(zones or _copies_that_suffice(cluster)),
            f"a zone can hold {cluster.replication_factor - loss.copies_left} of {cluster.replication_factor} copies; "
            f"without it, fewer than min.insync.replicas={cluster.min_insync_replicas} are left: no transaction could "
            "commit",
            True,
        )
    exceeded = [one for one in loss.resources if (one.utilisation or 0.0) > 1]
    if exceeded and cluster.brokers_lost < loss.brokers_lost:
        uses = ", ".join(f"{one.name} at {one.utilisation:.0%}" for one in exceeded)
        yield Advice(
            "brokers_lost",
            str(loss.brokers_lost),
            f"the loss of a zone takes {loss.brokers_lost} brokers; the others then use more than planned: {uses}. A "
            "plan with this value has the brokers that it needs",
            False,
        )


def _copies_that_suffice(cluster: ClusterSpec) -> int:
    """Return the fewest copies that leave enough in the other zones."""
    return next(n for n in count(1) if n - ceil(n / cluster.zone_count) >= cluster.min_insync_replicas)


def _zones_that_suffice(cluster: ClusterSpec) -> int | None:
    """Return the fewest zones with which enough copies are left; None if no number of them helps."""
    copies, brokers = cluster.replication_factor, cluster.broker_count
    enough = (n for n in range(2, brokers + 1) if copies - ceil(copies / n) >= cluster.min_insync_replicas)
    return next(enough, None)
