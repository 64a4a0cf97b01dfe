"""``eosctl logs``: what logs of brokers and applications say about an incident."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.diagnosis_output import note_suppressed
from eosctl.commands.gate import ExitZero, FailOnIfNamed, RequireComplete, RulesFile
from eosctl.commands.incomplete import note_missing
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.logs.engine import (
    READING,
    Engine,
    From,
    Pattern,
    To,
    Zone,
    period_of,
)
from eosctl.commands.logs.places import Places
from eosctl.commands.options import OUTPUT, CommandConfig, FindingOutput, Header, Output, OutputFile, Overrides, Profile
from eosctl.commands.session import callbacks
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.log_engine import EngineChoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eosctl.model.log_findings import LogFindings, SkippedFile

Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category", metavar="NAME", help="Show events of this category only; repeatable.", rich_help_panel=OUTPUT
    ),
]


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
    _note_far_away(mined.far_away)
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
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    static: Annotated[
        bool, typer.Option("--static", help="Draw HTML's timeline without scripts.", rich_help_panel=OUTPUT)
    ] = False,
    fail_on: FailOnIfNamed = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    rules: RulesFile = None,
) -> None:
    """Tell what went wrong and why: incidents with their root causes, evidence and next steps.

    Exit codes: 0 done, 2 usage, 3 an incident, or a record without a known cause, at or above --fail-on, 4 a file could
    not be read to its end, or no log record was recognized; with --require-complete also when little of a file was.
    """
    from eosctl.render.logs.formats import render_logs_report
    from eosctl.services.gate_options import GateOptions
    from eosctl.services.judge_logs import judge_logs
    from eosctl.services.log_places import connection_of
    from eosctl.services.mine_logs import MineRequest

    invocation = invocation_of(context)
    gate = GateOptions(fail_on, exit_zero, require_complete, rules=rules)
    connection = connection_of([*paths, *(baseline or ())], command_config, overrides, profile)
    period = period_of(begin, end, invocation.now_ms())
    request = MineRequest(tuple(paths), connection, zone, pattern, engine, period)
    with callbacks(invocation.now_ms) as shown:
        judged = judge_logs(request, gate, baseline, shown)
    _note_far_away(judged.far_away)
    text = render_logs_report(judged.report, output, invocation.style(), static=static, header=header)
    write_result(text, output_file)
    _note_unread(output, judged.report.findings)
    note_suppressed(judged.report.diagnosis, output)
    raise typer.Exit(judged.exit_code)


def list_patterns(
    context: typer.Context,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List the categories that log records are sorted into."""
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.logs.category import CATEGORY_COLUMNS
    from eosctl.services.log_categories import log_categories

    invocation = invocation_of(context)
    result = listing("log-categories", "logs patterns", invocation.now_ms(), log_categories())
    write_result(render_listing(result, CATEGORY_COLUMNS, output, invocation.style()), output_file)


def explain_category(
    context: typer.Context,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="The category, e.g. PRODUCER_FENCED.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show what a category means, how it is recognised and what to do next."""
    from eosctl.render.logs.category import category_blocks
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


def _note_far_away(far_away: Sequence[SkippedFile]) -> None:
    """Name the files whose records lie far from the period: only some formats show them."""
    from eosctl.render.logs.report import skipped_texts

    for text in skipped_texts(far_away):
        note(text)


def _note_unread(output: OutputFormat | FindingFormat, findings: LogFindings) -> None:
    from eosctl.render.logs.report import skipped_texts

    missing = skipped_texts(findings.skipped)
    note_missing(output, missing if findings.has_records else [*missing, "no log record was recognized"])
