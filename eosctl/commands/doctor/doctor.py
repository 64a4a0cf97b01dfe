"""``eosctl doctor``: evidence, checks, grade, advice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.diagnosis_output import Destinations, HtmlReport, SaveSnapshot, write_diagnosis
from eosctl.commands.doctor.watch import Count, Interval, Watch, check_watchable, show_watch
from eosctl.commands.gate import (
    BaselineFile,
    ExitZero,
    FailOnOrRules,
    MinScore,
    RequireComplete,
    RulesFile,
    WriteBaseline,
)
from eosctl.commands.invocation import invocation_of
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    FindingOutput,
    Header,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import callbacks
from eosctl.commands.source_options import LogPaths, LogZone, MetricCredentials, MetricUrls
from eosctl.errors import UsageError
from eosctl.render.formats import FindingFormat
from eosctl.services.connection import Connection


def doctor(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Configuration files and folders to judge as well.", exists=True),
    ] = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    snapshot: SnapshotFile = None,
    logs: LogPaths = None,
    zone: LogZone = None,
    metrics: MetricUrls = None,
    credentials: MetricCredentials = None,
    watch: Watch = False,
    interval: Interval = "30s",  # type: ignore[assignment]
    count: Count = None,
    save_snapshot: SaveSnapshot = None,
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    report: HtmlReport = None,
    fail_on: FailOnOrRules = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    min_score: MinScore = None,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    rules: RulesFile = None,
) -> None:
    """Collect evidence, run every check that applies, grade, say what to do next.

    Nothing is changed: only read requests are sent, no group is joined, no topic is created. With paths, configuration
    files are judged too, against the cluster's brokers; logs and metrics join what the cluster says. Any of them may
    stand alone: where no cluster is named, none is asked. Exit codes:
    0 nothing at or above --fail-on, 1 the cluster could not be asked, 2 usage, a malformed file, or no
    check evaluated because logs were not recognized, 3 findings or a score below --min-score, 4 evidence incomplete
    with --require-complete.
    """
    from eosctl.services.diagnose import DiagnoseRequest, diagnose
    from eosctl.services.gate_options import GateOptions
    from eosctl.services.sources import Sources
    from eosctl.services.watch_diagnosis import WatchRequest

    invocation = invocation_of(context)
    gate = GateOptions(fail_on, exit_zero, require_complete, min_score, baseline, rules)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    sources = Sources(tuple(logs or ()), zone, tuple(metrics or ()), credentials)
    if watch:
        once = {
            "a path": bool(paths),
            "--logs": bool(logs),
            "--snapshot": snapshot is not None,
            "--save-snapshot": save_snapshot is not None,
            "--report": report is not None,
            "--output-file": output_file is not None,
            "--write-baseline": write_baseline is not None,
        }
        check_watchable(output, once)
        watching = WatchRequest(connection, sources, gate, second_look_after, interval, count)
        raise typer.Exit(show_watch(watching, output, invocation))
    if count is not None:
        raise UsageError("--count was given, and not --watch.", "It ends a watch.", "Give --watch, or leave it out.")
    request = DiagnoseRequest(
        connection,
        snapshot,
        tuple(paths or ()),
        sources,
        second_look_after_ms=second_look_after,
        save_snapshot=save_snapshot,
        gate=gate,
    )
    with callbacks(invocation.now_ms) as shown:
        diagnosed = diagnose(request, shown)
    write_diagnosis(diagnosed, Destinations(output, output_file, report, write_baseline, header), invocation)
    raise typer.Exit(diagnosed.exit_code)
