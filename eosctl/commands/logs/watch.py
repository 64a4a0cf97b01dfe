"""``eosctl logs watch``: events of logs as they are written."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated, Final

import typer

from eosctl.commands.invocation import Invocation, note
from eosctl.commands.logs.options import READING, Places, TopicsOptions, Zone
from eosctl.render.logs.watch import render_event
from eosctl.services.callbacks import Callbacks
from eosctl.services.follow_logs import FollowRequest, follow_logs

FOLLOWING: Final = "Following"
_following = partial(typer.Option, rich_help_panel=FOLLOWING)


def watch_logs(
    invocation: Invocation,
    paths: Places,
    zone: Zone = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Category to show; repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show benign events as well.", rich_help_panel=READING)] = False,
    from_start: Annotated[bool, _following("--from-start", help="Start with the existing content.")] = False,
    interval_ms: Annotated[int, _following("--interval-ms", min=10, help="Milliseconds between two readings.")] = 100,
    idle_ms: Annotated[
        int, _following("--idle-ms", min=0, help="Milliseconds without new lines after which an event is complete.")
    ] = 250,
    seconds: Annotated[
        float | None, _following("--for", metavar="SECONDS", min=0, help="Time to run; unlimited by default.")
    ] = None,
    *,
    topics: TopicsOptions,
    as_json: Annotated[bool, typer.Option("--jsonl", help="Write each event as one line of JSON.")] = False,
) -> None:
    """Follow logs and show relevant events as they are written.

    Rotated and truncated files are followed. A log topic (kafka://HOST:PORT/TOPIC) is followed like a file. Runs until
    it is interrupted, or for the time of --for.

    Exit codes: 0 the time is over, 2 bad input, 130 interrupted.

    Examples:
        eosctl logs watch /var/log/kafka
        eosctl logs watch server.log --category PRODUCER_FENCED --jsonl
    """
    shown = (tuple(category or ()), every, from_start)
    request = FollowRequest(tuple(paths), topics.connection(paths), zone, *shown, interval_ms, idle_ms, seconds)
    style = invocation.style()
    for events in follow_logs(request, Callbacks(invocation.now_ms, note)):
        for event, weight in events:
            sys.stdout.write(render_event(event, weight, style, as_json=as_json))
        sys.stdout.flush()
