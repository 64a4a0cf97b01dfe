"""``eosctl txn watch``: open transactions as they come and go."""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.invocation import Invocation, invocation_of, write_result
from eosctl.commands.options import (
    Bootstrap,
    CommandConfig,
    Output,
    Overrides,
    Profile,
    Timeout,
    parse_duration_ms,
)
from eosctl.commands.session import Connection, resolve_connection
from eosctl.errors import UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.analysis.watching import Moment
    from eosctl.settings.client_resolution import ResolvedClient

WATCHED: Final = frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS})
KEPT: Final = 120
ROWS_WITHOUT_TERMINAL: Final = 20
HEAD_LINES: Final = 9


def watch_transactions(
    context: typer.Context,
    interval: Annotated[
        int,
        typer.Option("--interval", metavar="DURATION", parser=parse_duration_ms, help="Time between two looks."),
    ] = "2s",  # type: ignore[assignment]
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="End after this many looks; default: until interrupted.")
    ] = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Watch open transactions: how many, how old, and how far the last stable offset lies behind.

    On a terminal the table is drawn in place; elsewhere each look is printed below the one before. -o json prints one
    line a look. Ctrl-C ends it.
    """
    if output not in (OutputFormat.TABLE, OutputFormat.WIDE, OutputFormat.JSON):
        raise UsageError(f"txn watch has no {output.value} output.", "", "Use -o table or -o json.")
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    resolved = resolve_connection(connection)
    asyncio.run(_watch(resolved, invocation_of(context), interval, count, output))


async def _watch(
    resolved: ResolvedClient, invocation: Invocation, interval_ms: int, count: int | None, output: OutputFormat
) -> None:
    from eosctl.analysis.watching import observe
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import Observer, collect_snapshot
    from eosctl.render.transactions.watch import live_screen

    # One look is enough: nothing here is called hanging.
    in_place = output is not OutputFormat.JSON and sys.stdout.isatty()
    moments: list[Moment] = []
    seen = 0
    with live_screen() if in_place else nullcontext(write_result) as show:
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            while True:
                observer = Observer(invocation.now_ms, second_look_after_ms=0)
                moments = [*moments[-KEPT:], observe(await collect_snapshot(client, observer, WATCHED))]
                seen += 1
                show(_frame(moments, invocation, output))
                if count is not None and seen >= count:
                    break
                await asyncio.sleep(interval_ms / 1000)
    if in_place:
        write_result(_frame(moments, invocation, output))


def _frame(moments: list[Moment], invocation: Invocation, output: OutputFormat) -> str:
    from eosctl.render.transactions.watch import render_frame, watch_item

    if output is OutputFormat.JSON:
        import msgspec

        return msgspec.json.encode(watch_item(moments[-1])).decode() + "\n"
    rows = max(3, shutil.get_terminal_size().lines - HEAD_LINES) if sys.stdout.isatty() else ROWS_WITHOUT_TERMINAL
    return render_frame(moments, rows, invocation.style())
