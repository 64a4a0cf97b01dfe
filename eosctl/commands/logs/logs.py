"""``eosctl logs``: what logs of brokers and applications say about an incident."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.gate import GATE, RequireComplete
from eosctl.commands.incomplete import note_missing
from eosctl.commands.invocation import Invocation, invocation_of, note, remember_output, write_result
from eosctl.commands.logs.data import mine_data
from eosctl.commands.logs.engine import (
    READING,
    Engine,
    From,
    Pattern,
    To,
    Zone,
    period_of,
)
from eosctl.commands.logs.exceptions import count_exceptions
from eosctl.commands.logs.places import Places
from eosctl.commands.logs.submit import submit_data_job, submit_job
from eosctl.commands.logs.warmup import warm_up
from eosctl.commands.logs.watch import watch_logs
from eosctl.commands.options import OUTPUT, CommandConfig, Output, OutputFile, Overrides, Profile
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode
from eosctl.model.severity import Severity
from eosctl.render.formats import OutputFormat
from eosctl.services.log_engine import EngineChoice

if TYPE_CHECKING:
    from eosctl.analysis.log_digest.digest import LogDigest
    from eosctl.model.log_findings import LogFindings
    from eosctl.services.mine_logs import Mined

app = typer.Typer(help="Incidents and their causes from logs.", no_args_is_help=True)


class ReportFormat(StrEnum):
    """What ``-o`` accepts for a report."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    MARKDOWN = "markdown"
    HTML = "html"


Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category", metavar="NAME", help="Show events of this category only; repeatable.", rich_help_panel=OUTPUT
    ),
]
ReportOutput = Annotated[
    ReportFormat,
    typer.Option("--output", "-o", callback=remember_output, help="Format of the result.", rich_help_panel=OUTPUT),
]
FailOn = Annotated[
    Severity | None,
    typer.Option("--fail-on", help="Exit with 3 when a finding is this bad or worse.", rich_help_panel=GATE),
]


app.command("data")(mine_data)
app.command("exceptions")(count_exceptions)
app.command("submit")(submit_job)
app.command("submit-data")(submit_data_job)
app.command("warmup")(warm_up)
app.command("watch")(watch_logs)


@app.command("scan")
def scan_logs(
    context: typer.Context,
    paths: Places,
    zone: Zone = None,
    pattern: Pattern = None,
    engine: Engine = EngineChoice.AUTO,
    category: Categories = None,
    begin: From = None,
    end: To = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Read logs into events: category, time, ids, exceptions, with file and offset of each.

    Exit codes: 0 done, 2 usage, 4 a file could not be read to its end, or no log record was recognized.
    """
    from eosctl.render.logs.report import EVENT_COLUMNS, logs_view, scan_blocks
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.page import render_page
    from eosctl.services.log_places import connection_of
    from eosctl.services.mine_logs import MineRequest, mine_logs

    invocation = invocation_of(context)
    connection = connection_of(paths, command_config, overrides, profile)
    period = period_of(begin, end, invocation.now_ms())
    request = MineRequest(tuple(paths), connection, zone, pattern, engine, period, tuple(category or ()))
    with callbacks(invocation.now_ms) as shown:
        mined = mine_logs(request, shown)
    _note_far_away(mined)
    findings = mined.findings
    view = logs_view(findings, "logs scan", invocation.now_ms())
    match output:
        case OutputFormat.JSON:
            text = render_json(view)
        case OutputFormat.YAML:
            text = render_yaml(view)
        case OutputFormat.TSV:
            text = render_tsv([column.cell(item) for column in EVENT_COLUMNS] for item in view.items)
        case _:
            text = render_page(scan_blocks(findings), invocation.style())
    write_result(text, output_file)
    _note_unread(output, findings)
    raise typer.Exit(mined.exit_code)


@app.command("report")
def report_logs(
    context: typer.Context,
    paths: Places,
    zone: Zone = None,
    pattern: Pattern = None,
    engine: Engine = EngineChoice.AUTO,
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            "--baseline",
            metavar="PATH",
            help="Logs of a time when all was well: messages that they do not have are told as new; repeatable.",
            rich_help_panel=READING,
        ),
    ] = None,
    begin: From = None,
    end: To = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    output: ReportOutput = ReportFormat.TABLE,
    output_file: OutputFile = None,
    static: Annotated[
        bool, typer.Option("--static", help="Draw HTML's timeline without scripts.", rich_help_panel=OUTPUT)
    ] = False,
    fail_on: FailOn = None,
    require_complete: RequireComplete = False,
) -> None:
    """Tell what went wrong and why: incidents with their root causes, evidence and next steps.

    Exit codes: 0 done, 2 usage, 3 an incident, or a record without a known cause, at or above --fail-on, 4 a file could
    not be read to its end, no log record was recognized, or with --require-complete a file was not recognized.
    """
    from eosctl.render.logs.verdict import worst_severity
    from eosctl.services.log_places import connection_of
    from eosctl.services.mine_logs import MineRequest, report_logs

    invocation = invocation_of(context)
    connection = connection_of([*paths, *(baseline or ())], command_config, overrides, profile)
    period = period_of(begin, end, invocation.now_ms())
    request = MineRequest(tuple(paths), connection, zone, pattern, engine, period)
    with callbacks(invocation.now_ms) as shown:
        mined, digest = report_logs(request, baseline, shown)
    _note_far_away(mined)
    findings = mined.findings
    write_result(_render_report(findings, digest, output, invocation, static=static), output_file)
    _note_unread(output, findings)
    worst = worst_severity(findings)
    if fail_on is not None and worst is not None and worst.at_least(fail_on):
        raise typer.Exit(ExitCode.FINDINGS)
    if require_complete and not findings.is_recognized:
        raise typer.Exit(ExitCode.INCOMPLETE)
    raise typer.Exit(mined.exit_code)


@app.command("patterns")
def list_patterns(
    context: typer.Context,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List the categories that log records are sorted into."""
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.logs.report import CATEGORY_COLUMNS
    from eosctl.services.log_categories import log_categories

    invocation = invocation_of(context)
    result = listing("log-categories", "logs patterns", invocation.now_ms(), log_categories())
    write_result(render_listing(result, CATEGORY_COLUMNS, output, invocation.style()), output_file)


@app.command("explain")
def explain_category(
    context: typer.Context,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="The category, e.g. PRODUCER_FENCED.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show what a category means, how it is recognised and what to do next."""
    from eosctl.render.logs.report import category_blocks
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.page import render_page
    from eosctl.services.log_categories import find_category

    item = find_category(category)
    match output:
        case OutputFormat.JSON:
            text = render_json(item)
        case OutputFormat.YAML:
            text = render_yaml(item)
        case OutputFormat.TSV:
            text = render_tsv([(item.id, item.severity, item.meaning, item.next_step)])
        case _:
            text = render_page(category_blocks(item), invocation_of(context).style())
    write_result(text, output_file)


def _render_report(
    findings: LogFindings, digest: LogDigest, output: ReportFormat, invocation: Invocation, *, static: bool
) -> str:
    from eosctl.render.logs.html import render_logs_html
    from eosctl.render.logs.markdown import render_logs_markdown
    from eosctl.render.logs.report import INCIDENT_COLUMNS, logs_view, report_blocks
    from eosctl.render.logs.verdict import unexplained_row
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.page import render_page

    now_ms = invocation.now_ms()
    view = logs_view(findings, "logs report", now_ms, digest)
    match output:
        case ReportFormat.JSON:
            return render_json(view)
        case ReportFormat.YAML:
            return render_yaml(view)
        case ReportFormat.TSV:
            rows = [[column.cell(item) for column in INCIDENT_COLUMNS] for item in view.incidents]
            return render_tsv([*rows, *(unexplained_row(item) for item in view.unexplained)])
        case ReportFormat.MARKDOWN:
            return render_logs_markdown(findings, digest, now_ms)
        case ReportFormat.HTML:
            return render_logs_html(findings, digest, now_ms, static=static)
        case ReportFormat.TABLE | ReportFormat.WIDE:
            return render_page(report_blocks(findings, digest), invocation.style())


def _note_far_away(mined: Mined) -> None:
    """Name the files whose records lie far from the period: only some formats show them."""
    from eosctl.render.logs.report import skipped_texts

    for text in skipped_texts(mined.far_away):
        note(text)


def _note_unread(output: OutputFormat | ReportFormat, findings: LogFindings) -> None:
    from eosctl.render.logs.report import skipped_texts

    missing = skipped_texts(findings.skipped)
    note_missing(output, missing if findings.has_records else [*missing, "no log record was recognized"])
