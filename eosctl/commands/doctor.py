"""``eosctl doctor`` and what it shares with ``eosctl check run``: evidence, checks, grade, exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from eosctl.commands.invocation import Invocation, invocation_of, note, write_file, write_result
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
from eosctl.commands.session import Connection, load_or_capture
from eosctl.model.severity import Severity
from eosctl.render.formats import FindingFormat

if TYPE_CHECKING:
    from eosctl.checks.declaration import Check
    from eosctl.model.finding import Command, Diagnosis
    from eosctl.model.snapshot import ClusterSnapshot

FINDINGS = 3
INCOMPLETE = 4
NEXT_COMMANDS = 3

GATE = "Exit code"
FailOn = Annotated[
    Severity,
    typer.Option("--fail-on", help="Exit with 3 when a finding is this bad or worse.", rich_help_panel=GATE),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.", rich_help_panel=GATE)]
RequireComplete = Annotated[
    bool,
    typer.Option("--require-complete", help="Exit with 4 when evidence is missing.", rich_help_panel=GATE),
]
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
    fail_on: Severity
    exit_zero: bool
    require_complete: bool


def doctor(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,  # type: ignore[assignment]
    snapshot: SnapshotFile = None,
    save_snapshot: SaveSnapshot = None,
    output: FindingOutput = FindingFormat.TABLE,
    output_file: OutputFile = None,
    report: HtmlReport = None,
    fail_on: FailOn = Severity.ERROR,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
) -> None:
    """Collect evidence, run every check that applies, grade, say what to do next.

    Nothing is changed: only read requests are sent, no group is joined, no topic is created. Exit codes: 0 nothing at
    or above --fail-on, 1 the cluster could not be asked, 2 usage, 3 findings, 4 evidence incomplete with
    --require-complete.
    """
    from eosctl.checks.registry import ALL_CHECKS

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = load_or_capture(
        connection, snapshot, None, now_ms=invocation.now_ms, second_look_after_ms=second_look_after
    )
    request = Request("doctor", output, output_file, report, save_snapshot, fail_on, exit_zero, require_complete)
    raise typer.Exit(present(evidence, ALL_CHECKS, request, invocation))


def present(evidence: ClusterSnapshot, checks: Sequence[Check], request: Request, invocation: Invocation) -> int:
    """Diagnose, write what was asked for, and return the exit code."""
    from eosctl.checks.declaration import Case
    from eosctl.checks.runner import diagnose
    from eosctl.render.diagnosis import render_diagnosis
    from eosctl.render.report import Report

    if request.save_snapshot is not None:
        from eosctl.collect.snapshot_file import save_snapshot

        save_snapshot(evidence, request.save_snapshot)
        note(f"snapshot: {request.save_snapshot}")
    case = Case(evidence)
    diagnosis = diagnose(checks, case)
    report = Report(
        command=request.command,
        diagnosis=diagnosis,
        snapshot=evidence,
        verdicts=case.open_transactions,
        generated_at_ms=invocation.now_ms(),
        next_commands=_next_commands(diagnosis),
    )
    write_result(render_diagnosis(report, checks, request.output, invocation.style()), request.output_file)
    if request.report is not None:
        write_file(render_diagnosis(report, checks, FindingFormat.HTML), request.report)
        note(f"report: {request.report}")
    return exit_code(diagnosis, request)


def exit_code(diagnosis: Diagnosis, request: Request) -> int:
    """Return the exit code that a diagnosis deserves."""
    if request.exit_zero:
        return 0
    if any(finding.severity.at_least(request.fail_on) for finding in diagnosis.findings):
        return FINDINGS
    if request.require_complete and (diagnosis.gaps or any(result.incomplete for result in diagnosis.results)):
        return INCOMPLETE
    return 0


def _next_commands(diagnosis: Diagnosis) -> tuple[Command, ...]:
    first = (finding.commands[0] for finding in diagnosis.findings if finding.commands)
    return tuple(dict.fromkeys(first))[:NEXT_COMMANDS]
