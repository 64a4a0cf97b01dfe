"""What a verification has shown: the verdict, anomalies with their witness, latency, availability, what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from eosctl.analysis.wording import duration_text, time_text
from eosctl.history.anomaly import MEANING, Anomaly
from eosctl.render.envelope import listing
from eosctl.render.machine import render_json, render_yaml
from eosctl.render.markdown import markdown_text
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page

if TYPE_CHECKING:
    from eosctl.history.events import Event
    from eosctl.history.summary import Span
    from eosctl.verify.report import CoverageTable, VerifyReport
    from eosctl.verify.runs import RunRecord


class VerifyFormat(StrEnum):
    """What ``-o`` accepts for a verification."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"
    HTML = "html"


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


def render_verify(item: VerifyItem, output: VerifyFormat, generated_at_ms: int, style: Style = PLAIN) -> str:
    """Render a run."""
    match output:
        case VerifyFormat.JSON | VerifyFormat.YAML:
            render = render_json if output is VerifyFormat.JSON else render_yaml
            return render(listing("verification", "verify", generated_at_ms, (item,)))
        case VerifyFormat.MARKDOWN:
            return _markdown(item)
        case VerifyFormat.HTML:
            from eosctl.render.verify.html import render_verify_html

            return render_verify_html(item, generated_at_ms)
        case _:
            return render_page(tuple(_blocks(item, wide=output is VerifyFormat.WIDE)), style)


TONES = {"clean": "bold green", "anomalies": "bold red", "undecided": "bold yellow"}


def _blocks(item: VerifyItem, *, wide: bool) -> Iterator[Block]:
    yield Line(f"{item.verdict}: {item.headline}", TONES[item.verdict])
    yield Field("cluster", f"{item.cluster} ({item.cluster_id})")
    yield Field("work", f"{', '.join(item.workloads)}; clients {item.clients}; {duration_text(item.duration_ms)}")
    yield Field(
        "ended",
        f"{item.committed_count:,} committed, {item.aborted_count:,} aborted, {item.unknown_count:,} without a known "
        f"end; {item.sent_count:,} records sent, {item.read_count:,} read",
    )
    if item.cycles is not None:
        yield Field("circles", cycles_line(item.cycles))
    for reason in item.reasons:
        yield Field("undecided", reason, "yellow")
    for fault in item.refused_faults:
        yield Field("no fault", fault, "yellow")
    if item.left_topics:
        yield Field("left", f"could not be removed: {', '.join(item.left_topics)}", "yellow")
    for hint in item.hints:
        yield Field("cause?", f"{hint.bug_id}: {hint.text}", "yellow")
        yield Field("do", hint.next_step)
    yield from anomaly_blocks(item.anomalies, item.anomaly_counts)
    if item.spans:
        yield Line("")
        yield Grid(tuple(_span_cells(span) for span in item.spans), SPAN_HEADER)
    if item.coverage is not None:
        yield Line("")
        yield Line(coverage_line(item.coverage))
        if wide:
            yield Grid(tuple(_coverage_rows(item.coverage)), ("FAULT", *item.coverage.states))
        else:
            yield from (Field("not met", text) for text in not_met(item.coverage))
    yield Line("")
    yield Field("run", item.run_id)
    yield Field("again", f"eosctl verify replay {item.run_id}")


def anomaly_blocks(anomalies: Sequence[VerifiedAnomalyItem], counts: Mapping[str, int]) -> Iterator[Block]:
    """Show each anomaly with its witness."""
    for anomaly in anomalies:
        yield Line("")
        yield Line(f"{anomaly.kind}: {anomaly.subject}", "bold red")
        yield Line(f"  {anomaly.meaning} ({counts[anomaly.kind]:,} of this kind)")
        yield Grid(
            tuple((f"{event.at_ms / 1000:.3f} s", event.actor, event.event, event.detail) for event in anomaly.witness),
            ("AT", "WHO", "WHAT", "DETAIL"),
            indent=2,
        )


SPAN_HEADER = ("CONDITION", "TIME", "COMMITS", "FAILED", "P50", "P99", "MAX", "AVAILABLE")


def _span_cells(span: SpanItem) -> tuple[str, ...]:
    return (
        span.condition,
        duration_text(span.length_ms),
        f"{span.committed_count:,}",
        f"{span.failed_count:,}",
        *(f"{value:,.0f} ms" if value is not None else "-" for value in (span.p50_ms, span.p99_ms, span.max_ms)),
        f"{span.availability:.0%}" if span.availability is not None else "-",
    )


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


def not_met(coverage: CoverageItem) -> tuple[str, ...]:
    """Name the combinations that were not, a line for each fault."""
    lines = []
    for fault, counts in zip(coverage.faults, coverage.counts, strict=True):
        missing = [state for state, count in zip(coverage.states, counts, strict=True) if not count]
        if len(missing) == len(coverage.states):
            lines.append(f"{fault}: never")
        elif missing:
            lines.append(f"{fault}: {', '.join(missing)}")
    return tuple(lines)


def _coverage_rows(coverage: CoverageItem) -> Iterator[tuple[str, ...]]:
    for fault, counts in zip(coverage.faults, coverage.counts, strict=True):
        yield (fault, *(f"{count:,}" if count else "-" for count in counts))


def _markdown(item: VerifyItem) -> str:
    return "\n".join(_markdown_lines(item)) + "\n"


def _markdown_lines(item: VerifyItem) -> Iterator[str]:
    yield f"# {markdown_text(item.verdict)}: {markdown_text(item.headline)}"
    yield ""
    yield f"- Cluster: {markdown_text(item.cluster)} (`{item.cluster_id}`)"
    yield f"- Work: {', '.join(item.workloads)}; clients {item.clients}; {duration_text(item.duration_ms)}"
    yield f"- Seed: {item.seed}"
    yield (
        f"- Ended: {item.committed_count:,} committed, {item.aborted_count:,} aborted, "
        f"{item.unknown_count:,} without a known end"
    )
    if item.cycles is not None:
        yield f"- Circles of dependencies: {cycles_line(item.cycles)}"
    yield from (f"- Undecided: {markdown_text(reason)}" for reason in item.reasons)
    for hint in item.hints:
        yield f"- {hint.bug_id}? {markdown_text(hint.text)} {markdown_text(hint.next_step)}"
    yield from anomaly_markdown(item.anomalies)
    if item.spans:
        yield from ("", "## Commits", "")
        yield from _table(tuple(word.capitalize() for word in SPAN_HEADER), [_span_cells(span) for span in item.spans])
    if item.coverage is not None:
        yield from ("", "## Coverage", "", coverage_line(item.coverage), "")
        yield from _table(("Fault", *item.coverage.states), list(_coverage_rows(item.coverage)))
    if item.faults:
        yield from ("", "## Faults", "")
        yield from (f"- {markdown_text(fault)}" for fault in item.faults)


def anomaly_markdown(anomalies: Sequence[VerifiedAnomalyItem]) -> Iterator[str]:
    """Write each anomaly with its witness."""
    for anomaly in anomalies:
        yield from ("", f"## {anomaly.kind}: {markdown_text(anomaly.subject)}", "", markdown_text(anomaly.meaning), "")
        yield from _table(
            ("At", "Who", "What", "Detail"),
            [(f"{e.at_ms / 1000:.3f} s", e.actor, e.event, e.detail) for e in anomaly.witness],
        )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(map(markdown_text, row))} |" for row in rows)
