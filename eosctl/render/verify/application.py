"""The result of an application test for people: the verdict, the counts, and each flaw with its witness."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.render.envelope import listing
from eosctl.render.escaping import markdown_text
from eosctl.render.machine import render_json, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.verify.application_items import AppItem
from eosctl.render.verify.html import render_app_html
from eosctl.render.verify.items import VerifyFormat
from eosctl.render.verify.run import TONES, anomaly_blocks, anomaly_markdown


def render_app(item: AppItem, output: VerifyFormat, generated_at_ms: int, style: Style = PLAIN) -> str:
    """Render a test."""
    match output:
        case VerifyFormat.JSON | VerifyFormat.YAML:
            render = render_json if output is VerifyFormat.JSON else render_yaml
            return render(listing("application-verification", "verify app", generated_at_ms, (item,)))
        case VerifyFormat.MARKDOWN:
            return "\n".join(_markdown_lines(item)) + "\n"
        case VerifyFormat.HTML:
            return render_app_html(item, generated_at_ms)
        case _:
            return render_page(tuple(_blocks(item)), style)


def _fields(item: AppItem) -> Iterator[tuple[str, str]]:
    dead = f", dead letters in {item.dead_letters}" if item.dead_letters else ""
    yield "what", f"{item.input} to {item.output}{dead} (cluster {item.cluster_id})"
    poison = f", {item.poison_count:,} of them poison" if item.poison_count else ""
    ends = f"{item.committed_count:,} committed, {item.aborted_count:,} aborted, {item.unknown_count:,} end unknown"
    yield "inputs", f"{item.input_count:,}{poison}: {ends}"
    letters = f", {item.dead_letter_count:,} dead letters" if item.dead_letters else ""
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
