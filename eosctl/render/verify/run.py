"""What a verification has shown: the verdict, anomalies with their witness, latency, availability, what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from eosctl.findings.judged import Judged
from eosctl.model.verification import CoverageItem, SpanItem, VerifiedAnomalyItem, VerifyItem
from eosctl.render.escaping import markdown_code, markdown_text
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.markdown import suppressed_lines
from eosctl.render.findings.sections import suppressed_blocks
from eosctl.render.findings.views import judged_listing
from eosctl.render.formats import FindingFormat
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.render.verify.findings import NAMES, finding_rows, verification_report
from eosctl.render.verify.html import render_verify_html
from eosctl.render.verify.items import coverage_line, cycles_line
from eosctl.text import count_text, duration_text


def render_verify(
    item: VerifyItem, judged: Judged, output: FindingFormat, style: Style = PLAIN, header: bool | None = None
) -> str:
    """Render a run in any format; ``header`` is that of `render_rows`."""
    shapes = Shapes(
        view=lambda: judged_listing("verification", "verify", (item,), judged),
        names=NAMES,
        rows=lambda: finding_rows(judged),
        text=lambda wide: render_page((*_blocks(item, wide=wide), *suppressed_blocks(judged.diagnosis)), style),
        report=lambda: verification_report("verify", f"{item.verdict}: {item.headline}.", judged),
        markdown=lambda: "\n".join((*_markdown_lines(item), *suppressed_lines(judged.diagnosis))) + "\n",
        html=lambda: render_verify_html(item, judged),
    )
    return render_shapes(shapes, output, header)


TONES = {"clean": "bold green", "anomalies": "bold red", "undecided": "bold yellow"}


def _blocks(item: VerifyItem, *, wide: bool) -> Iterator[Block]:
    yield Line(f"{item.verdict}: {item.headline}", TONES[item.verdict])
    yield Field("cluster", f"{item.cluster} ({item.cluster_id})")
    yield Field("work", f"{', '.join(item.workloads)}; clients {item.clients}; {duration_text(item.duration_ms)}")
    yield Field(
        "ended",
        f"{item.committed_count:,} committed, {item.aborted_count:,} aborted, {item.unknown_count:,} without a known "
        f"end; {count_text(item.sent_count, 'record')} sent, {item.read_count:,} read",
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


def _markdown_lines(item: VerifyItem) -> Iterator[str]:
    yield f"# {markdown_text(item.verdict)}: {markdown_text(item.headline)}"
    yield ""
    yield f"- Cluster: {markdown_text(item.cluster)} ({markdown_code(item.cluster_id)})"
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
