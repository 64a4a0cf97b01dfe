"""``eosctl doctor``: evidence, checks, grade, advice."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from eosctl.command_line.invocation import Invocation, note, write_file
from eosctl.command_line.option_groups import options
from eosctl.commands.doctor.watch import WatchOptions, check_watchable, show_watch
from eosctl.commands.emit import emit, emit_list
from eosctl.commands.gate import ScoredGate
from eosctl.commands.options import LooksOptions, MetricCredentials, MetricUrls, ResultOptions, source_option
from eosctl.commands.report_output import ReportOptions, write_diagnosis
from eosctl.commands.session import perform
from eosctl.errors import UsageError
from eosctl.findings.fleet import common_exit_code
from eosctl.render.diagnosis.fleet import fleet_columns, fleet_format, render_fleet
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.diagnose import DiagnoseRequest, diagnose
from eosctl.services.diagnose_fleet import FleetRequest, diagnose_fleet, is_pattern
from eosctl.services.sources import Sources
from eosctl.services.watch_diagnosis import WatchRequest

SourceOptions = Annotated[
    Sources,
    options(
        logs=source_option(
            "--logs",
            metavar="PATH",
            help="Logs of brokers and applications: files, archives, folders, or -; repeatable.",
        ),
        zone=source_option("--zone", metavar="ZONE", help="Time zone of timestamps without one, e.g. Europe/Berlin."),
        metrics=MetricUrls,
        credentials=MetricCredentials,
    ),
]


def doctor(
    invocation: Invocation,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Configuration files and folders to check as well; - is stdin."),
    ] = None,
    *,
    looks: LooksOptions,
    sources: SourceOptions,
    since_last: Annotated[
        bool, typer.Option("--since-last", help="Show what is new and gone since the last run with this option.")
    ] = False,
    notify: Annotated[
        str | None,
        typer.Option("--notify", metavar="URL", help="Webhook for failing results, e.g. '${file:/run/secrets/hook}'."),
    ] = None,
    watch: WatchOptions,
    report: ReportOptions,
    gate: ScoredGate,
) -> None:
    """Diagnose a cluster and print the fixes.

    Collects evidence, runs every check that applies, and prints a grade, the findings, and the commands that fix them.
    Only read requests are sent: no group is joined, no topic is created, nothing is changed.

    Configuration files (PATH), logs, and metrics add to the cluster's evidence. Each of them also works alone: without
    a cluster or a snapshot, no cluster is contacted. A check whose evidence is missing is reported as skipped, never as
    passed.

    A --profile with * or ? diagnoses every cluster whose profile matches, four at a time, and prints one row for each;
    -o html and --report write one page for all. The exit code is then that of the cluster that matters most: unread
    before findings before incomplete.

    Exit codes: 0 no finding at or above --fail-on, 1 the cluster could not be read or a check crashed, 2 bad input or
    no check was evaluated, 3 findings at or above --fail-on or a score below --min-score, 4 incomplete evidence with
    --require-complete, or too little evidence for a grade.

    Examples:
        eosctl doctor -b kafka-1:9092 --command-config client.properties
        eosctl doctor --profile 'prod-*' --since-last --report fleet.html
        eosctl doctor conf/ --logs server.log --report doctor.html
    """
    connection, demands = looks.cluster.connection, gate.options
    alone: dict[str, object] = {
        "a path": paths,
        "--logs": sources.logs,
        "--snapshot": looks.snapshot,
        "--save-snapshot": report.save_snapshot,
        "--write-baseline": gate.write_baseline,
    }
    if connection.profile is not None and is_pattern(connection.profile):
        alone |= {"--metrics": sources.metrics, "--watch": watch.watch}
        given = tuple(name for name, value in alone.items() if value)
        pause = looks.second_look_after
        fleet = FleetRequest(
            connection.profile, connection, pause, demands, given, since_last=since_last, notify=notify
        )
        _show_fleet(fleet, report, invocation)
    if watch.watch:
        once = alone | {"--report": report.report, "--output-file": report.output_file, "--since-last": since_last}
        once["--notify"] = notify
        check_watchable(report.output, [name for name, given in once.items() if given])
        pauses = (looks.second_look_after, watch.interval, watch.look_count)
        watching = WatchRequest(connection, sources, demands, *pauses)
        raise typer.Exit(show_watch(watching, report.output, invocation))
    if watch.look_count is not None:
        raise UsageError("--count was given, and not --watch.", "It ends a watch.", "Give --watch, or leave it out.")
    request = DiagnoseRequest(
        connection,
        looks.snapshot,
        tuple(paths or ()),
        sources,
        second_look_after_ms=looks.second_look_after,
        save_snapshot=report.save_snapshot,
        gate=demands,
        since_last=since_last,
        notify=notify,
    )
    write_diagnosis(perform(diagnose, request, invocation), report, gate.write_baseline, invocation)


def _show_fleet(request: FleetRequest, report: ReportOptions, invocation: Invocation) -> NoReturn:
    """Diagnose several clusters, write a row for each or one page, and end with one exit code."""
    is_page = report.output is FindingFormat.HTML
    result = ResultOptions(OutputFormat.TABLE if is_page else fleet_format(report.output), report.output_file)
    rows = perform(diagnose_fleet, request, invocation)
    for row in rows:
        if row.failure:
            note(f"{row.profile}: not read. {row.next_step}".rstrip())
    code, page = common_exit_code(rows), partial(render_fleet, rows, request.pattern, invocation.now_ms())
    if report.report is not None:
        write_file(page(), report.report)
        note(f"report: {report.report}")
    if is_page:
        emit(page(), result, code=code)
    emit_list(("fleet", "doctor"), rows, fleet_columns(since_last=request.since_last), result, invocation, code=code)
