"""How commands write findings: in the format that was asked for, as a report, and as a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, NoReturn

import typer

from eosctl.commands.gate import WriteBaseline
from eosctl.commands.incomplete import note_gaps, note_missing
from eosctl.commands.invocation import Invocation, note, write_file, write_result
from eosctl.commands.options import OUTPUT, FindingOutput, Header, OutputFile
from eosctl.render.formats import FindingFormat

if TYPE_CHECKING:
    from eosctl.findings.diagnosis import Diagnosis
    from eosctl.findings.finding import Finding
    from eosctl.findings.judged import Judged
    from eosctl.services.diagnose import Diagnosed

_WITHOUT_ROOM: Final = (FindingFormat.TSV, FindingFormat.CSV, FindingFormat.PROMETHEUS)
"""Formats that have no place for what is suppressed, nor for what files were read as."""

SaveSnapshot = Annotated[
    Path | None,
    typer.Option("--save-snapshot", metavar="FILE", help="Keep the evidence in a file.", rich_help_panel=OUTPUT),
]
HtmlReport = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write an HTML report as well.", rich_help_panel=OUTPUT),
]


class Destinations(NamedTuple):
    """Where a diagnosis goes.

    Attributes:
        output: The format on standard output.
        output_file: A file for the same text.
        report: A file for an HTML report.
        baseline: A file for the fingerprints of all findings.
        header: Whether rows begin with the names of the columns; None for the format's default.
    """

    output: FindingFormat
    output_file: Path | None
    report: Path | None
    baseline: Path | None
    header: bool | None = None


def write_diagnosis(diagnosed: Diagnosed, destinations: Destinations, invocation: Invocation) -> None:
    """Write a diagnosis.

    Raises:
        EosctlError: A file cannot be written.
    """
    from eosctl.render.diagnosis.formats import render_diagnosis

    write_baseline_file(diagnosed.found, destinations.baseline)
    report, checks, output = diagnosed.report, diagnosed.checks, destinations.output
    text = render_diagnosis(report, checks, output, invocation.style(), header=destinations.header)
    write_result(text, destinations.output_file)
    note_gaps(output, report.diagnosis.gaps)
    note_suppressed(report.diagnosis, output)
    if not report.diagnosis.grade.is_given:
        read = f" Logs: {report.log_reading}." if report.log_reading else ""
        note_missing(output, [f"no check could be evaluated, so there is no grade.{read}"])
    if output in (*_WITHOUT_ROOM, FindingFormat.JUNIT):
        from eosctl.model.read_as import sentence

        for one in report.read_as:
            note(f"{one.file}: read as: {sentence(one)}")
    if destinations.report is not None:
        write_file(render_diagnosis(report, checks, FindingFormat.HTML), destinations.report)
        note(f"report: {destinations.report}")
    for remark in diagnosed.remarks:
        note(remark)


def write_baseline_file(found: tuple[Finding, ...], path: Path | None) -> None:
    """Write the fingerprints of findings as a baseline, if a file is named.

    Raises:
        EosctlError: The file cannot be written.
    """
    if path is None:
        return
    from eosctl.render.diagnosis.baseline import render_baseline

    write_file(render_baseline(found), path)
    note(f"baseline: {path}")


class FindingResultOptions(NamedTuple):
    """The options for the format and the files of a result with findings."""

    output: FindingOutput = FindingFormat.TABLE
    header: Header = None
    output_file: OutputFile = None
    write_baseline: WriteBaseline = None


def write_judged(judged: Judged, text: str, result: FindingResultOptions) -> NoReturn:
    """Write a rendered result, name on standard error what its format has no room for, and end with its exit code.

    Raises:
        EosctlError: A file cannot be written.
        Exit: Always.
    """
    output, diagnosis = result.output, judged.diagnosis
    write_baseline_file(judged.found, result.write_baseline)
    write_result(text, result.output_file)
    note_gaps(output, diagnosis.gaps)
    note_missing(output, list(dict.fromkeys(one.reason for one in diagnosis.results if one.incomplete)))
    note_suppressed(diagnosis, output)
    for remark in judged.remarks:
        note(remark)
    raise typer.Exit(judged.exit_code)


def note_suppressed(diagnosis: Diagnosis, output: FindingFormat) -> None:
    """Write suppressions to standard error, for formats that have no place for them."""
    if output not in _WITHOUT_ROOM:
        return
    for finding, reason in diagnosis.suppressed:
        note(f"suppressed: {finding.check_id} {finding.resource}: {reason}")
    for remark in diagnosis.remarks:
        note(remark)
