"""The result of an application test for people: the verdict, the counts, and each flaw with its witness."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.findings.judged import Judged
from eosctl.model.verification import AppItem
from eosctl.render.escaping import markdown_text
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.markdown import suppressed_lines
from eosctl.render.findings.sections import suppressed_blocks
from eosctl.render.findings.views import judged_listing
from eosctl.render.formats import FindingFormat
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.verify.findings import NAMES, finding_rows, verification_report
from eosctl.render.verify.html import render_app_html
from eosctl.render.verify.run import TONES, anomaly_blocks, anomaly_markdown
from eosctl.text import count_text


def render_app(
    item: AppItem, judged: Judged, output: FindingFormat, style: Style = PLAIN, header: bool | None = None
) -> str:
    """Render a test in any format; ``header`` is that of `render_rows`."""
    shapes = Shapes(
        view=lambda: judged_listing("application-verification", "verify app", (item,), judged),
        names=NAMES,
        rows=lambda: finding_rows(judged),
        text=lambda _: render_page((*_blocks(item), *suppressed_blocks(judged.diagnosis)), style),
        report=lambda: verification_report("verify app", f"{item.verdict}: {item.headline}.", judged),
        markdown=lambda: "\n".join((*_markdown_lines(item), *suppressed_lines(judged.diagnosis))) + "\n",
        html=lambda: render_app_html(item, judged),
    )
    return render_shapes(shapes, output, header)


def _fields(item: AppItem) -> Iterator[tuple[str, str]]:
    dead = f", dead letters in {item.dead_letters}" if item.dead_letters else ""
    yield "what", f"{item.input} to {item.output}{dead} (cluster {item.cluster_id})"
    poison = f", {item.poison_count:,} of them poison" if item.poison_count else ""
    ends = f"{item.committed_count:,} committed, {item.aborted_count:,} aborted, {item.unknown_count:,} end unknown"
    yield "inputs", f"{item.input_count:,}{poison}: {ends}"
    letters = f", {count_text(item.dead_letter_count, 'dead letter')}" if item.dead_letters else ""
    yield "outputs", f"{item.output_count:,} visible{letters}"
    if item.p50_ms is not None and item.p99_ms is not None:
        yield "latency", f"input to visible output: median {item.p50_ms:,.0f} ms, P99 {item.p99_ms:,.0f} ms"
    for reason in item.reasons:
        yield "undecided", reason


def _blocks(item: AppItem) -> Iterator[Block]:
    yield Line(f"{item.verdict}: {item.headline}", TONES[item.verdict])
    yield from (Field(label, text) for label, text in _fields(item))
    yield from anomaly_blocks(item.anomalies, item.anomaly_counts)


def _markdown_lines(item: AppItem) -> Iterator[str]:
    yield f"# {item.verdict}: {markdown_text(item.headline)}"
    yield ""
    yield from (f"- {label.capitalize()}: {markdown_text(text)}" for label, text in _fields(item))
    yield from anomaly_markdown(item.anomalies)
