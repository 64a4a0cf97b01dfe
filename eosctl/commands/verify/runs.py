"""``eosctl verify replay``, ``show`` and ``export``: runs that are over."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eosctl.commands.diagnosis_output import FindingResultOptions
from eosctl.commands.gate import GateOfVerdict
from eosctl.commands.invocation import Invocation, write_result
from eosctl.commands.options import ClusterOptions, OutputFile
from eosctl.commands.session import callbacks
from eosctl.commands.verify.options import OwnedCluster
from eosctl.commands.verify.result import write_run
from eosctl.services.verify_deployment import check_again, export_for_elle, replay

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")]


def replay_run(
    invocation: Invocation,
    run: Run,
    cluster: ClusterOptions,
    owned: OwnedCluster = None,
    *,
    result: FindingResultOptions,
    gate: GateOfVerdict,
) -> None:
    """Play a run again: the same work and the same faults at the same times, on the same or another cluster.

    What a network and threads do is not repeated to the microsecond: a rare anomaly may need several replays.
    """
    arguments = () if cluster.overrides else tuple(sys.argv[1:])
    with callbacks(invocation.now_ms) as shown:
        verified = replay(run, cluster.connection, owned, gate.options, shown, arguments)
    write_run(verified, result, invocation)


def show_run(invocation: Invocation, run: Run, result: FindingResultOptions, gate: GateOfVerdict) -> None:
    """Check the history of a run that is over again, and show its report."""
    with callbacks(invocation.now_ms) as shown:
        verified = check_again(run, gate.options, shown)
    write_run(verified, result, invocation)


def export_run(run: Run, output_file: OutputFile = None) -> None:
    """Write the history of a run for elle, Jepsen's checker: list-append in EDN, one operation a line."""
    write_result("".join(f"{line}\n" for line in export_for_elle(run)), output_file)
