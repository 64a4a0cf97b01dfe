"""Groups of options of commands that report findings: where they go, and what decides the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from eosctl.commands.gate import BaselineFile, ExitZero, MinScore, RequireComplete, RulesFile, WriteBaseline
from eosctl.commands.options import OUTPUT, FindingOutput, Header, OutputFile
from eosctl.model.severity import Severity
from eosctl.render.formats import FindingFormat
from eosctl.services.gate_options import GateOptions


class FindingOptions(NamedTuple):
    """The options for the format and the file of findings."""

    output: FindingOutput = FindingFormat.TABLE
    header: Header = None
    output_file: OutputFile = None


class ReportOptions(NamedTuple):
    """The options for the format and the files of a diagnosis."""

    save_snapshot: Annotated[
        Path | None,
        typer.Option("--save-snapshot", metavar="FILE", help="Keep the evidence in a file.", rich_help_panel=OUTPUT),
    ] = None
    output: FindingOutput = FindingFormat.TABLE
    header: Header = None
    output_file: OutputFile = None
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write an HTML report as well.", rich_help_panel=OUTPUT),
    ] = None


class GateFlags(NamedTuple):
    """The options that decide the exit code of a run without a score, in addition to ``--fail-on``."""

    exit_zero: ExitZero = False
    require_complete: RequireComplete = False
    baseline: BaselineFile = None
    write_baseline: WriteBaseline = None
    rules: RulesFile = None

    def options(self, fail_on: Severity | None) -> GateOptions:
        """Return the demands on the run."""
        return GateOptions(fail_on, self.exit_zero, self.require_complete, None, self.baseline, self.rules)


class ScoredGateFlags(NamedTuple):
    """The options that decide the exit code of a run with a score, in addition to ``--fail-on``."""

    exit_zero: ExitZero = False
    require_complete: RequireComplete = False
    min_score: MinScore = None
    baseline: BaselineFile = None
    write_baseline: WriteBaseline = None
    rules: RulesFile = None

    def options(self, fail_on: Severity | None) -> GateOptions:
        """Return the demands on the run."""
        return GateOptions(fail_on, self.exit_zero, self.require_complete, self.min_score, self.baseline, self.rules)
