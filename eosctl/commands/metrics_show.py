"""``eosctl metrics show``: the metrics of running programs, judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.doctor import FINDINGS, INCOMPLETE, RequireComplete
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import Output, OutputFile, parse_duration_ms
from eosctl.errors import EosctlError
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.render.metric_readings import ReadingItem

_ORDER: Final = ("bad", "ok", "-")


def show_metrics(
    context: typer.Context,
    urls: Annotated[
        list[str], typer.Argument(metavar="URL...", help="Pages of jmx_exporter: http://HOST:PORT/metrics.")
    ],
    bad: Annotated[bool, typer.Option("--bad", help="Only what is beyond its limit.")] = False,
    timeout: Annotated[
        int,
        typer.Option("--timeout", metavar="DURATION", parser=parse_duration_ms, help="How long a page may take."),
    ] = "10s",  # type: ignore[assignment]
    require_complete: RequireComplete = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the metrics of exactly-once in running programs: the worst value of each, and whether it is bad.

    Exits with 3 when one is. Names must be those of jmx_exporter without rules (metrics export jmx-exporter).
    """
    from eosctl.collect.metric_page import check_page_address
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.metric_readings import READING_COLUMNS

    for url in urls:
        check_page_address(url)
    items: list[ReadingItem] = []
    failures: list[EosctlError] = []
    for url in dict.fromkeys(urls):
        try:
            items += _read(url, timeout)
        except EosctlError as error:
            failures.append(error)
            note(f"warning: {error}")
    if not items and failures:
        raise failures[0]
    shown = sorted((one for one in items if one.status == "bad" or not bad), key=lambda one: _ORDER.index(one.status))
    invocation = invocation_of(context)
    result = listing("metric-readings", "metrics show", invocation.now_ms(), tuple(shown))
    empty = "No value is beyond its limit."
    write_result(render_listing(result, READING_COLUMNS, output, invocation.style(), empty=empty), output_file)
    if failures and require_complete:
        raise typer.Exit(INCOMPLETE)
    if any(one.status == "bad" for one in items):
        raise typer.Exit(FINDINGS)


def _read(url: str, timeout_ms: int) -> list[ReadingItem]:
    from eosctl.collect.metric_page import fetch_samples
    from eosctl.monitoring.readings import read_metrics
    from eosctl.render.metric_readings import reading_item

    found = read_metrics(fetch_samples(url, timeout_ms))
    if not found:
        raise EosctlError(
            f"{url} has none of the metrics of exactly-once under their plain names.",
            "It is another program's page, or the exporter's rules rename or drop them.",
            "Give the exporter the configuration of: eosctl metrics export jmx-exporter",
        )
    return [reading_item(url, reading) for reading in found]
