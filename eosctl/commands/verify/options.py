"""What the commands of ``eosctl verify`` share."""

from __future__ import annotations

from typing import Annotated, Final

import typer

FAULTS: Final = "Faults"
OwnedCluster = Annotated[
    str | None,
    typer.Option(
        "--i-own-this-cluster",
        metavar="CLUSTER-ID",
        help="Allow faults on a cluster that eosctl did not start.",
        rich_help_panel=FAULTS,
    ),
]
