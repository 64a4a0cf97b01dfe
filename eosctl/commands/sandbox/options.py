"""Options that several commands of ``eosctl sandbox`` have."""

from __future__ import annotations

from typing import Annotated

import typer

Name = Annotated[str, typer.Option("--name", help="Which sandbox.")]
Emulate = Annotated[str, typer.Option("--emulate", metavar="3.9|4.3", help="The release to behave as.")]
TransactionVersion = Annotated[
    int | None, typer.Option("--transaction-version", min=0, max=2, help="Finalized transaction.version.")
]
BrokerSettings = Annotated[
    list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="A broker setting; repeatable.")
]
Bugs = Annotated[
    list[str] | None,
    typer.Option("--bug", metavar="NAME[=off]", help="Switch a known bug of the release on or off; repeatable."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Repeat the same random choices.")]
