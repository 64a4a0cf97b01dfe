"""``eosctl doctor`` and what it shares with ``eosctl check run``: evidence, checks, grade, exit code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from eosctl.commands.doctor.sources import (
    LogPaths,
    LogZone,
    MetricCredentials,
    MetricUrls,
    checks_without_cluster,
    sources_of,
    with_sources,
)
from eosctl.commands.doctor.watch import Count, Interval, Watch, Watching, check_watchable, watch_diagnosis
from eosctl.commands.gate import (
    BaselineFile,
    ExitZero,
    FailOnOrRules,
    GateFiles,
    GateOptions,
    MinScore,
    RequireComplete,
    RulesFile,
    WriteBaseline,
    read_gate,
)
from eosctl.commands.invocation import Invocation, invocation_of, note, tell, write_file, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    OUTPUT,
    Bootstrap,
    CommandConfig,
    FindingOutput,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import load_or_capture
from eosctl.errors import ExitCode, UsageError
from eosctl.findings.gate import falls_short, judge_gate
from eosctl.render.formats import FindingFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.checks.declaration import Check
    from eosctl.findings.diagnosis import Diagnosis
    from eosctl.findings.finding import Command
    from eosctl.model.snapshot import ClusterSnapshot
    from eosctl.settings.deployment_files import FilesRead

NEXT_COMMANDS = 3

SaveSnapshot = Annotated[
    Path | None,
    typer.Option("--save-snapshot", metavar="FILE", help="Keep the evidence in a file.", rich_help_panel=OUTPUT),
]
HtmlReport = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write an HTML report as well.", rich_help_panel=OUTPUT),
]


class Request(NamedTuple):
    """What a diagnosis is asked for, apart from the cluster."""

    command: str
    output: FindingFormat
    output_file: Path | None
    report: Path | None
    save_snapshot: Path | None
    gate: GateOptions


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
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,  # type: ignore[assignment]
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
    0 nothing at or above --fail-on, 1 the cluster could not be asked, 2 usage, a malformed file, or logs of which no
    record was recognized, 3 findings or a score below --min-score, 4 evidence incomplete with --require-complete.
    """
    from eosctl.checks.registry import ALL_CHECKS

    invocation = invocation_of(context)
    gate = GateOptions(fail_on, exit_zero, require_complete, min_score, baseline, write_baseline, rules)
    request = Request("doctor", output, output_file, report, save_snapshot, gate)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    sources = sources_of(logs, zone, metrics, credentials)
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
        watching = Watching(connection, sources, second_look_after, interval, count)
        raise typer.Exit(_watch(watching, gate, output, invocation))
    if count is not None:
        raise UsageError("--count was given, and not --watch.", "It ends a watch.", "Give --watch, or leave it out.")
    files = None
    if paths:
        from eosctl.settings.deployment_files import read_deployment

        files = read_deployment(paths)
        for broken in files.unreadable:
            tell(broken.error)
    evidence: ClusterSnapshot | None = None
    if not (paths or sources) or snapshot is not None or names_a_cluster(connection):
        evidence = load_or_capture(
            connection, snapshot, None, now_ms=invocation.now_ms, second_look_after_ms=second_look_after
        )
    elif save_snapshot is not None and not sources:
        raise UsageError("--save-snapshot was given, and no cluster.", "Files make no snapshot.", "Name a cluster.")
    if not sources:
        checks = () if evidence is None else ALL_CHECKS
        raise typer.Exit(present(evidence, checks, request, invocation, files))
    from eosctl.model.snapshot import ClusterSnapshot

    known, log_reading = with_sources(
        evidence or ClusterSnapshot(captured_at_ms=invocation.now_ms(), cluster_id=""), sources, invocation.now_ms
    )
    checks = ALL_CHECKS if evidence is not None else checks_without_cluster(ALL_CHECKS, known)
    raise typer.Exit(present(known, checks, request, invocation, files, log_reading))


def _watch(watching: Watching, gate: GateOptions, output: FindingFormat, invocation: Invocation) -> int:
    from eosctl.checks.declaration import Case
    from eosctl.checks.registry import ALL_CHECKS
    from eosctl.checks.runner import diagnose
    from eosctl.findings.suppression import suppress
    from eosctl.text import time_text

    files = read_gate(gate)

    def judge(snapshot: ClusterSnapshot) -> Diagnosis:
        today = time_text(snapshot.captured_at_ms)[:10]
        return suppress(diagnose(ALL_CHECKS, Case(snapshot)), files.suppressions, files.baseline, today)

    found = watch_diagnosis(watching, judge, output, invocation)
    return ExitCode.DONE if found is None else _exit_code(found, files)


def names_a_cluster(connection: Connection) -> bool:
    """Tell whether options or environment name a cluster."""
    named = ("EOSCTL_BOOTSTRAP_SERVERS", "EOSCTL_COMMAND_CONFIG", "EOSCTL_PROFILE")
    return connection.is_given or any(os.environ.get(name) for name in named)


def present(
    evidence: ClusterSnapshot | None,
    checks: Sequence[Check],
    request: Request,
    invocation: Invocation,
    files: FilesRead | None = None,
    log_reading: str = "",
) -> int:
    """Diagnose, write what was asked for, and return the exit code."""
    from eosctl.analysis.diagnosis_timeline import build_diagnosis_timeline
    from eosctl.analysis.read_as import read_as, sentence
    from eosctl.checks.declaration import Case
    from eosctl.checks.runner import diagnose
    from eosctl.findings.suppression import suppress
    from eosctl.model.snapshot import ClusterSnapshot
    from eosctl.render.diagnosis.formats import render_diagnosis
    from eosctl.render.diagnosis.report import Report
    from eosctl.runbooks.advice import name_runbooks
    from eosctl.text import time_text

    # What is wrong with these must show before the cluster's answer is written.
    gate = read_gate(request.gate)
    now_ms = invocation.now_ms()
    if request.save_snapshot is not None and evidence is not None:
        from eosctl.collect.bundles.snapshot_file import save_snapshot

        save_snapshot(evidence, request.save_snapshot)
        note(f"snapshot: {request.save_snapshot}")
    case = Case(evidence or ClusterSnapshot(captured_at_ms=now_ms, cluster_id=""))
    diagnosis = name_runbooks(diagnose(checks, case), case.bootstrap)
    if files is not None:
        from eosctl.checks.files_with_cluster import joined, judge_beside
        from eosctl.checks.registry import CONFIGURATION_CHECKS

        cluster = evidence if evidence is not None and evidence.brokers else None
        diagnosis = joined(diagnosis, judge_beside(files.deployment, cluster))
        checks = (*checks, *CONFIGURATION_CHECKS)
    if request.gate.write_baseline is not None:
        from eosctl.render.diagnosis.baseline import render_baseline

        write_file(render_baseline(diagnosis.findings), request.gate.write_baseline)
        note(f"baseline: {request.gate.write_baseline}")
    diagnosis = suppress(diagnosis, gate.suppressions, gate.baseline, time_text(now_ms)[:10])
    report = Report(
        command=request.command,
        diagnosis=diagnosis,
        snapshot=case.snapshot,
        verdicts=case.open_transactions,
        generated_at_ms=now_ms,
        next_commands=_next_commands(diagnosis),
        file_count=0 if files is None else len(files.read),
        log_reading=log_reading,
        read_as=() if files is None else read_as(files.deployment),
        timeline=build_diagnosis_timeline(case.snapshot, diagnosis.findings, case.open_transactions),
    )
    write_result(render_diagnosis(report, checks, request.output, invocation.style()), request.output_file)
    if request.output in (FindingFormat.TSV, FindingFormat.JUNIT, FindingFormat.PROMETHEUS):
        for one in report.read_as:
            note(f"{one.file}: read as: {sentence(one)}")
    if request.report is not None:
        write_file(render_diagnosis(report, checks, FindingFormat.HTML), request.report)
        note(f"report: {request.report}")
    return ExitCode.BAD_INPUT if files is not None and files.unreadable else _exit_code(diagnosis, gate)


def _exit_code(diagnosis: Diagnosis, files: GateFiles) -> int:
    """Return the exit code, and name a score that is too low: no finding shows it."""
    if falls_short(diagnosis, files.gate) and not files.gate.exit_zero:
        note(f"{diagnosis.grade}: below --min-score {files.gate.min_score}")
    return judge_gate(diagnosis, files.gate)


def _next_commands(diagnosis: Diagnosis) -> tuple[Command, ...]:
    first = (finding.commands[0] for finding in diagnosis.findings if finding.commands)
    return tuple(dict.fromkeys(first))[:NEXT_COMMANDS]
