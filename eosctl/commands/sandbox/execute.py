"""``eosctl sandbox exec``: run a program on a sandbox."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.sandbox.options import AnyName
from eosctl.services.sandbox_access import run_program
from eosctl.services.sandboxes import require_sandbox


def execute(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="Program and its arguments.")],
    name: AnyName = None,
) -> None:
    """Run a program with the address of a sandbox.

    Sets BOOTSTRAP_SERVERS, KAFKA_BOOTSTRAP_SERVERS, and EOSCTL_BOOTSTRAP_SERVERS. A secured sandbox also sets its
    client file (KAFKA_CLIENT_CONFIG, EOSCTL_COMMAND_CONFIG) and the login of its administrator (KAFKA_SASL_USERNAME and
    others). The exit code is the program's. Without --name, the only running sandbox is used.

    Examples:
        eosctl sandbox exec -- eosctl doctor
        eosctl sandbox exec --name tv1 -- python app.py
    """
    raise typer.Exit(run_program(command, require_sandbox(name)))
