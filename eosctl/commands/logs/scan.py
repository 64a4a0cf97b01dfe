"""``eosctl logs scan`` and ``logs report``: events and incidents in logs of brokers and applications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.incomplete import note_missing
from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.commands.diagnosis_output import note_suppressed
from eosctl.commands.gate import ReportGate
from eosctl.commands.logs.options import PeriodOptions, Places, ReadingOptions, TopicsOptions, reading_option
from eosctl.commands.options import FindingOutput, Header, OutputFile, ResultOptions, output_option
from eosctl.commands.session import callbacks, perform
from eosctl.model.log_findings import LogFindings, SkippedFile
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.render.logs.formats import render_logs_report
from eosctl.render.logs.report import render_scan, skipped_texts
from eosctl.services.judge_logs import judge_logs
from eosctl.services.mine_logs import MineRequest, mine_logs


def scan_logs(
    invocation: Invocation,
    paths: Places,
    reading: ReadingOptions,
    categories: Annotated[
        list[str] | None, output_option("--category", metavar="NAME", help="Category to show; repeatable.")
    ] = None,
    *,
    times: PeriodOptions,
    topics: TopicsOptions,
    result: ResultOptions,
) -> None:
    """Extract events from logs.

    Each event has a category, a time, ids, the exception, and its file and offset.

    Exit codes: 0 done, 2 bad input, 4 a file could not be read to its end or no log record was recognized.

    Examples:
        eosctl logs scan server.log application.log.gz
        eosctl logs scan /var/log/kafka --category PRODUCER_FENCED --from -2h -o json
    """
    period, connection = times.period(invocation.now_ms()), topics.connection(paths)
    request = MineRequest(tuple(paths), connection, *reading, period, tuple(categories or ()))
    mined = perform(mine_logs, request, invocation)
    _note_far_away(mined.far_away)
    text = render_scan(mined.findings, invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)
    _note_unread(result.output, mined.findings)
    raise typer.Exit(mined.exit_code)


def report_logs(
    invocation: Invocation,
    paths: Places,
    reading: ReadingOptions,
    baseline: Annotated[
        list[Path] | None,
        reading_option(
            "--baseline",
            metavar="PATH",
            help="Logs from a healthy period; messages that they do not contain are reported as new; repeatable.",
        ),
    ] = None,
    *,
    times: PeriodOptions,
    topics: TopicsOptions,
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    static: Annotated[
        bool, output_option("--static", help="Render the timeline of the HTML page without scripts.")
    ] = False,
    gate: ReportGate,
) -> None:
    """Report incidents in logs with their root causes.

    Each incident has evidence and next steps. Logs of brokers and applications are read together.

    Exit codes: 0 done, 2 bad input, 4 a file could not be read to its end or no log record was recognized.

    Examples:
        eosctl logs report server.log payment-service.log
        eosctl logs report /var/log/kafka --from -2h -o html --output-file report.html
    """
    period, connection = times.period(invocation.now_ms()), topics.connection([*paths, *(baseline or ())])
    with callbacks(invocation.now_ms) as shown:
        judged = judge_logs(MineRequest(tuple(paths), connection, *reading, period), gate, baseline, shown)
    _note_far_away(judged.far_away)
    text = render_logs_report(judged.report, output, invocation.style(), static=static, header=header)
    write_result(text, output_file)
    _note_unread(output, judged.report.findings)
    note_suppressed(judged.report.diagnosis, output)
    raise typer.Exit(judged.exit_code)


def _note_far_away(far_away: Sequence[SkippedFile]) -> None:
    """Name the files whose records lie far from the period: only some formats show them."""
    for text in skipped_texts(far_away):
        note(text)


def _note_unread(output: OutputFormat | FindingFormat, findings: LogFindings) -> None:
    missing = skipped_texts(findings.skipped)
    note_missing(output, missing if findings.has_records else [*missing, "no log record was recognized"])
