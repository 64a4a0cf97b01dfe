"""``eosctl fsck``: whether data directories hold what Kafka would have written, from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.diagnosis_output import FindingResultOptions, note_suppressed, write_baseline_file
from eosctl.commands.gate import GateAtWarning
from eosctl.commands.invocation import Invocation, write_result
from eosctl.commands.options import SecondLookAfter
from eosctl.commands.session import perform
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.fsck import render_repair_plan
from eosctl.render.fsck_report import render_fsck_findings
from eosctl.services.inspect_files import InspectRequest, inspect_files


def fsck(
    invocation: Invocation,
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Data directories (log.dirs) of the brokers of one cluster, or copies."),
    ],
    repair_plan: Annotated[
        bool, typer.Option("--repair-plan", help="Show the steps that would mend it; never touches a file.")
    ] = False,
    max_rate: Annotated[
        str | None,
        typer.Option(
            "--max-rate",
            metavar="BYTES",
            help="Read no more in a second, e.g. 20MiB; 50MiB where a broker runs on a directory, else no limit.",
        ),
    ] = None,
    second_look_after: SecondLookAfter = "2s",  # type: ignore[assignment]
    *,
    result: FindingResultOptions,
    gate: GateAtWarning,
) -> None:
    """Check data directories: logs, indexes, snapshots, checkpoints, and transactions across them.

    Only reads. If a broker is writing to a directory, only problems found in two passes are reported. Exit codes: 0 no
    finding at or above --fail-on (a warning, unless named), 2 usage, 3 findings, 4 with --require-complete when a
    partition was not checked or a transaction is undecided.
    """
    request = InspectRequest(tuple(directories), max_rate, second_look_after, gate.options)
    checked, found, exit_code = perform(inspect_files, request, invocation)
    write_baseline_file(found, result.write_baseline)
    if repair_plan and result.output in FOR_PEOPLE:
        text = render_repair_plan(checked, invocation.style())
    else:
        text = render_fsck_findings(checked, result.output, invocation.style(), header=result.header)
    write_result(text, result.output_file)
    note_suppressed(checked.diagnosis, result.output)
    raise typer.Exit(exit_code)
