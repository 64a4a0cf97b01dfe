"""What the test of an application has shown: the verdict, what came through, and each flaw with its witness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from eosctl.history.feed import FAULT_MEANING, Flaw
from eosctl.render.envelope import listing
from eosctl.render.machine import render_json, render_yaml
from eosctl.render.markdown import markdown_text
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.verify.run import (
    TONES,
    VerifiedAnomalyItem,
    VerifyFormat,
    WitnessItem,
    anomaly_blocks,
    anomaly_markdown,
)

if TYPE_CHECKING:
    from eosctl.verify.app import AppPlan
    from eosctl.verify.app_report import AppReport


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
    from eosctl.verify.app import told

    witness = sorted(flaw.witness, key=lambda fact: fact.at_ms)
    return VerifiedAnomalyItem(
        str(flaw.fault),
        flaw.subject,
        FAULT_MEANING[flaw.fault],
        tuple(WitnessItem(fact.at_ms, *told(fact)) for fact in witness),
    )


def render_app(item: AppItem, output: VerifyFormat, generated_at_ms: int, style: Style = PLAIN) -> str:
    """Render a test."""
    match output:
        case VerifyFormat.JSON | VerifyFormat.YAML:
            render = render_json if output is VerifyFormat.JSON else render_yaml
            return render(listing("application-verification", "verify app", generated_at_ms, (item,)))
        case VerifyFormat.MARKDOWN:
            return "\n".join(_markdown_lines(item)) + "\n"
        case VerifyFormat.HTML:
            from eosctl.render.verify.html import render_app_html

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
