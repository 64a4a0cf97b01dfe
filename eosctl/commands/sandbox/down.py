"""``eosctl sandbox down``: stop a local cluster."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from eosctl.commands.invocation import note, write_result
from eosctl.commands.sandbox.options import Name
from eosctl.services.sandboxes import DEFAULT_NAME, stop_sandboxes

FILES_NAMED: Final = 5


def stop(
    name: Name = DEFAULT_NAME,
    everything: Annotated[bool, typer.Option("--all", help="Stop all sandboxes of this user.")] = False,
) -> None:
    """Stop a sandbox: exactly the process that was started, however it stands."""
    stopped = stop_sandboxes(None if everything else name)
    if not stopped:
        note("no sandbox to stop" if everything else f"no sandbox named {name!r}: nothing to stop")
    for one in stopped:
        write_result(f"Sandbox {one.name}: {one.how}\n")
        if one.left:
            more = len(one.left) - FILES_NAMED
            named = ", ".join(one.left[:FILES_NAMED]) + (f", and {more:,} more" if more > 0 else "")
            note(f"left in {one.data_dir}, as this sandbox did not write it: {named}")
