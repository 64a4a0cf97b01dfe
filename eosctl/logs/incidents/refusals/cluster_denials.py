"""Detect denied operations on the cluster, above all IDEMPOTENT_WRITE, which old brokers require."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.refusals.topic_denials import Observers
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

EPISODE_MS: Final = 300_000
NEAR_MS: Final = 30_000
"""Maximum time between a broker's record of a denial and the client's."""
_IDEMPOTENT: Final = frozenset({"IDEMPOTENTWRITE", "IDEMPOTENT_WRITE"})
_OF_BROKERS: Final = frozenset({"CLUSTERACTION", "CLUSTER_ACTION"})


def find_cluster_denials(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield denied operations on the cluster, one incident for each principal and operation.

    Clients print neither, so their records join the only denial near them in time.
    """
    observers = Observers(timeline)
    events = [event for event in timeline.of("AUTHZ_CLUSTER") if not observers.has(event)]
    named = [event for event in events if event.fields.get("operation")]
    by_brokers: dict[str, list[LogEvent]] = {}
    alone: list[LogEvent] = []
    for event in events:
        if event.fields.get("operation"):
            by_brokers.setdefault(_key(event), []).append(event)
            continue
        first = bisect_left(named, time_of(event) - NEAR_MS, key=time_of)
        last = bisect_right(named, time_of(event) + NEAR_MS, key=time_of)
        near = {_key(one) for one in named[first:last]}
        (by_brokers.setdefault(near.pop(), []) if len(near) == 1 else alone).append(event)
    for denials in (*by_brokers.values(), *by_key((timeline.log_of(event), event) for event in alone).values()):
        for episode in episodes(denials, EPISODE_MS):
            yield _denied(timeline, episode)


def _key(event: LogEvent) -> str:
    return "\0".join((event.fields.get("principal", ""), event.fields["operation"].upper()))


def _denied(timeline: LogTimeline, episode: Sequence[LogEvent]) -> Incident:
    head = next((event for event in episode if event.fields.get("operation")), episode[0])
    principal, operation = head.fields.get("principal", ""), head.fields.get("operation", "")
    request = head.fields.get("request", "")
    client = next((event for event in episode if event.application not in timeline.servers()), None)
    if not operation and "transaction marker" in head.message:
        operation, cause, confidence = "CLUSTER_ACTION", "missing-cluster-action-acl", 0.9
        what = (
            f"Brokers refuse the transaction markers of {program_of(timeline, head)}: its principal lacks "
            "ClusterAction on the cluster. Transactions cannot complete, and readers of their partitions wait."
        )
    elif not operation:
        cause, confidence = "missing-idempotent-write-acl", 0.6
        what = (
            f"{opening(program_of(timeline, head))} lacks a permission on the cluster, most likely IDEMPOTENT_WRITE, "
            "which idempotent producers need on brokers before 2.8. Clients are idempotent by default since 3.0."
        )
    elif operation.upper() in _IDEMPOTENT:
        cause, confidence = "missing-idempotent-write-acl", 0.95
        what = (
            f"{principal or 'The client'} was denied IDEMPOTENT_WRITE on the cluster ({request or 'InitProducerId'}). "
            "Its producer is idempotent, the default since Kafka 3.0, and brokers before 2.8 require this permission."
        )
    else:
        cause = "missing-cluster-action-acl" if operation.upper() in _OF_BROKERS else "missing-cluster-acl"
        confidence = 0.9
        what = f"{principal or 'A principal'} was denied {operation.upper()} on the cluster ({request or 'a request'})."
    return incident(
        "cluster_authorization",
        cause,
        {
            "principal": principal,
            "operation": operation.upper(),
            "application": "" if client is None else client.application,
            "client.id": "" if client is None else client.fields.get("client_id", ""),
        },
        episode,
        what,
        "Grant IdempotentWrite on the cluster (or Write on any topic from 2.8 on), or set enable.idempotence=false "
        "where exactly-once is not needed."
        if cause == "missing-idempotent-write-acl"
        else f"Add the ACL: {operation.title().replace('_', '')} on Cluster kafka-cluster.",
        confidence=confidence,
    )
