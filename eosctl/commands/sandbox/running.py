"""``eosctl sandbox status``, ``logs``, ``exec``, and ``down``: use and stop sandboxes that run."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.commands.emit import emit
from eosctl.commands.options import ResultOptions, duration_option
from eosctl.commands.sandbox.options import AnyName, Name
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.live import show_live
from eosctl.render.page import Style
from eosctl.render.sandbox.listing import left_text, render_records, render_sandboxes
from eosctl.render.sandbox.status import render_status
from eosctl.services.sandbox_access import run_program
from eosctl.services.sandbox_logs import SandboxLogsRequest, read_process_output, read_sandbox_logs
from eosctl.services.sandboxes import DEFAULT_NAME, inspect_sandbox, list_sandboxes, require_sandbox, stop_sandboxes


def show_sandboxes(
    invocation: Invocation,
    name: Annotated[str | None, typer.Option("--name", help="Sandbox to show in detail.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Redraw the page of one sandbox continuously.")] = False,
    interval_ms: Annotated[int, duration_option("--interval", help="Time between two readings.")] = 1_000,
    *,
    result: ResultOptions,
) -> None:
    """List sandboxes, or show one in detail.

    The details show controllers and brokers, open transactions, and the leader, ISR, and offsets of partitions. GAP is
    the number of offsets that read_committed readers cannot see yet: the high watermark minus the last stable offset.
    Partitions of internal topics are shown if they have a problem, or with -o wide.

    Examples:
        eosctl sandbox status
        eosctl sandbox status --name default --watch
    """
    everything = result.output is OutputFormat.WIDE
    if watch:
        if result.output not in FOR_PEOPLE or result.output_file is not None:
            raise UsageError("--watch draws a page for people.", "Machines read -o json.", "Leave --watch out.")
        watched = name or DEFAULT_NAME
        inspect_sandbox(watched)  # A sandbox that does not run shows before the first page.

        def draw(style: Style, height: int | None) -> str:
            return render_status(
                inspect_sandbox(watched), style._replace(fold=True), everything=everything, height=height
            )

        show_live(draw, invocation.style, interval_ms / 1000)
        return
    if name is not None and result.output in FOR_PEOPLE:
        emit(render_status(inspect_sandbox(name), invocation.style(), everything=everything), result)
    items = list_sandboxes() if name is None else (inspect_sandbox(name),)
    emit(render_sandboxes("sandbox status", items, invocation.now_ms(), result.output, invocation.style()), result)


def show_logs(
    name: Name = DEFAULT_NAME,
    broker: Annotated[
        str | None, typer.Option("--broker", metavar="NODE", help="Broker or controller, e.g. 2 or controller-100.")
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
