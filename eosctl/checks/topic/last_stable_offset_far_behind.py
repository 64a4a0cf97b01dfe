"""EOS-TOP-005."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.analysis.lso import StableOffsetGap
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.findings.impact import incident_of
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import count_text

# These have checks of their own, which say more.
EXPLAINED: Final = frozenset({HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE, HangStatus.LONG_RUNNING})


@check(
    "EOS-TOP-005",
    "Last stable offset far behind the high watermark",
    Area.TOPIC,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.OFFSETS}),
    uses=frozenset({EvidenceKind.HIDDEN_RECORDS, EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS}),
    tags=("lso", "lag"),
    references=(
        "KIP-98",
        "isolation.level",
    ),
)
def last_stable_offset_far_behind(case: Case) -> Iterator[Problem]:
    """Find partitions where much is written that read_committed readers cannot see yet.

    What it checks:
        ListOffsets under both isolation levels: the difference is what an open transaction hides. 100,000 offsets or
        more count, as far as no other check explains them (hanging, stalled, late and long-running transactions).

    Why it matters for exactly-once:
        read_committed readers are that far behind, however fast they are, while their lag, measured against the last
        stable offset, looks like zero.

    Example:
        A batch job that writes a million records in one transaction, in a partition that others write to as well.

    Fix:
        Commit in smaller transactions, or give the job a topic of its own. When no open transaction is seen, look for
        replicas that lag: a marker counts only when it is replicated.

    Verify:
        eosctl txn hanging --all shows who holds the offset; the gap closes when that transaction ends.
    """
    for gap in case.stable_offset_gaps:
        if gap.offsets < case.limits.last_stable_offset_gap_records:
            continue
        if gap.holder is None or gap.holder.status not in EXPLAINED:
            yield _problem(gap, case)


def _problem(gap: StableOffsetGap, case: Case) -> Problem:
    holder = gap.holder
    if holder is None:
        cause = (
            "No open transaction was seen on its leader: it may just have ended, or its marker is not replicated yet."
        )
        holder_evidence: tuple[Evidence, ...] = ()
    else:
        owner = holder.transaction.transactional_id or f"producer id {holder.transaction.producer_id}"
        cause = f"Held by {owner}, open since offset {holder.transaction.first_offset}. {holder.explanation}"
        holder_evidence = holder.evidence
    return Problem(
        resource=Resource("partition", str(gap.partition)),
        message=(
            f"{gap.partition}: {count_text(gap.offsets, 'offset')} between last stable offset {gap.last_stable_offset} "
            "and "
            f"high watermark {gap.high_watermark}."
        ),
        confidence=Confidence.CERTAIN if holder is not None else Confidence.LIKELY,
        cause=cause,
        impact=f"{gap.partition}: read_committed readers are {count_text(gap.offsets, 'offset')} behind.",
        evidence=(
            Evidence("last stable offset", str(gap.last_stable_offset), "ListOffsets read_committed"),
            Evidence("high watermark", str(gap.high_watermark), "ListOffsets read_uncommitted"),
            *holder_evidence,
        ),
        remedy=("Wait for the transaction to end; make it smaller if this happens often.",),
        commands=(Command(f"eosctl txn hanging --all -b {case.bootstrap}", "who holds it"),),
        verify=(Command(f"eosctl check run EOS-TOP-005 -b {case.bootstrap}"),),
        incident="" if holder is None else incident_of(holder),
        facts=(
            ("last_stable_offset", gap.last_stable_offset),
            ("high_watermark", gap.high_watermark),
            ("invisible_offsets", gap.offsets),
        ),
    )
