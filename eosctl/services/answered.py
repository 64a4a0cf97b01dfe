"""Refuse an empty result where no broker was there to answer."""

from __future__ import annotations

from typing import Final

from eosctl.errors import ClusterUnreachable
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot

_SILENT: Final = frozenset({GapReason.UNREACHABLE, GapReason.TIMED_OUT, GapReason.NOT_AUTHENTICATED})


def require_answers(snapshot: ClusterSnapshot, kind: EvidenceKind, asked_for: str) -> None:
    """Return if a broker answered for this kind of evidence, or none had to be asked.

    Without any answer, an empty list would look like a healthy cluster. Partial answers are results with gaps.

    Args:
        snapshot: The evidence.
        kind: TRANSACTIONS, PRODUCERS, or GROUPS.
        asked_for: The evidence, as the error names it.

    Raises:
        ClusterUnreachable: No broker answered.
    """
    gaps = _silent_gaps(snapshot, kind)
    if not gaps or _has_answers(snapshot, kind, gaps):
        return
    names = ", ".join(sorted(gap.subject.removeprefix("broker ") for gap in gaps))
    raise ClusterUnreachable(
        f"No broker answered for {asked_for}, so nothing is known about them.",
        f"Asked: broker {names}. {gaps[0].detail}".rstrip(),
        gaps[0].next_step,
    )


def _silent_gaps(snapshot: ClusterSnapshot, kind: EvidenceKind) -> list[EvidenceGap]:
    """Return one gap for each broker that did not answer."""
    found = {
        gap.subject: gap
        for gap in snapshot.gaps
        if gap.kind is kind and gap.reason in _SILENT and gap.subject.startswith("broker ")
    }
    return list(found.values())


def _has_answers(snapshot: ClusterSnapshot, kind: EvidenceKind, gaps: list[EvidenceGap]) -> bool:
    if kind is EvidenceKind.PRODUCERS:
        # Leaders alone are asked, and an answer names each partition, also one without producers.
        return any(look.producers for look in snapshot.looks)
    silent = {gap.subject for gap in gaps}
    return any(f"broker {broker.node_id}" not in silent for broker in snapshot.brokers if not broker.fenced)
