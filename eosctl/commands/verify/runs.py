"""``eosctl verify replay``, ``show`` and ``export``: runs that are over."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.diagnosis_output import FindingResultOptions
from eosctl.commands.gate import VerdictGate
from eosctl.commands.options import ClusterOptions, OutputFile
from eosctl.commands.session import callbacks
from eosctl.commands.verify.shared import OwnedCluster, write_run
from eosctl.services.verify_deployment import COMPLETE, check_again, export_for_elle, replay

Run = Annotated[str, typer.Argument(metavar="RUN", help="Id or folder of a run.")]


def replay_run(
    invocation: Invocation,
    run: Run,
    cluster: ClusterOptions,
    owned: OwnedCluster = None,
    *,
    result: FindingResultOptions,
    gate: VerdictGate = COMPLETE,
) -> None:
    """Repeat a run with the same work and faults.

    Faults happen at the same times, on the same or another cluster. The timing of networks and threads is not repeated
    exactly: a rare anomaly may need several replays.

    Examples:
        eosctl verify replay 20261121-a1b2c3
        eosctl verify replay 20261121-a1b2c3 -b kafka-1:9092
    """
    arguments = () if cluster.connection.overrides else tuple(sys.argv[1:])
    with callbacks(invocation.now_ms) as shown:
        verified = replay(run, cluster.connection, owned, gate, shown, arguments)
    write_run(verified, result, invocation)


def show_run(invocation: Invocation, run: Run, result: FindingResultOptions, gate: VerdictGate = COMPLETE) -> None:
    """Check the history of a finished run again.

    Examples:
        eosctl verify show 20261121-a1b2c3
        eosctl verify show 20261121-a1b2c3 -o html --output-file run.html
    """
    with callbacks(invocation.now_ms) as shown:
        verified = check_again(run, gate, shown)
    write_run(verified, result, invocation)


def export_run(run: Run, output_file: OutputFile = None) -> None:
    """Export the history of a run for elle, Jepsen's checker.

    Writes list-append operations in EDN, one per line.

    Examples:
        eosctl verify export 20261121-a1b2c3 > history.edn
        eosctl verify export 20261121-a1b2c3 --output-file history.edn
    """
    write_result("".join(f"{line}\n" for line in export_for_elle(run)), output_file)
