"""What responses leave out: a gap for each part, since nothing was read of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC, partitions_without_leader
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import Topic

Part = TypeVar("Part")
_COORDINATED_BY: Final = {
    EvidenceKind.TRANSACTIONS: TRANSACTION_STATE_TOPIC,
    EvidenceKind.GROUPS: CONSUMER_OFFSETS_TOPIC,
}


def unanswered(
    kind: EvidenceKind,
    requested: Iterable[Part],
    answered: Collection[Part],
    subject_of: Callable[[Part], str] = str,
) -> tuple[EvidenceGap, ...]:
    """Return a gap for each requested part that the response does not contain.

    Kafka answers every part of a request, with an error if need be. A proxy, another implementation of the protocol, or
    a defect can leave one out, and its silence is not health.

    Args:
        kind: The kind of the evidence.
        requested: The parts of the request, e.g. partitions or the ids of groups.
        answered: The parts that the response contains, also those with an error.
        subject_of: Returns the subject of a part's gap.
    """
    return tuple(left_out(kind, subject_of(part)) for part in requested if part not in answered)


def left_out(kind: EvidenceKind, subject: str) -> EvidenceGap:
    """Return the gap of a part that the response does not contain."""
    return EvidenceGap(
        kind,
        subject,
        GapReason.BROKER_ERROR,
        detail="the response does not contain it",
        next_step="Run the command again; if it persists, connect to the brokers directly, without a proxy.",
    )


def unlisted(kinds: Collection[EvidenceKind], topics: Iterable[Topic]) -> tuple[EvidenceGap, ...]:
    """Return a gap for each list of coordinators that misses partitions without a leader.

    ListTransactions and ListGroups have the ids and groups of the partitions that a broker leads, and no error for
    those that no broker leads.
    """
    by_name = {topic.name: topic for topic in topics}
    return tuple(
        EvidenceGap(
            kind,
            "partitions without a leader",
            GapReason.NO_LEADER,
            detail=where,
            next_step="Bring a replica of these partitions back.",
        )
        for kind, name in _COORDINATED_BY.items()
        if kind in kinds and name in by_name and (where := partitions_without_leader(by_name[name]))
    )
