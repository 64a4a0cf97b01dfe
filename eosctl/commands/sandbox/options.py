"""Options that several commands of ``eosctl sandbox`` have."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.model.emulation import CHOICES

Name = Annotated[str, typer.Option("--name", help="Name of the sandbox.")]
AnyName = Annotated[
    str | None, typer.Option("--name", help="Name of the sandbox; by default the only one that is running.")
]
Emulate = Annotated[str, typer.Option("--emulate", metavar=CHOICES, help="Release to emulate.")]
TransactionVersion = Annotated[
    int | None, typer.Option("--transaction-version", min=0, max=2, help="Finalized transaction.version.")
]
BrokerSettings = Annotated[
    tuple[str, ...], typer.Option("--config", metavar="KEY=VALUE", help="Broker setting; repeatable.")
]
Bugs = Annotated[
    tuple[str, ...], typer.Option("--bug", metavar="NAME[=off]", help="Known bug to switch on or off; repeatable.")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the random choices, to repeat a run.")]
