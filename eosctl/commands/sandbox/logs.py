"""``eosctl sandbox logs``: what the nodes of a sandbox say, in Kafka's words."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import write_result
from eosctl.commands.sandbox.options import Name
from eosctl.render.sandbox.listing import render_records
from eosctl.services.sandbox_logs import SandboxLogsRequest, read_process_output, read_sandbox_logs
from eosctl.services.sandboxes import DEFAULT_NAME


def show_logs(
    name: Name = DEFAULT_NAME,
    broker: Annotated[
        int | None, typer.Option("--broker", metavar="ID", help="Node id; controllers have ids from 100 on.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="Number of recent records.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow new records until Ctrl-C.")] = False,
    process: Annotated[
        bool, typer.Option("--process", help="Show the output of the sandbox's process instead: failures of eosctl.")
    ] = False,
) -> None:
    """Show the logs of a sandbox.

    The records of brokers and controllers are merged by time (UTC). The files (server.log, controller.log,
    state-change.log) have Kafka's layout and the messages of the emulated release; they are below `logs` in the data
    directory.

    Examples:
        eosctl sandbox logs
        eosctl sandbox logs --broker 2 --follow
    """
    if process:
        write_result(read_process_output(name, lines))
        return
    for records in read_sandbox_logs(SandboxLogsRequest(name, broker, lines, follow)):
        if records:
            write_result(render_records(records, named=broker is None))
