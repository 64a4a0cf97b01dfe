"""``eosctl sandbox down``: stop a local cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import note, write_result
from eosctl.commands.sandbox.options import Name
from eosctl.render.sandbox.listing import left_text
from eosctl.services.sandboxes import DEFAULT_NAME, stop_sandboxes


def stop(
    name: Name = DEFAULT_NAME,
    everything: Annotated[bool, typer.Option("--all", help="Stop all sandboxes of this user.")] = False,
) -> None:
    """Stop a sandbox.

    Examples:
        eosctl sandbox down
        eosctl sandbox down --all
    """
    stopped = stop_sandboxes(None if everything else name)
    if not stopped:
        note("no sandbox to stop" if everything else f"no sandbox named {name!r}: nothing to stop")
    for one in stopped:
        write_result(f"Sandbox {one.name}: {one.how}\n")
        if one.left:
            note(left_text(one.data_dir, one.left))
