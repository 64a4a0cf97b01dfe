"""What the commands of ``eosctl verify`` share."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

FAULTS: Final = "Faults"
_faults = partial(typer.Option, rich_help_panel=FAULTS)

OwnedCluster = Annotated[
    str | None,
    _faults(
        "--i-own-this-cluster",
        metavar="CLUSTER-ID",
        help="Confirmation of the cluster id, to allow faults on a cluster that eosctl did not start.",
    ),
]
