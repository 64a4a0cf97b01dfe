"""What a workload costs in a month, with transactions and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.capacity.bytes_and_network import cross_zone_rate
from eosctl.capacity.record_sizes import MARKER_BATCH_BYTES
from eosctl.capacity.requests import request_rate
from eosctl.capacity.resources import brokers_needed, find_bottleneck, total_demand, use_resources
from eosctl.capacity.rhythm import work_out_rhythms
from eosctl.capacity.topic_plan import CONSUMER_OFFSETS, plan_topic
from eosctl.model.capacity_plan import CapacityPlan, TopicPlan
from eosctl.model.prices import Cost, Costs, Prices
from eosctl.model.workload import ClusterSpec, Workload

#: 365.25 days divided by twelve.
MONTH_S: Final = 2_629_800
GB: Final = 1e9


def price_plan(workload: Workload, plan: CapacityPlan, prices: Prices) -> Costs:
    """Return the bill of a month.

    The same records, batches, and offset commits without transactions have no markers, no ``__transaction_state``, and
    no transaction in ``__consumer_offsets``. Disk is billed for what is stored, not for what is provisioned.

    Args:
        workload: The workload.
        plan: Its plan.
        prices: The price list; what has the price 0 is named as unpriced.
    """
    cluster, instances = workload.cluster, sum(a.instance_count for a in workload.applications)
    plain = _topics_without_transactions(workload, plan)
    both: tuple[Sequence[TopicPlan], Sequence[TopicPlan]] = (plan.topics, plain)
    kept = sum(a.instance.instances * a.instance.disk_bytes for a in plan.applications if a.instance) / GB
    stored = [sum(topic.stored_bytes for topic in topics) / GB for topics in both]
    remote = [sum(topic.remote_bytes for topic in topics) / GB for topics in both]
    moved = [_between_zones(cluster, topics) * MONTH_S / GB for topics in both]
    items = (
        Cost("brokers", "broker", prices.broker, _broker_count(workload, plan), _count_for(workload, plan, plain)),
        Cost("disk of the brokers", "GB", prices.disk_gb, stored[0], stored[1]),
        Cost("tiered storage", "GB", prices.remote_gb, remote[0], remote[1]),
        Cost("traffic between zones", "GB", prices.between_zones_gb, moved[0], moved[1]),
        Cost("instances of applications", "instance", prices.instance, instances, instances),
        Cost("disk of the instances", "GB", prices.instance_disk_gb, kept, kept),
    )
    used = tuple(item for item in items if item.exactly_once or item.at_least_once)
    priced = tuple(item for item in used if item.price)
    return Costs(
        prices.currency,
        priced,
        exactly_once=sum(item.price * item.exactly_once for item in priced),
        at_least_once=sum(item.price * item.at_least_once for item in priced),
        without_price=tuple(item.name for item in used if not item.price),
    )


def _topics_without_transactions(workload: Workload, plan: CapacityPlan) -> tuple[TopicPlan, ...]:
    rhythms = {name: rhythm.without_transactions() for name, rhythm in work_out_rhythms(workload).items()}
    offsets = next(topic for topic in plan.topics if topic.name == CONSUMER_OFFSETS)
    marked = offsets.markers_per_s * MARKER_BATCH_BYTES
    return (
        *(plan_topic(workload, topic, rhythms) for topic in workload.topics),
        replace(offsets, written=offsets.written - marked, markers_per_s=0.0),
    )


def _between_zones(cluster: ClusterSpec, topics: Sequence[TopicPlan]) -> float:
    """Return bytes per second."""
    if cluster.zone_count < 2:
        return 0.0
    written, read = sum(topic.written for topic in topics), sum(topic.read for topic in topics)
    return cross_zone_rate(written, read, cluster.replication_factor, cluster.zone_count)


def _broker_count(workload: Workload, plan: CapacityPlan) -> int:
    is_exceeded = bool(plan.bottleneck) and (plan.resource(plan.bottleneck).utilisation or 0.0) > 1
    return (plan.broker_count_needed or 0) if is_exceeded else workload.cluster.broker_count


def _count_for(workload: Workload, plan: CapacityPlan, topics: Sequence[TopicPlan]) -> int:
    """Return the brokers for topics without transactions: those stated, or those needed where these do not fit.

    Requests are taken to be as many as with transactions.
    """
    cluster = workload.cluster
    requests_per_s = request_rate(workload, plan.topics, plan.applications, work_out_rhythms(workload))
    demand = total_demand(cluster, topics, plan.applications, requests_per_s)._replace(transaction_heap_bytes=0.0)
    bottleneck = find_bottleneck(use_resources(cluster, demand))
    if bottleneck is None or (bottleneck.utilisation or 0.0) <= 1:
        return cluster.broker_count
    return brokers_needed(cluster, demand) or 0
