"""Metrics from a snapshot that JMX lacks: open and hanging transactions, their impact, and unstable offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.analysis.unseen import classify_all_open
from eosctl.collect.transaction_ends import TransactionEnd
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.metric_reading import Gauge, GaugeSample
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition, TransactionLook

Labels = tuple[tuple[str, str], ...]


UP = "eosctl_up"
HANGING: Final = "eosctl_hanging_transaction"
LAST_WRITE: Final = "eosctl_hanging_transaction_last_write_timestamp_seconds"
WAITING: Final = "eosctl_waiting_group_offsets"
#: The most samples of a series that names transactions or groups.
MOST_NAMED: Final = 100
HELP = {
    UP: "Whether the cluster could be asked at the last look.",
    "eosctl_captured_timestamp_seconds": "When the last look was taken, seconds since the epoch.",
    "eosctl_evidence_gaps": "Pieces of evidence that could not be had at the last look.",
    "eosctl_transactions": "Transactions that their coordinators hold, by state.",
    "eosctl_open_transaction_partitions": "Partitions with a transaction open on their leader, by verdict.",
    "eosctl_open_transaction_age_seconds": "Age of the oldest transaction open on a partition, by verdict.",
    "eosctl_last_stable_offset_gap": "Offsets from the last stable offset to the high watermark, where there are any.",
    HANGING: "1 for each hanging transaction, at most for the 100 that hide the most offsets.",
    LAST_WRITE: "When a hanging transaction wrote last, seconds since the epoch by its producer's clock.",
    WAITING: "Offsets hidden from a group by a transaction that is not merely open, at most the 100 largest.",
    "eosctl_unstable_offsets": "Offsets of a group that an open transaction holds back, where there are any.",
}
ENDED: Final = "eosctl_transactions_completed_total"
ENDED_HELP: Final = "Transactions decided since the exporter began to follow the transaction log, by outcome."


def measure_cluster(snapshot: ClusterSnapshot, earlier: TransactionLook | None = None) -> tuple[Gauge, ...]:
    """Measure a snapshot with transactions, producers, offsets, groups, and their offsets.

    A zero is exported only if nothing is hidden: without the permission to describe every topic and transactional id,
    verdicts without a match have no sample. Partitions and groups are exported only while affected, and series with
    names of transactions or groups have at most `MOST_NAMED` samples, so they do not grow with the cluster.

    Args:
        snapshot: The current snapshot.
        earlier: The transactions of the previous pass, which distinguish a stalled decision from markers in transit.
    """
    verdicts = _judge(snapshot, earlier)
    states = Counter(transaction.state for transaction in snapshot.transactions)
    statuses = Counter(verdict.status for verdict in verdicts)
    measured: dict[str, Iterable[GaugeSample]] = {
        UP: [GaugeSample((), 1)],
        "eosctl_captured_timestamp_seconds": [GaugeSample((), snapshot.captured_at_ms // 1000)],
        "eosctl_evidence_gaps": [GaugeSample((), len(snapshot.gaps))],
        "eosctl_transactions": [GaugeSample((("state", state),), count) for state, count in sorted(states.items())],
        "eosctl_open_transaction_partitions": [
            GaugeSample((("status", status.value),), statuses[status])
            for status in HangStatus
            if statuses[status] or not _may_be_hidden(snapshot)
        ],
        "eosctl_open_transaction_age_seconds": _ages(verdicts),
        "eosctl_last_stable_offset_gap": _gaps(snapshot),
        HANGING: [GaugeSample(_identified(verdict), 1) for verdict in _hanging(verdicts)],
        LAST_WRITE: [
            GaugeSample(_place(verdict.transaction.partition), verdict.transaction.last_timestamp_ms // 1000)
            for verdict in _hanging(verdicts)
            if verdict.transaction.last_timestamp_ms >= 0
        ],
        WAITING: _waiting(verdicts),
        "eosctl_unstable_offsets": _unstable(snapshot),
    }
    return tuple(Gauge(name, HELP[name], tuple(samples)) for name, samples in measured.items())


def _may_be_hidden(snapshot: ClusterSnapshot) -> bool:
    lists = (EvidenceKind.TOPICS, EvidenceKind.TRANSACTIONS)
    return any(gap.kind in lists and gap.reason is GapReason.HIDDEN for gap in snapshot.gaps)


def _judge(snapshot: ClusterSnapshot, earlier: TransactionLook | None) -> tuple[HangVerdict, ...]:
    verdicts = classify_all_open(snapshot)
    if earlier is None or not snapshot.looks:
        return verdicts
    apart = classify_all_open(replace(snapshot, looks=(earlier, snapshot.looks[-1])))
    stalled = {_identity(verdict): verdict for verdict in apart if verdict.status is HangStatus.STALLED}
    # The snapshot's own passes are too close together to show missing markers.
    return tuple(
        stalled.get(_identity(verdict), verdict) if verdict.status is HangStatus.OPEN else verdict
        for verdict in verdicts
    )


def _identity(verdict: HangVerdict) -> tuple[TopicPartition, int]:
    return verdict.transaction.partition, verdict.transaction.producer_id


def measure_ends(counts: Mapping[TransactionEnd, int]) -> Gauge:
    """Return the counter of ended transactions, with every outcome starting at zero."""
    samples = tuple(GaugeSample((("outcome", end.value),), counts.get(end, 0)) for end in TransactionEnd)
    return Gauge(ENDED, ENDED_HELP, samples, is_counter=True)


def unreachable() -> tuple[Gauge, ...]:
    """Return the metrics of an unreachable cluster."""
    return (Gauge(UP, HELP[UP], (GaugeSample((), 0),)),)


def _hanging(verdicts: Iterable[HangVerdict]) -> list[HangVerdict]:
    """Return at most one hanging transaction of a partition: the first one, which holds the last stable offset."""
    first: dict[TopicPartition, HangVerdict] = {}
    for verdict in verdicts:
        if verdict.status is HangStatus.HANGING:
            first.setdefault(verdict.transaction.partition, verdict)
    worst = sorted(first.values(), key=lambda one: (-_hidden(one), one.transaction.partition))
    return sorted(worst[:MOST_NAMED], key=lambda one: one.transaction.partition)


def _hidden(verdict: HangVerdict) -> int:
    radius = verdict.blast_radius
    return 0 if radius is None or radius.invisible_offsets is None else radius.invisible_offsets


def _identified(verdict: HangVerdict) -> Labels:
    transaction = verdict.transaction
    return (
        *_place(transaction.partition),
        ("producer_id", str(transaction.producer_id)),
        ("transactional_id", transaction.transactional_id or ""),
    )


def _waiting(verdicts: Iterable[HangVerdict]) -> list[GaugeSample]:
    hidden: dict[Labels, int] = {}
    for verdict in verdicts:
        radius = verdict.blast_radius
        for impact in () if radius is None or verdict.status is HangStatus.OPEN else radius.groups:
            labels = (("group", impact.group_id), *_place(impact.partition))
            hidden[labels] = max(hidden.get(labels, 0), impact.invisible_offsets)
    worst = sorted(hidden.items(), key=lambda one: (-one[1], one[0]))
    return [GaugeSample(labels, count) for labels, count in sorted(worst[:MOST_NAMED])]


def _ages(verdicts: Iterable[HangVerdict]) -> list[GaugeSample]:
    oldest: dict[Labels, int] = {}
    for verdict in verdicts:
        age_ms = verdict.transaction.age_ms
        if age_ms is not None:
            labels = (*_place(verdict.transaction.partition), ("status", verdict.status.value))
            oldest[labels] = max(oldest.get(labels, 0), age_ms // 1000)
    return [GaugeSample(labels, age) for labels, age in sorted(oldest.items())]


def _gaps(snapshot: ClusterSnapshot) -> list[GaugeSample]:
    return [
        GaugeSample(_place(info.partition), info.high_watermark - info.last_stable_offset)
        for topic in snapshot.topics
        for info in topic.partitions
        if info.high_watermark is not None
        and info.last_stable_offset is not None
        and info.high_watermark > info.last_stable_offset
    ]


def _unstable(snapshot: ClusterSnapshot) -> list[GaugeSample]:
    counts = {group.group_id: sum(one.unstable for one in group.offsets) for group in snapshot.groups}
    return [GaugeSample((("group", group_id),), count) for group_id, count in sorted(counts.items()) if count]


def _place(partition: TopicPartition) -> Labels:
    return ("topic", partition.topic), ("partition", str(partition.partition))
