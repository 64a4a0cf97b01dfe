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
        list[str] | None, typer.Option("--category", metavar="NAME", help="Show this category only; repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show benign events, too.", rich_help_panel=READING)] = False,
    from_start: Annotated[bool, _following("--from-start", help="Begin with what is there already.")] = False,
    interval_ms: Annotated[int, _following("--interval-ms", min=10, help="How often to look.")] = 100,
    idle_ms: Annotated[int, _following("--idle-ms", min=0, help="When an event is held to be complete.")] = 250,
    seconds: Annotated[
        float | None, _following("--for", metavar="SECONDS", min=0, help="Stop after this long.")
    ] = None,
    *,
    topics: TopicsOptions,
    as_json: Annotated[bool, typer.Option("--jsonl", help="Write an event as a JSON object a line.")] = False,
) -> None:
    """Follow logs and show what matters while it is written; rotation and truncation are followed.

    Topics that shippers write logs to are followed like files: kafka://HOST:PORT/TOPIC.

    Runs until it is interrupted.

    Exit codes: 0 the time was over, 2 usage, 130 interrupted.
    """
    shown = (tuple(category or ()), every, from_start)
    request = FollowRequest(tuple(paths), topics.connection(paths), zone, *shown, interval_ms, idle_ms, seconds)
    style = invocation.style()
    for events in follow_logs(request, Callbacks(invocation.now_ms, note)):
        for event, weight in events:
            sys.stdout.write(render_event(event, weight, style, as_json=as_json))
        sys.stdout.flush()
