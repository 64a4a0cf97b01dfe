"""The results of verifications as values that are shown: anomalies with their witness, latency, and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eosctl.lab.history.anomaly import MEANING, Anomaly
from eosctl.lab.history.events import Event
from eosctl.lab.history.feed import FAULT_MEANING, Flaw
from eosctl.lab.verify.app import AppPlan, describe
from eosctl.lab.verify.app_report import AppReport
from eosctl.lab.verify.canary import CanaryNumbers
from eosctl.lab.verify.report import CoverageTable, VerifyReport
from eosctl.lab.verify.runs import RunRecord
from eosctl.model.verification import (
    AppItem,
    CanaryItem,
    CoverageItem,
    CyclesItem,
    VerifiedAnomalyItem,
    VerifyItem,
    WitnessItem,
)
from eosctl.text import time_text


def verify_item(record: RunRecord, report: VerifyReport) -> VerifyItem:
    """Shape a run and its report."""
    summary, plan = report.summary, record.plan
    return VerifyItem(
        run_id=record.run_id,
        verdict=report.verdict.value,
        headline=report.headline,
        cluster=record.cluster,
        cluster_id=record.cluster_id,
        clients=str(plan.clients),
        workloads=tuple(map(str, plan.workloads)),
        seed=plan.seed,
        duration_ms=plan.duration_ms,
        began_at=time_text(record.began_at_ms),
        transaction_count=summary.transaction_count,
        committed_count=summary.committed_count,
        aborted_count=summary.aborted_count,
        unknown_count=summary.unknown_count,
        sent_count=summary.sent_count,
        read_count=summary.read_count,
        fault_count=summary.fault_count,
        faults=tuple(f"{fault.at_ms / 1000:.1f} s: {fault}" for fault in record.faults),
        refused_faults=record.refused_faults,
        reasons=report.reasons,
        left_topics=record.left_topics,
        spans=summary.spans,
        coverage=_coverage(report.coverage),
        anomaly_counts=dict(report.anomaly_counts),
        anomalies=tuple(anomaly_item(anomaly) for anomaly in report.anomalies),
        hints=report.hints,
        cycles=CyclesItem(*report.cycles) if report.cycles is not None else None,
    )


def anomaly_item(anomaly: Anomaly) -> VerifiedAnomalyItem:
    """Shape an anomaly."""
    return VerifiedAnomalyItem(
        str(anomaly.kind), anomaly.subject, MEANING[anomaly.kind], tuple(map(_witness, anomaly.witness))
    )


def _witness(event: Event) -> WitnessItem:
    fields = event._asdict()
    at_ms, actor = fields.pop("at_ms"), str(fields.pop("actor", ""))
    shown = (f"{name.replace('_', ' ')} {_shown(value)}" for name, value in fields.items() if value not in ("", False))
    return WitnessItem(at_ms, actor, _words(type(event).__name__), ", ".join(shown))


def _shown(value: Any) -> str:
    return "yes" if value is True else "none" if value is None else str(value)


def _words(name: str) -> str:
    """Write ``SendInvoked`` as ``send invoked``."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


def _coverage(table: CoverageTable | None) -> CoverageItem | None:
    if table is None:
        return None
    return CoverageItem(table.states, table.faults, table.counts, table.met_count, table.cell_count)


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
    witness = sorted(flaw.witness, key=lambda fact: fact.at_ms)
    return VerifiedAnomalyItem(
        str(flaw.fault),
        flaw.subject,
        FAULT_MEANING[flaw.fault],
        tuple(WitnessItem(fact.at_ms, *describe(fact)) for fact in witness),
    )


def canary_item(verdict: str, numbers: CanaryNumbers, anomalies: Sequence[Anomaly]) -> CanaryItem:
    """Shape what a canary has counted."""
    seen = numbers.visible.percentiles()
    return CanaryItem(
        verdict=verdict,
        round_count=numbers.round_count,
        outcomes=dict(numbers.outcomes),
        p50_ms=seen.p50_ms,
        p99_ms=seen.p99_ms,
        max_ms=seen.max_ms,
        anomaly_counts=dict(numbers.anomalies),
        anomalies=tuple(map(anomaly_item, anomalies)),
    )
