"""Collect a `ClusterSnapshot` with a client: the probes, their order, and the evidence that they need."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from eosctl.analysis.second_look import doubt_of, holds_something_long, remains_in_doubt
from eosctl.collect.access_rules import collect_access_rules
from eosctl.collect.answered import unlisted
from eosctl.collect.cluster import (
    collect_client_quotas,
    collect_reassignments,
    collect_topics_of_transactions,
)
from eosctl.collect.configs import collect_broker_settings, collect_topic_settings
from eosctl.collect.leader_epochs import collect_leader_epochs
from eosctl.collect.newest_metadata import collect_current_cluster
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.quorum import collect_quorum, frozen_metadata, has_quorum
from eosctl.collect.reader import Asks, Probed, ReadOnly
from eosctl.collect.steps import Steps
from eosctl.collect.transactions import EVERY_TRANSACTION, TransactionQuery, read_doubt, read_transactions
from eosctl.collect.visibility import collect_visibility
from eosctl.model.evidence import ACTIVE_CONTROLLER, EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot, QuorumInfo, Topic
from eosctl.model.transaction import TransactionLook

# These kinds are read separately: readable records are expensive to count; metrics and logs do not come from the
# cluster.
ASKED: Final = frozenset(EvidenceKind) - {EvidenceKind.METRICS, EvidenceKind.LOGS}
ALWAYS: Final = frozenset({EvidenceKind.CLUSTER, EvidenceKind.TOPICS, EvidenceKind.API_VERSIONS, EvidenceKind.FEATURES})
EVERYTHING: Final = ASKED - {EvidenceKind.READABLE_RECORDS}
TRANSACTION_STATE: Final = "__transaction_state"
CONSUMER_OFFSETS: Final = "__consumer_offsets"

Progress = Callable[[str], None]
"""Called with a short description of the evidence that is being collected."""


class Observer(msgspec.Struct, frozen=True):
    """The parameters of a collection.

    `second_look_after_ms` is the pause before the second pass over transactions, which is made only if the first is
    inconclusive (`analysis.second_look`). `query` selects transactional ids. `explaining` are kinds of evidence that
    only explain a problem, `describing` those about notable transactions: they are skipped if nothing is in doubt and,
    for the latter, nothing is open for long.
    """

    now_ms: Callable[[], int]
    name: str = "eosctl"
    second_look_after_ms: int = 500
    progress: Progress = msgspec.field(default=lambda text: None)
    query: TransactionQuery = EVERY_TRANSACTION
    explaining: frozenset[EvidenceKind] = frozenset()
    describing: frozenset[EvidenceKind] = frozenset()


async def collect_snapshot(
    client: Asks, observer: Observer, kinds: frozenset[EvidenceKind] = EVERYTHING
) -> ClusterSnapshot:
    """Collect evidence without changing the cluster.

    Args:
        client: An open client; only read requests are sent through it (`collect.allowed`). The deadline of a
            `ReadOnly` bounds the whole collection: evidence that has not arrived by then is a gap.
        observer: Clock, pause between the two passes, and progress.
        kinds: The evidence to collect; brokers and topics are always included.

    Raises:
        EosctlError: Metadata could not be fetched. Every later failure is a gap in the snapshot.
    """
    reader = client if isinstance(client, ReadOnly) else ReadOnly(client)
    gaps: list[EvidenceGap] = []
    reader.steps = Steps(observer.progress, asyncio.get_running_loop().time)
    observer = replace(observer, progress=reader.steps.begin)

    observer.progress("brokers and topics")
    current = await collect_current_cluster(reader)
    gaps += current.gaps
    shape, facts = current.value
    snapshot = ClusterSnapshot(
        captured_at_ms=observer.now_ms(),
        cluster_id=shape.cluster_id,
        controller_id=None if any(map(has_quorum, facts.brokers)) else shape.controller_id,
        observer=observer.name,
        brokers=facts.brokers,
        features=facts.features,
        topics=shape.topics,
        collected=(kinds & ASKED) | ALWAYS,
    )
    # Silence takes seconds to prove: asked for last, it would leave no time for anything else.
    controller = asyncio.ensure_future(_ask_for_controller(reader, snapshot, observer))
    try:
        snapshot = await _with_what_brokers_keep(reader, snapshot, observer, gaps)
        observer.progress("controller quorum")
        snapshot = await _with_what_the_controller_keeps(reader, snapshot, controller, gaps)
    finally:
        controller.cancel()
        reader.steps = None
    return replace(snapshot, captured_at_ms=observer.now_ms(), gaps=tuple(dict.fromkeys(gaps)))


async def _ask_for_controller(
    reader: ReadOnly, snapshot: ClusterSnapshot, observer: Observer
) -> Probed[QuorumInfo | None]:
    if EvidenceKind.QUORUM not in snapshot.collected:
        return Probed(None)
    return await collect_quorum(reader, snapshot.brokers, observer.now_ms)


async def _with_what_brokers_keep(
    reader: ReadOnly, snapshot: ClusterSnapshot, observer: Observer, gaps: list[EvidenceGap]
) -> ClusterSnapshot:
    kinds = snapshot.collected
    observer.progress("access rules")
    access = await collect_access_rules(reader)
    names = (topic.name for topic in snapshot.topics)
    gaps += await collect_visibility(reader, kinds, access, names, _random_name)
    gaps += unlisted(kinds, snapshot.topics)
    if EvidenceKind.ACCESS_RULES in kinds:
        gaps += access.gaps
        snapshot = replace(snapshot, access_rules=access.value)
    if EvidenceKind.TRANSACTIONS in kinds or EvidenceKind.PRODUCERS in kinds:
        looks = await _looks(reader, snapshot, observer, gaps)
        written = await collect_topics_of_transactions(reader, snapshot.topics, looks[-1].transactions)
        gaps += written.gaps
        snapshot = replace(snapshot, topics=written.value)
        epochs = await collect_leader_epochs(reader, snapshot.topics, looks[-1])
        gaps += epochs.gaps
        kinds -= _superfluous(looks, observer, gaps)
        snapshot = replace(snapshot, looks=looks, topics=epochs.value, collected=(kinds & ASKED) | ALWAYS)
    snapshot = await _with_settings(reader, snapshot, observer, gaps)
    if EvidenceKind.OFFSETS in kinds:
        observer.progress("offsets")
        offsets = await collect_offsets(reader, snapshot.topics)
        gaps += offsets.gaps
        snapshot = replace(snapshot, topics=offsets.value)
    if {EvidenceKind.OFFSETS, EvidenceKind.HIDDEN_RECORDS} <= kinds:
        from eosctl.collect.hidden import collect_hidden

        hidden = await collect_hidden(reader, snapshot.topics)
        gaps += hidden.gaps
        snapshot = replace(snapshot, hidden_ranges=hidden.value)
    if EvidenceKind.TRANSACTION_HISTORY in kinds:
        observer.progress("transaction log")
        snapshot = await _with_history(reader, snapshot, gaps)
        snapshot = await _with_endings(reader, snapshot, kinds, gaps)
    if EvidenceKind.GROUPS in kinds or EvidenceKind.GROUP_OFFSETS in kinds:
        snapshot = await _with_groups(reader, snapshot, observer, gaps)
    if {EvidenceKind.GROUP_OFFSETS, EvidenceKind.OFFSETS, EvidenceKind.READABLE_RECORDS} <= kinds:
        observer.progress("records before groups")
        from eosctl.collect.readable import collect_readable

        readable = await collect_readable(reader, snapshot.topics, snapshot.groups)
        gaps += readable.gaps
        snapshot = replace(snapshot, readable_ranges=readable.value)
    if {EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS, EvidenceKind.PENDING_OFFSETS} <= kinds:
        from eosctl.collect.pending import collect_pending

        pending = await collect_pending(reader, snapshot)
        gaps += pending.gaps
        snapshot = replace(snapshot, pending_offsets=pending.value)
    if EvidenceKind.LOG_DIRS in kinds:
        observer.progress("log directories")
        from eosctl.collect.log_directories import collect_log_directories

        directories = await collect_log_directories(reader, _answering(snapshot))
        gaps += directories.gaps
        snapshot = replace(snapshot, log_directories=directories.value)
    if EvidenceKind.CLIENT_QUOTAS in kinds:
        quotas = await collect_client_quotas(reader, snapshot.brokers)
        gaps += quotas.gaps
        snapshot = replace(snapshot, client_quotas=quotas.value)
    return snapshot


async def _with_groups(
    reader: ReadOnly, snapshot: ClusterSnapshot, observer: Observer, gaps: list[EvidenceGap]
) -> ClusterSnapshot:
    observer.progress("groups")
    from eosctl.collect.group_generations import collect_generations
    from eosctl.collect.groups import collect_groups
    from eosctl.collect.unloaded import collect_unloaded

    groups = await collect_groups(reader, _answering(snapshot))
    gaps += groups.gaps
    offsets_topic = snapshot.topic(CONSUMER_OFFSETS)
    if offsets_topic is not None and not any(gap.reason is GapReason.HIDDEN for gap in gaps):
        gaps += await collect_unloaded(reader, offsets_topic, _random_name)
    groups = await collect_generations(reader, snapshot, groups.value)
    gaps += groups.gaps
    if EvidenceKind.REBALANCES in snapshot.collected:
        from eosctl.collect.rebalances import collect_rebalances

        groups = await collect_rebalances(reader, groups.value, observer.now_ms)
        gaps += groups.gaps
    if EvidenceKind.SHARE_STATE in snapshot.collected:
        from eosctl.collect.share_state import collect_share_state

        groups = await collect_share_state(reader, snapshot, groups.value)
        gaps += groups.gaps
    return replace(snapshot, groups=groups.value)


async def _with_what_the_controller_keeps(
    reader: ReadOnly,
    snapshot: ClusterSnapshot,
    controller: Awaitable[Probed[QuorumInfo | None]],
    gaps: list[EvidenceGap],
) -> ClusterSnapshot:
    """Add the quorum, and the partitions that are being moved."""
    kinds = snapshot.collected
    if EvidenceKind.QUORUM in kinds:
        quorum = await controller
        gaps += (*quorum.gaps, *frozen_metadata(quorum.gaps))
        if quorum.value is not None:
            snapshot = replace(snapshot, quorum=quorum.value, controller_id=quorum.value.leader_id)
    if EvidenceKind.REASSIGNMENTS in kinds and not any(gap.subject == ACTIVE_CONTROLLER for gap in gaps):
        moves = await collect_reassignments(reader, snapshot.brokers, snapshot.controller_id)
        gaps += moves.gaps
        snapshot = replace(snapshot, reassignments=moves.value)
    return snapshot


def _random_name() -> str:
    """Return a random name that does not exist and that prefixed ACLs are unlikely to match."""
    return f"-{uuid.uuid4().hex}"


def _answering(snapshot: ClusterSnapshot) -> list[int]:
    """Return the brokers to query; unreachable ones result in a gap for each kind."""
    return [broker.node_id for broker in snapshot.brokers if not broker.fenced]


async def _with_settings(
    reader: ReadOnly, snapshot: ClusterSnapshot, observer: Observer, gaps: list[EvidenceGap]
) -> ClusterSnapshot:
    if EvidenceKind.BROKER_CONFIGS in snapshot.collected:
        observer.progress("broker settings")
        brokers = await collect_broker_settings(reader, snapshot.brokers)
        gaps += brokers.gaps
        snapshot = replace(snapshot, brokers=brokers.value)
    if EvidenceKind.TOPIC_CONFIGS in snapshot.collected:
        observer.progress("topic settings")
        topics = await collect_topic_settings(reader, snapshot.topics)
        gaps += topics.gaps
        snapshot = replace(snapshot, topics=topics.value)
    return snapshot


async def _looks(
    reader: ReadOnly, snapshot: ClusterSnapshot, observer: Observer, gaps: list[EvidenceGap]
) -> tuple[TransactionLook, ...]:
    topics = snapshot.topics if EvidenceKind.PRODUCERS in snapshot.collected else ()
    partitions = [info for topic in topics for info in topic.partitions]
    broker_ids = _answering(snapshot)
    observer.progress("transactions")
    first = await read_transactions(reader, broker_ids, partitions, observer.now_ms, observer.query)
    gaps += first.gaps
    is_unclear = bool(first.gaps) and _shows_open(first.value)
    doubt = doubt_of(first.value)
    if not (is_unclear or any(doubt)):
        return (first.value,)
    observer.progress("transactions, a second reading")
    await reader.pause(observer.second_look_after_ms / 1000)
    if first.gaps or observer.query.narrows:
        second = await read_transactions(
            reader, broker_ids, partitions, observer.now_ms, observer.query, before=first.value
        )
    else:
        second = await read_doubt(reader, broker_ids, partitions, observer.now_ms, first.value, doubt)
    gaps += second.gaps
    return (first.value, second.value)


def _shows_open(look: TransactionLook) -> bool:
    return any(p.current_txn_start_offset is not None for where in look.producers for p in where.producers)


def _superfluous(
    looks: tuple[TransactionLook, ...], observer: Observer, gaps: Sequence[EvidenceGap]
) -> frozenset[EvidenceKind]:
    """Return the kinds without information about a problem: there is one if both passes, or gaps, leave a doubt."""
    if len(looks) > 1 and (_may_leave_doubt(gaps) or remains_in_doubt(looks)):
        return frozenset()
    return observer.explaining if holds_something_long(looks[-1]) else observer.explaining | observer.describing


def _may_leave_doubt(gaps: Sequence[EvidenceGap]) -> bool:
    return any(gap.kind in (EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS) for gap in gaps)


def _has_transactions(snapshot: ClusterSnapshot) -> bool:
    """Return whether the cluster has a transaction log: transactional ids, or producers with a coordinator epoch."""
    states = (state for where in snapshot.producers for state in where.producers)
    return bool(snapshot.transactions) or any(
        state.current_txn_start_offset is not None or state.coordinator_epoch >= 0 for state in states
    )


async def _with_history(reader: ReadOnly, snapshot: ClusterSnapshot, gaps: list[EvidenceGap]) -> ClusterSnapshot:
    topic: Topic | None = snapshot.topic(TRANSACTION_STATE)
    if topic is None:
        if _has_transactions(snapshot) or any(
            gap.kind is EvidenceKind.TOPICS and gap.reason is GapReason.HIDDEN for gap in gaps
        ):
            gaps.append(
                EvidenceGap(
                    EvidenceKind.TRANSACTION_HISTORY,
                    "*",
                    GapReason.NOT_AUTHORIZED,
                    detail=f"{TRANSACTION_STATE} is not in the metadata",
                    next_step=f"Grant Describe and Read on topic {TRANSACTION_STATE}.",
                )
            )
        return snapshot
    if EvidenceKind.OFFSETS not in snapshot.collected:
        filled = await collect_offsets(reader, [topic])
        gaps += filled.gaps
        topic = filled.value[0]
    from eosctl.collect.history import collect_history

    history = await collect_history(reader, topic.partitions)
    gaps += history.gaps
    return replace(snapshot, transaction_history=history.value)


async def _with_endings(
    reader: ReadOnly, snapshot: ClusterSnapshot, kinds: frozenset[EvidenceKind], gaps: list[EvidenceGap]
) -> ClusterSnapshot:
    """Add how transactions ended in their partitions: markers before what hangs, and what was aborted."""
    if EvidenceKind.PRODUCERS in kinds and len(snapshot.looks) > 1:
        from eosctl.collect.markers import collect_marker_searches

        searches = await collect_marker_searches(reader, replace(snapshot, gaps=tuple(gaps)))
        gaps += searches.gaps
        snapshot = replace(snapshot, marker_searches=searches.value)
    if EvidenceKind.ABORTED_RANGES in kinds:
        from eosctl.collect.aborted_ranges import collect_aborted_ranges

        ranges = await collect_aborted_ranges(reader, snapshot)
        gaps += ranges.gaps
        snapshot = replace(snapshot, aborted_ranges=ranges.value)
    return snapshot
