"""``eosctl metrics show``: the metrics of running programs, judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.metrics.reading import (
    CredentialsFile,
    Limits,
    PageTimeout,
    Urls,
    error_of,
    known_name,
    parse_limits,
)
from eosctl.commands.options import Output, OutputFile, parse_duration_ms
from eosctl.errors import ExitCode
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eosctl.monitoring.derived import Looks
    from eosctl.render.metrics.readings import ReadingItem

_ORDER: Final = ("bad", "ok", "-")


def show_metrics(
    context: typer.Context,
    urls: Urls,
    bad: Annotated[bool, typer.Option("--bad", help="Only what is beyond its limit.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Only this metric; repeatable.")
    ] = None,
    over: Annotated[
        int | None,
        typer.Option(
            "--over",
            metavar="DURATION",
            parser=parse_duration_ms,
            help="Look twice, this far apart, so that rates are of now.",
        ),
    ] = None,
    limit: Limits = None,
    credentials: CredentialsFile = None,
    timeout: PageTimeout = "10s",  # type: ignore[assignment]
    require_complete: RequireComplete = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the metrics of exactly-once in running programs: the worst value of each, and whether it is bad.

    First what no single bean tells (endpoint "all"): rates, ratios, backlogs, lags. Exits with 3 when something is bad.
    Series must have the names of jmx_exporter without rules (metrics export jmx-exporter).
    """
    from eosctl.monitoring.derived import Looks
    from eosctl.monitoring.evidence import collect_metric_evidence
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.metrics.readings import READING_COLUMNS
    from eosctl.settings.endpoint_credentials import read_endpoint_credentials

    invocation = invocation_of(context)
    limits, names = parse_limits(limit or ()), [known_name(name) for name in only or ()]
    given = read_endpoint_credentials(credentials)
    evidence = collect_metric_evidence(urls, invocation.now_ms, timeout, given)
    looks = Looks(evidence.pages)
    if over is not None and evidence.pages:
        time.sleep(over / 1000)
        evidence = collect_metric_evidence(urls, invocation.now_ms, timeout, given)
        looks = Looks(evidence.pages, looks.now)
    if not evidence.pages and evidence.gaps:
        raise error_of(evidence.gaps[0])
    for gap in evidence.gaps:
        note(f"warning: {gap.detail} {gap.next_step}")
    items = [item for item in _items(looks, limits) if not names or item.metric in names]
    absent = sorted(set(names) - {item.metric for item in items})
    for name in absent:
        note(f"warning: {name} is in none of these programs. {_why_absent(name)}")
    shown = sorted((one for one in items if one.status == "bad" or not bad), key=lambda one: _ORDER.index(one.status))
    result = listing("metric-readings", "metrics show", invocation.now_ms(), tuple(shown))
    empty = "No value is beyond its limit." if bad else "Nothing."
    write_result(render_listing(result, READING_COLUMNS, output, invocation.style(), empty=empty), output_file)
    if (evidence.gaps or absent) and require_complete:
        raise typer.Exit(ExitCode.INCOMPLETE)
    if any(one.status == "bad" for one in items):
        raise typer.Exit(ExitCode.FINDINGS)


def _items(looks: Looks, limits: Mapping[str, float]) -> list[ReadingItem]:
    from eosctl.monitoring.derived import derive_values
    from eosctl.monitoring.readings import read_metrics
    from eosctl.render.metrics.readings import derived_item, reading_item

    derived = [derived_item(value) for value in derive_values(looks, limits)]
    read = [(page.source, reading) for page in looks.now for reading in read_metrics(page.samples, limits)]
    return [*derived, *(reading_item(source, reading) for source, reading in read)]


def _why_absent(name: str) -> str:
    from eosctl.knowledge.metrics import load_metrics
    from eosctl.model.known_bug import version_text

    metric = next((one for one in load_metrics() if one.name == name), None)
    if metric is None:
        return "It is derived: --over 10s takes the two looks that some values need."
    versions = [
        f"{word} {version_text(release)}"
        for word, release in (("since", metric.since), ("before", metric.until))
        if release is not None
    ]
    span = f" of releases {', '.join(versions)}" if versions else ""
    return f"A {metric.component}{span} has it, many beans only after the event that they count."
