"""Missing evidence as text: what several kinds of evidence lack of one subject, for one reason, is one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from eosctl.model.evidence import EvidenceGap


class GapLine(NamedTuple):
    """Kinds of evidence that are missing of the same subject for the same reason."""

    kinds: str
    gap: EvidenceGap

    @property
    def subject(self) -> str:
        """Return the kinds with what they are missing of."""
        return f"{self.kinds} of {self.gap.subject}"

    @property
    def reason(self) -> str:
        """Return Kafka's error, or why the evidence is missing."""
        return (self.gap.error or self.gap.detail or self.gap.reason.value).rstrip(".")


def join_gaps(gaps: Iterable[EvidenceGap]) -> list[GapLine]:
    """Join gaps that differ only in the kind of evidence, in the order of their first ones."""
    kinds: dict[tuple[str, ...], dict[str, EvidenceGap]] = {}
    for gap in gaps:
        same = (gap.subject, gap.error or gap.detail or gap.reason.value, gap.next_step)
        kinds.setdefault(same, {}).setdefault(gap.kind.value, gap)
    return [GapLine(", ".join(found), next(iter(found.values()))) for found in kinds.values()]
