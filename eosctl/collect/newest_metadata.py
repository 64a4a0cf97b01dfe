"""Brokers and topics from a broker whose metadata is current, since an isolated one shows what was true before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.collect.cluster import BrokerFacts, ClusterShape, collect_broker_facts, collect_fenced, collect_shape
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.errors import EosctlError
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason

#: Metadata records; an idle controller writes two a second (metadata.max.idle.interval.ms).
TOLERATED_LAG: Final = 10


class CurrentCluster(NamedTuple):
    """The cluster's shape, and the facts of its brokers."""

    shape: ClusterShape
    facts: BrokerFacts


async def collect_current_cluster(reader: ReadOnly) -> Probed[CurrentCluster]:
    """Fetch brokers and topics from any broker, and again from the newest one if brokers disagree.

    A broker that reaches no controller keeps answering with the leaders, in-sync replicas, and brokers from before.
    Under KRaft the epoch of finalized features in ApiVersions is the offset of the broker's metadata.

    Raises:
        EosctlError: No broker responded.
    """
    first = await _collect(reader, None)
    offsets = first.value.facts.metadata_offsets
    if not offsets or max(offsets.values()) - min(offsets.values()) <= TOLERATED_LAG:
        return first
    newest = max(offsets, key=lambda node_id: offsets[node_id])
    try:
        current = await _collect(reader, newest)
        return Probed(_with_cut_off(current.value, offsets), current.gaps)
    except EosctlError as error:
        detail = (
            f"brokers have metadata of different age, and the newest, broker {newest}, did not answer: {error.what}"
        )
        frozen = tuple(
            EvidenceGap(kind, subject, GapReason.FROZEN, detail=detail, next_step=error.next_step)
            for kind, subject in (
                (EvidenceKind.TOPICS, "leaders and in-sync replicas"),
                (EvidenceKind.CLUSTER, "which brokers are registered"),
            )
        )
        return Probed(first.value, (*first.gaps, *frozen))


def _with_cut_off(current: CurrentCluster, answered: Mapping[int, int]) -> CurrentCluster:
    """Keep how old the metadata is of fenced brokers that have answered."""
    brokers = tuple(
        replace(broker, metadata_offset=answered[broker.node_id])
        if broker.fenced and broker.node_id in answered
        else broker
        for broker in current.facts.brokers
    )
    return current._replace(facts=current.facts._replace(brokers=brokers))


async def _collect(reader: ReadOnly, node_id: int | None) -> Probed[CurrentCluster]:
    shape = await collect_shape(reader, node_id)
    brokers = await collect_fenced(reader, shape.value.brokers, node_id)
    facts = await collect_broker_facts(reader, brokers)
    return Probed(CurrentCluster(shape.value, facts.value), (*shape.gaps, *facts.gaps))
