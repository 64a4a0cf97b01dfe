"""``eosctl logs watch``: events of logs as they are written."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation, note
from eosctl.command_line.values import parse_duration_ms
from eosctl.commands.logs.options import Places, TopicsOptions, Zone, reading_option
from eosctl.render.logs.watch import render_event
from eosctl.services.callbacks import Callbacks
from eosctl.services.follow_logs import FollowRequest, follow_logs

FOLLOWING: Final = "Following"
_following = partial(typer.Option, rich_help_panel=FOLLOWING)


def _parse_time_ms(text: str) -> int:
    return 0 if text in ("0", "0s") else parse_duration_ms(text)


_time = partial(_following, metavar="DURATION", parser=_parse_time_ms)


def watch_logs(
    invocation: Invocation,
    paths: Places,
    zone: Zone = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Category to show; repeatable.")
    ] = None,
    every: Annotated[bool, reading_option("--all", help="Show benign events as well.")] = False,
    from_start: Annotated[bool, _following("--from-start", help="Start with the existing content.")] = False,
    interval_ms: Annotated[int, _time("--interval", help="Time between two readings.")] = 100,
    idle_ms: Annotated[int, _time("--idle", help="Time without new lines after which an event is complete.")] = 250,
    duration_ms: Annotated[
        int | None, _time("--duration", help="Time to run; 0s reads what is there; unlimited by default.")
    ] = None,
    *,
    topics: TopicsOptions,
    as_json: Annotated[bool, typer.Option("--jsonl", help="Write each event as one line of JSON.")] = False,
) -> None:
    """Follow logs and show relevant events as they are written.

    Rotated and truncated files are followed. A log topic (kafka://HOST:PORT/TOPIC) is followed like a file. Runs until
    it is interrupted, or for the time of --duration.

    Exit codes: 0 the time is over, 2 bad input, 4 not every log was read, 130 interrupted.

    Examples:
        eosctl logs watch /var/log/kafka
        eosctl logs watch server.log --category PRODUCER_FENCED --jsonl
    """
    request = FollowRequest(
        paths=tuple(paths),
        connection=topics.connection(paths),
        zone=zone,
        categories=tuple(category or ()),
        with_benign=every,
        from_start=from_start,
        interval_ms=interval_ms,
        idle_ms=idle_ms,
        seconds=None if duration_ms is None else duration_ms / 1000,
    )
    style = invocation.style()
    for events in follow_logs(request, Callbacks(invocation.now_ms, note)):
        for event, weight in events:
            sys.stdout.write(render_event(event, weight, style, as_json=as_json))
        sys.stdout.flush()
