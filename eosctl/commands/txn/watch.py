"""``eosctl txn watch``: open transactions as they come and go."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import typer

from eosctl.commands.invocation import Invocation, invocation_of
from eosctl.commands.options import (
    Bootstrap,
    CommandConfig,
    Output,
    Overrides,
    Profile,
    Timeout,
)
from eosctl.commands.session import resolve_connection
from eosctl.commands.watching import KEPT, Count, Interval, check_format, frames, row_count
from eosctl.model.evidence import EvidenceKind
from eosctl.render.formats import OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.analysis.watching import Moment
    from eosctl.settings.client_resolution import ResolvedClient

WATCHED: Final = frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS})
ROWS_WITHOUT_TERMINAL: Final = 20
HEAD_LINES: Final = 9


def watch_transactions(
    context: typer.Context,
    interval: Interval = "2s",  # type: ignore[assignment]
    count: Count = None,
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
    check_format("txn watch", output)
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

    # One look is enough: nothing here is called hanging.
    moments: list[Moment] = []
    seen = 0
    with frames(output) as show:
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            while True:
                observer = Observer(invocation.now_ms, second_look_after_ms=0)
                moments = [*moments[-KEPT:], observe(await collect_snapshot(client, observer, WATCHED))]
                seen += 1
                show(_frame(moments, invocation, output))
                if count is not None and seen >= count:
                    break
                await asyncio.sleep(interval_ms / 1000)


def _frame(moments: list[Moment], invocation: Invocation, output: OutputFormat) -> str:
    from eosctl.render.transactions.watch import render_frame, watch_item

    if output is OutputFormat.JSON:
        from eosctl.render.machine import render_json_line

        return render_json_line(watch_item(moments[-1]))
    return render_frame(moments, row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), invocation.style())
