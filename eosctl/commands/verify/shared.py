"""What the commands of ``eosctl verify`` share: options, and how they show a run."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, NoReturn

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.render.verify.run import render_verify
from eosctl.services.verification_items import verify_item
from eosctl.services.verify_deployment import Verified

FAULTS: Final = "Faults"
faults_option = partial(typer.Option, rich_help_panel=FAULTS)

OwnedCluster = Annotated[
    str | None,
    faults_option(
        "--i-own-this-cluster",
        metavar="CLUSTER-ID",
        help="Confirmation of the cluster id, to allow faults on a cluster that eosctl did not start.",
    ),
]


def write_run(verified: Verified, result: FindingResultOptions, invocation: Invocation) -> NoReturn:
    """Write the report of a run, and end with its exit code."""
    item = verify_item(verified.record, verified.report)
    text = render_verify(item, verified.judged, result.output, invocation.style(), result.header)
    write_judged(verified.judged, text, result)
