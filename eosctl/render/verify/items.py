"""The machine-readable shape of a verification: verdict, anomalies with their witness, latency, and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from eosctl.lab.history.anomaly import MEANING, Anomaly
from eosctl.text import time_text

if TYPE_CHECKING:
    from eosctl.lab.history.events import Event
    from eosctl.lab.history.summary import Span
    from eosctl.lab.verify.report import CoverageTable, VerifyReport
    from eosctl.lab.verify.runs import RunRecord


class WitnessItem(msgspec.Struct, frozen=True):
    """One event of a witness: what somebody did or saw, ``at_ms`` after the run began."""

    at_ms: int
    actor: str
    event: str
    detail: str


class VerifiedAnomalyItem(msgspec.Struct, frozen=True):
    """A violation: its kind, what it is about, what the kind means, and the few events that prove it."""

    kind: str
    subject: str
    meaning: str
    witness: tuple[WitnessItem, ...]


class SpanItem(msgspec.Struct, frozen=True):
    """Commits while a kind of fault lasted; ``availability`` is the share of seconds in which one succeeded."""

    condition: str
    length_ms: int
    committed_count: int
    failed_count: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    availability: float | None


class CoverageItem(msgspec.Struct, frozen=True):
    """How often each fault met each state: a row of ``counts`` for each fault, a column for each state."""

    states: tuple[str, ...]
    faults: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    met_count: int
    cell_count: int


class CyclesItem(msgspec.Struct, frozen=True):
    """Components of transactions that depend on each other in circles."""

    g0_count: int
    g1c_count: int
    g_single_count: int


class HintItem(msgspec.Struct, frozen=True):
    """What may be behind the anomalies."""

    bug_id: str
    text: str
    next_step: str


class VerifyItem(msgspec.Struct, frozen=True):
    """A run and what it has shown."""

    run_id: str
    verdict: str
    headline: str
    cluster: str
    cluster_id: str
    clients: str
    workloads: tuple[str, ...]
    seed: int
    duration_ms: int
    began_at: str
    transaction_count: int
    committed_count: int
    aborted_count: int
    unknown_count: int
    sent_count: int
    read_count: int
    fault_count: int
    faults: tuple[str, ...]
    refused_faults: tuple[str, ...]
    reasons: tuple[str, ...]
    left_topics: tuple[str, ...]
    spans: tuple[SpanItem, ...]
    coverage: CoverageItem | None
    anomaly_counts: dict[str, int]
    anomalies: tuple[VerifiedAnomalyItem, ...]
    hints: tuple[HintItem, ...]
    cycles: CyclesItem | None


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
        spans=tuple(_span(span) for span in summary.spans),
        coverage=_coverage(report.coverage),
        anomaly_counts=dict(report.anomaly_counts),
        anomalies=tuple(anomaly_item(anomaly) for anomaly in report.anomalies),
        hints=tuple(HintItem(*hint) for hint in report.hints),
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


def _span(span: Span) -> SpanItem:
    return SpanItem(*span)


def _coverage(table: CoverageTable | None) -> CoverageItem | None:
    if table is None:
        return None
    return CoverageItem(table.states, table.faults, table.counts, table.met_count, table.cell_count)


def coverage_line(coverage: CoverageItem) -> str:
    """Say how many cells of the table were met."""
    share = coverage.met_count / coverage.cell_count if coverage.cell_count else 0
    return f"{coverage.met_count} of {coverage.cell_count} combinations of state and fault were met ({share:.0%})"


def cycles_line(cycles: CyclesItem) -> str:
    """Say how many groups of transactions depend on each other in circles, and which circles Kafka allows."""
    return (
        f"{cycles.g1c_count:,} of reads (G1c); Kafka allows {cycles.g0_count:,} of writes (G0) and "
        f"{cycles.g_single_count:,} with one read that came too early (G-single)"
    )
