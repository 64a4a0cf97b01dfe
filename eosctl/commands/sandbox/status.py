"""``eosctl sandbox status``: all sandboxes in a list, or one on a page, drawn once or again and again."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.options import ResultOptions, duration_option
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.live import show_live
from eosctl.render.page import Style
from eosctl.render.sandbox.listing import render_sandboxes
from eosctl.render.sandbox.status import render_status
from eosctl.services.sandboxes import DEFAULT_NAME, inspect_sandbox, list_sandboxes


def show_sandboxes(
    invocation: Invocation,
    name: Annotated[str | None, typer.Option("--name", help="Sandbox to show in detail.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Redraw the page of one sandbox continuously.")] = False,
    interval_ms: Annotated[int, duration_option("--interval", help="Time between two readings.")] = "1s",  # type: ignore[assignment]
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
