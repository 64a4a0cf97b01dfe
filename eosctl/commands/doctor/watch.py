"""``eosctl doctor --watch``: look again and again, and show what changed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer
from msgspec.structs import replace

from eosctl.commands.doctor.sources import Sources, with_sources
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import parse_duration_ms
from eosctl.commands.session import resolve_connection
from eosctl.commands.watching import check_format, frames, row_count
from eosctl.errors import EosctlError, UsageError
from eosctl.render.formats import FindingFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from eosctl.checks.watching import Look
    from eosctl.findings.diagnosis import Diagnosis
    from eosctl.model.snapshot import ClusterSnapshot
    from eosctl.settings.client_resolution import ResolvedClient

WATCH = "Watch"
SHARE: Final = 4
"""A look may take a fifth of the time: when it takes long, the pause after it grows to four times as much."""
ROWS_WITHOUT_TERMINAL: Final = 40
HEAD_LINES: Final = 8
Watch = Annotated[
    bool,
    typer.Option("--watch", help="Look again and again until Ctrl-C, and show what changed.", rich_help_panel=WATCH),
]
Interval = Annotated[
    int,
    typer.Option(
        "--interval",
        metavar="DURATION",
        parser=parse_duration_ms,
        help="Pause between two looks of --watch; longer when looks take long.",
        rich_help_panel=WATCH,
    ),
]
Count = Annotated[
    int | None,
    typer.Option("--count", min=1, help="End --watch after this many looks.", rich_help_panel=WATCH),
]


class Watching(msgspec.Struct, frozen=True):
    """What to watch, and how."""

    connection: Connection
    sources: Sources
    second_look_after_ms: int
    interval_ms: int
    count: int | None


def check_watchable(output: FindingFormat, others: dict[str, bool]) -> None:
    """Refuse what makes no sense again and again.

    Args:
        output: The format.
        others: Options that watch one moment, by name: whether they were given.

    Raises:
        UsageError: One of them was.
    """
    check_format("doctor --watch", output)
    given = [name for name, is_given in others.items() if is_given]
    if given:
        raise UsageError(
            f"--watch and {given[0]} were both given.",
            "Only a running cluster and programs that tell metrics change while one watches.",
            "Leave one of them out; eosctl logs watch follows logs.",
        )


def watch_diagnosis(
    watching: Watching,
    judge: Callable[[ClusterSnapshot], Diagnosis],
    output: FindingFormat,
    invocation: Invocation,
) -> Diagnosis | None:
    """Look until the count is reached, or until Ctrl-C.

    A look that fails is shown and tried again, but for the first one.

    Returns:
        What was found last.

    Raises:
        EosctlError: The first look failed.
    """
    from eosctl.checks.watching import failed, follow
    from eosctl.findings.grouping import group_findings

    resolved = resolve_connection(watching.connection)
    look: Look | None = None
    seen = 0
    with frames(output) as show:
        while True:
            began = time.monotonic()
            try:
                snapshot = _capture(resolved, watching, invocation)
                diagnosis = judge(snapshot)
                groups = group_findings(diagnosis.findings, snapshot)
                look = follow(look, diagnosis, groups, snapshot.captured_at_ms)
            except EosctlError as error:
                if look is None:
                    raise
                look = failed(look, f"{error.what} {error.why}".strip(), invocation.now_ms())
            show(_frame(look, invocation, output))
            seen += 1
            if watching.count is not None and seen >= watching.count:
                break
            time.sleep(max(watching.interval_ms / 1000, SHARE * (time.monotonic() - began)))
    return look.diagnosis


def _capture(resolved: ResolvedClient, watching: Watching, invocation: Invocation) -> ClusterSnapshot:
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import Observer, collect_snapshot

    async def collect() -> ClusterSnapshot:
        observer = Observer(invocation.now_ms, second_look_after_ms=watching.second_look_after_ms)
        # A connection of its own for each look: none is held, or found dead, while nobody looks.
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            return await collect_snapshot(client, observer)

    snapshot = replace(asyncio.run(collect()), command_config=str(resolved.command_config or ""))
    return with_sources(snapshot, watching.sources, invocation.now_ms)[0]


def _frame(look: Look, invocation: Invocation, output: FindingFormat) -> str:
    from eosctl.render.diagnosis.watch import look_item, render_look

    if output is FindingFormat.JSON:
        from eosctl.render.machine import render_json_line

        return render_json_line(look_item(look))
    return render_look(look, row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), invocation.style())
