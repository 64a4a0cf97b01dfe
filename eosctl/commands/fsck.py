"""``eosctl fsck``: whether data directories hold what Kafka would have written, from the files alone."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.command_line.option_groups import options
from eosctl.commands.diagnosis_output import FindingResultOptions, note_suppressed, write_baseline_file
from eosctl.commands.gate import WarningGate
from eosctl.commands.options import SecondLookAfter
from eosctl.commands.session import perform
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.fsck import render_repair_plan
from eosctl.render.fsck_report import render_fsck_findings
from eosctl.services.inspect_files import InspectRequest, inspect_files

InspectOptions = Annotated[
    InspectRequest,
    options(
        directories=typer.Argument(
            metavar="DIR...", help="Data directories (log.dirs) of the brokers of one cluster, or copies."
        ),
        max_rate=typer.Option(
            "--max-rate",
            metavar="BYTES",
            help="Maximum read rate per second, e.g. 20MiB; 50MiB if a broker runs on a directory, else unlimited.",
        ),
        second_look_after_ms=SecondLookAfter,
        progress_file=typer.Option("--progress-file", metavar="FILE", help="File to continue an interrupted check."),
        gate=WarningGate,
    ),
]


def fsck(
    invocation: Invocation,
    request: InspectOptions,
    repair_plan: Annotated[bool, typer.Option("--repair-plan", help="Show the repair; no file is changed.")] = False,
    *,
    result: FindingResultOptions,
) -> None:
    """Check the data directories of brokers.

    Checks logs, indexes, snapshots, checkpoints, and the transactions across them. Directories are only read. If a
    broker is writing, only problems found in two passes are reported. With --progress-file, it can be continued.

    Exit codes: 0 no problem, 2 bad input, 3 problems, 4 with --require-complete if a part of the data was not judged.

    Examples:
        eosctl fsck /var/lib/kafka
        eosctl fsck /var/lib/kafka --max-rate 20MiB --progress-file fsck.progress
        eosctl fsck broker-1/data broker-2/data broker-3/data --repair-plan
    """
    checked, found, exit_code = perform(inspect_files, request, invocation)
    write_baseline_file(found, result.write_baseline)
    if repair_plan and result.output in FOR_PEOPLE:
        text = render_repair_plan(checked, invocation.style())
    else:
        text = render_fsck_findings(checked, result.output, invocation.style(), header=result.header)
    write_result(text, result.output_file)
    note_suppressed(checked.diagnosis, result.output)
    raise typer.Exit(exit_code)
