"""The machine-readable shape of an application test: verdict, counts, latency, and each flaw with its witness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from eosctl.lab.history.feed import FAULT_MEANING, Flaw
from eosctl.render.verify.items import VerifiedAnomalyItem, WitnessItem

if TYPE_CHECKING:
    from eosctl.lab.verify.app import AppPlan
    from eosctl.lab.verify.app_report import AppReport


class AppItem(msgspec.Struct, frozen=True):
    """The test of an application and what it has shown; latencies are from writing an input to seeing its output."""

    run: str
    verdict: str
    headline: str
    cluster_id: str
    input: str
    output: str
    dead_letters: str
    groups: tuple[str, ...]
    seed: int
    began_at: str
    input_count: int
    committed_count: int
    aborted_count: int
    unknown_count: int
    poison_count: int
    output_count: int
    dead_letter_count: int
    p50_ms: float | None
    p99_ms: float | None
    reasons: tuple[str, ...]
    anomaly_counts: dict[str, int]
    anomalies: tuple[VerifiedAnomalyItem, ...]


def app_item(plan: AppPlan, report: AppReport, cluster_id: str, began_at: str) -> AppItem:
    """Shape a test."""
    return AppItem(
        run=plan.run,
        verdict=report.verdict.value,
        headline=report.headline,
        cluster_id=cluster_id,
        input=plan.input_topic,
        output=plan.output_topic,
        dead_letters=plan.dead_letter_topic or "",
        groups=plan.groups,
        seed=plan.seed,
        began_at=began_at,
        input_count=report.input_count,
        committed_count=report.committed_count,
        aborted_count=report.aborted_count,
        unknown_count=report.unknown_count,
        poison_count=report.poison_count,
        output_count=report.output_count,
        dead_letter_count=report.dead_letter_count,
        p50_ms=report.p50_ms,
        p99_ms=report.p99_ms,
        reasons=report.reasons,
        anomaly_counts=dict(report.flaw_counts),
        anomalies=tuple(map(_flaw, report.flaws)),
    )


def _flaw(flaw: Flaw) -> VerifiedAnomalyItem:
    from eosctl.lab.verify.app import told

    witness = sorted(flaw.witness, key=lambda fact: fact.at_ms)
    return VerifiedAnomalyItem(
        str(flaw.fault),
        flaw.subject,
        FAULT_MEANING[flaw.fault],
        tuple(WitnessItem(fact.at_ms, *told(fact)) for fact in witness),
    )
