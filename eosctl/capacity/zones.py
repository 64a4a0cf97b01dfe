"""The loss of brokers or of an availability zone (F24b): the copies that are left, and how busy the others become."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import ceil
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.capacity.resources import Demand, use_resources
from eosctl.model.capacity_plan import Advice, Figure, Grade, ResourceUse, Unit
from eosctl.model.workload import ClusterSpec
from eosctl.text import count_text

_COPIED_ANEW: Final = frozenset({"disk space", "heap for EOS state", "replicas"})
"""What grows only when lost replicas are created on other brokers. Kafka does not do that by itself, and a zone
returns."""

#: With two copies of everything that is committed, the loss of one broker loses nothing.
SAFE_COPIES: Final = 2


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


def copies_advice(cluster: ClusterSpec) -> Iterator[Advice]:
    """Recommend the copies with which transactions survive the loss of brokers, and commit without them."""
    least, left = cluster.min_insync_replicas, copies_without_brokers(cluster)
    if left < least:
        reason = (
            f"without {count_text(cluster.brokers_lost, 'broker')}, {left} of {cluster.replication_factor} copies are "
            f"left, fewer than min.insync.replicas={least}: no transaction could commit"
        )
        if left >= SAFE_COPIES:
            yield Advice("min.insync.replicas", str(left), f"{reason}. {left} copies still survive such a loss", True)
        else:
            wanted = next(n for n in count(cluster.replication_factor) if _left_of(cluster, n) >= least)
            yield Advice("replication.factor", str(wanted), reason + _more_brokers(cluster, wanted), True)
    if least < SAFE_COPIES:
        wanted = max(cluster.replication_factor, SAFE_COPIES + 1)
        yield Advice(
            "replication.factor / min.insync.replicas",
            f"{wanted} / {SAFE_COPIES}",
            f"with min.insync.replicas={least} a transaction may commit with one copy, and is lost with that broker"
            f"{_more_brokers(cluster, wanted)}",
            True,
        )
    elif cluster.replication_factor == least and not cluster.brokers_lost:
        wanted = least + 1
        yield Advice(
            "replication.factor",
            str(wanted),
            f"min.insync.replicas is {least}, too: while any one broker is down, no transaction could commit"
            f"{_more_brokers(cluster, wanted)}",
            True,
        )


def _left_of(cluster: ClusterSpec, copies: int) -> int:
    return copies_without_brokers(replace(cluster, replication_factor=copies))


def _more_brokers(cluster: ClusterSpec, copies: int) -> str:
    return f". It takes {copies} brokers instead of {cluster.broker_count}" if copies > cluster.broker_count else ""


def _copies_that_suffice(cluster: ClusterSpec) -> int:
    """Return the fewest copies that leave enough in the other zones."""
    return next(n for n in count(1) if n - ceil(n / cluster.zone_count) >= cluster.min_insync_replicas)


def _zones_that_suffice(cluster: ClusterSpec) -> int | None:
    """Return the fewest zones with which enough copies are left; None if no number of them helps."""
    copies, brokers = cluster.replication_factor, cluster.broker_count
    enough = (n for n in range(2, brokers + 1) if copies - ceil(copies / n) >= cluster.min_insync_replicas)
    return next(enough, None)
