"""How commands write findings, and what they name on standard error next to them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import typer

from eosctl.command_line.incomplete import note_gaps, note_missing
from eosctl.command_line.invocation import note, write_file, write_result
from eosctl.commands.gate import WriteBaseline
from eosctl.commands.options import FindingOutput, Header, OutputFile
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.judged import Judged
from eosctl.model.read_as import ReadAs, sentence
from eosctl.render.diagnosis.baseline import render_baseline
from eosctl.render.formats import FindingFormat

WITHOUT_NOTES: Final = (FindingFormat.TSV, FindingFormat.CSV, FindingFormat.PROMETHEUS)
"""Formats that have no place for what is suppressed, nor for what files were read as."""


def note_read_as(files: Iterable[ReadAs]) -> None:
    """Write to standard error what each file was read as."""
    for one in files:
        note(f"{one.file}: read as: {sentence(one)}")


def write_baseline_file(found: tuple[Finding, ...], path: Path | None) -> None:
    """Write the fingerprints of findings as a baseline, if a file is named.

    Raises:
        EosctlError: The file cannot be written.
    """
    if path is None:
        return
    write_file(render_baseline(found), path)
    note(f"baseline: {path}")


class FindingResultOptions(NamedTuple):
    """The options for the format and the files of a result with findings."""

    output: FindingOutput = FindingFormat.TABLE
    header: Header = None
    output_file: OutputFile = None
    write_baseline: WriteBaseline = None


def write_judged(judged: Judged, text: str, result: FindingResultOptions) -> NoReturn:
    """Write a rendered result, name on standard error what its format omits, and end with its exit code.

    Raises:
        EosctlError: A file cannot be written.
        Exit: Always.
    """
    output, diagnosis = result.output, judged.diagnosis
    write_baseline_file(judged.found, result.write_baseline)
    write_result(text, result.output_file)
    note_gaps(output, diagnosis.gaps, text)
    note_missing(output, list(dict.fromkeys(one.reason for one in diagnosis.results if one.incomplete)))
    note_suppressed(diagnosis, output)
    for remark in judged.remarks:
        note(remark)
    raise typer.Exit(judged.exit_code)


def note_suppressed(diagnosis: Diagnosis, output: FindingFormat) -> None:
    """Write suppressions to standard error, for formats that have no place for them."""
    if output not in WITHOUT_NOTES:
        return
    for finding, reason in diagnosis.suppressed:
        note(f"suppressed: {finding.check_id} {finding.resource}: {reason}")
    for remark in diagnosis.remarks:
        note(remark)
