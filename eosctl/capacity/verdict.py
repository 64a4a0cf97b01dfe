"""What decides whether a workload fits, apart from the brokers' resources, and what no verdict was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eosctl.capacity.zones import ZoneLoss, copies_without_brokers
from eosctl.model.capacity_plan import ApplicationPlan, InstancePlan, ResourceUse
from eosctl.model.workload import ApplicationSpec, ClusterSpec, Workload
from eosctl.text import bytes_text


def find_failures(workload: Workload, plans: Sequence[ApplicationPlan], zone_loss: ZoneLoss | None) -> Iterator[str]:
    """Yield clauses on what fails even with enough resources of the brokers.

    These are instances with less memory or disk than they need, and losses after which ``acks=all`` is refused.
    """
    yield from _copies(workload.cluster, zone_loss)
    for application, plan in zip(workload.applications, plans, strict=True):
        if plan.instance is not None:
            for name, needed, limit in instance_needs(application, plan.instance):
                if limit is not None and needed > limit:
                    yield (
                        f"an instance of {application.name} needs {bytes_text(needed)} of {name} and has "
                        f"{bytes_text(limit)}"
                    )


def _copies(cluster: ClusterSpec, zone_loss: ZoneLoss | None) -> Iterator[str]:
    losses = []
    if cluster.brokers_lost:
        lost = f"{cluster.brokers_lost} of {cluster.broker_count} brokers"
        losses.append((lost, copies_without_brokers(cluster)))
    if zone_loss is not None:
        losses.append(("a zone", zone_loss.copies_left))
    for lost, copies in losses:
        if copies < cluster.min_insync_replicas:
            least = f"min.insync.replicas={cluster.min_insync_replicas}"
            yield f"without {lost} a partition can have fewer than {least} copies, and no transaction commits"


def instance_needs(application: ApplicationSpec, one: InstancePlan) -> Iterator[tuple[str, float, float | None]]:
    """Yield what an instance needs: its name, bytes, and the limit that the workload file states."""
    yield "memory", one.memory_bytes, application.instance_memory_bytes
    if one.disk_bytes:
        yield "disk", one.disk_bytes, application.instance_disk_bytes


def list_unjudged(
    workload: Workload, plans: Sequence[ApplicationPlan], resources: Sequence[ResourceUse]
) -> Iterator[str]:
    """Yield what the plan works out and compares with nothing, as the file states no limit."""
    yield from (use.name for use in resources if use.planned is None)
    for application, plan in zip(workload.applications, plans, strict=True):
        if plan.instance is not None:
            for name, _, limit in instance_needs(application, plan.instance):
                if limit is None:
                    yield f"{name} of an instance of {application.name}"
