"""How ``doctor`` and ``check run`` write a diagnosis: as a result, and as a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn

import typer

from eosctl.command_line.incomplete import note_gaps, note_missing
from eosctl.command_line.invocation import Invocation, note, write_report, write_result
from eosctl.commands.diagnosis_output import WITHOUT_NOTES, note_read_as, note_suppressed, write_baseline_file
from eosctl.commands.options import FindingOutput, Header, OutputFile, ReportFile, output_option
from eosctl.render.diagnosis.formats import render_diagnosis
from eosctl.render.formats import FindingFormat
from eosctl.services.diagnose import Diagnosed


class ReportOptions(NamedTuple):
    """The options for the format and the files of a diagnosis."""

    save_snapshot: Annotated[
        Path | None, output_option("--save-snapshot", metavar="FILE", help="File to save the evidence to.")
    ] = None
    output: FindingOutput = FindingFormat.TABLE
    header: Header = None
    output_file: OutputFile = None
    report: ReportFile = None


def write_diagnosis(
    diagnosed: Diagnosed, options: ReportOptions, baseline: Path | None, invocation: Invocation
) -> NoReturn:
    """Write a diagnosis where the options want it, and its findings as a baseline; end with its exit code.

    Raises:
        EosctlError: A file cannot be written.
    """
    write_baseline_file(diagnosed.found, baseline)
    report, output = diagnosed.report, options.output
    render = partial(render_diagnosis, report, diagnosed.manuals)
    write_result(render(output, invocation.style(), header=options.header), options.output_file)
    note_gaps(output, report.diagnosis.gaps)
    note_suppressed(report.diagnosis, output)
    if not report.diagnosis.grade.is_given:
        read = f" Logs: {report.log_reading}." if report.log_reading else ""
        note_missing(output, [f"{report.diagnosis.grade.cap}, so there is no grade.{read}"])
    if output in (*WITHOUT_NOTES, FindingFormat.JUNIT):
        note_read_as(report.read_as)
    write_report(options.report, render)
    for remark in diagnosed.remarks:
        note(remark)
    raise typer.Exit(diagnosed.exit_code)
