"""``eosctl check``: the catalog, and selected checks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.gate import ScoredGate
from eosctl.commands.options import LooksOptions, ResultOptions
from eosctl.commands.report_output import ReportOptions, write_diagnosis
from eosctl.commands.session import perform
from eosctl.input_file import exists
from eosctl.render.diagnosis.catalog import render_checks
from eosctl.services.check_selection import list_checks as choose
from eosctl.services.diagnose import DiagnoseRequest, diagnose

Selectors = Annotated[
    list[str] | None, typer.Argument(metavar="[ID|NAME|AREA|TAG]...", help="Checks to select; all by default.")
]


def list_checks(invocation: Invocation, selectors: Selectors = None, *, result: ResultOptions) -> None:
    """List the checks.

    Shows the id, name, severity, problem, and required evidence of each check. Select checks by id, name, area, or tag.

    Examples:
        eosctl check list
        eosctl check list TXN -o json
    """
    text = render_checks(choose(selectors or ()), invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def run_checks(
    invocation: Invocation, selectors: Selectors = None, *, looks: LooksOptions, report: ReportOptions, gate: ScoredGate
) -> None:
    """Run selected checks.

    Collects only the evidence that the selected checks need. Checks of configuration files also need the files or
    folders to read.

    Examples:
        eosctl check run TXN GRP -b kafka-1:9092
        eosctl check run hanging-transaction --snapshot evidence.json
        eosctl check run CFG conf/
    """
    request = DiagnoseRequest(
        looks.cluster.connection,
        looks.snapshot,
        paths=tuple(Path(one) for one in selectors or () if _is_path(one)),
        checks=tuple(one for one in selectors or () if not _is_path(one)),
        second_look_after_ms=looks.second_look_after,
        save_snapshot=report.save_snapshot,
        gate=gate.options,
        command="check run",
    )
    write_diagnosis(perform(diagnose, request, invocation), report, gate.write_baseline, invocation)


def _is_path(text: str) -> bool:
    """Return whether an argument is a file or a folder; names of checks have neither a dot nor a slash."""
    return any(mark in text for mark in "./\\") and exists(text)
