"""What the commands of ``eosctl verify`` share."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.invocation import remember_output
from eosctl.commands.options import OUTPUT
from eosctl.errors import ExitCode
from eosctl.render.verify.items import VerifyFormat

VerifyOutput = Annotated[
    VerifyFormat,
    typer.Option("--output", "-o", callback=remember_output, help="Format of the result.", rich_help_panel=OUTPUT),
]

#: Where ``--output`` is what an application writes to.
VerifyForm = Annotated[
    VerifyFormat,
    typer.Option("-o", "--format", callback=remember_output, help="Format of the result.", rich_help_panel=OUTPUT),
]


FAULTS = "Faults"
OwnedCluster = Annotated[
    str | None,
    typer.Option(
        "--i-own-this-cluster",
        metavar="CLUSTER-ID",
        help="Allow faults on a cluster that eosctl did not start.",
        rich_help_panel=FAULTS,
    ),
]


def exit_code(verdict: str) -> int:
    """Return the exit code of a verdict: 0 clean, 3 anomalies, 4 nothing decided."""
    return {"clean": 0, "anomalies": ExitCode.FINDINGS}.get(verdict, ExitCode.INCOMPLETE)
