"""``eosctl logs watch``: events of logs as they are written."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, note
from eosctl.commands.logs.engine import READING, Zone
from eosctl.commands.logs.places import Places
from eosctl.commands.options import CommandConfig, Overrides, Profile
from eosctl.services.log_format import find_zone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eosctl.model.log_event import LogEvent

FOLLOWING = "Following"


def watch_logs(
    context: typer.Context,
    paths: Places,
    zone: Zone = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Show this category only; repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show benign events, too.", rich_help_panel=READING)] = False,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Begin with what is there already.", rich_help_panel=FOLLOWING)
    ] = False,
    interval_ms: Annotated[
        int, typer.Option("--interval-ms", min=10, help="How often to look.", rich_help_panel=FOLLOWING)
    ] = 100,
    idle_ms: Annotated[
        int,
        typer.Option("--idle-ms", min=0, help="When an event is held to be complete.", rich_help_panel=FOLLOWING),
    ] = 250,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", min=0, help="Stop after this long.", rich_help_panel=FOLLOWING),
    ] = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    as_json: Annotated[bool, typer.Option("--jsonl", help="Write an event as a JSON object a line.")] = False,
) -> None:
    """Follow logs and show what matters while it is written; rotation and truncation are followed.

    Topics that shippers write logs to are followed like files: kafka://HOST:PORT/TOPIC.

    Runs until it is interrupted.

    Exit codes: 0 the time was over, 2 usage, 130 interrupted.
    """
    from eosctl.model.log_event import UNCLASSIFIED
    from eosctl.render.logs.watch import event_json, event_text
    from eosctl.services.log_categories import check_categories, log_categories
    from eosctl.services.log_places import connection_of, files_and_topics, reading_topics
    from spark_log_analytics.catalogue import Weight
    from spark_log_analytics.classify import Classifier
    from spark_log_analytics.tail import Position, find_ends, plan_tail, read_tail
    from spark_log_analytics.topics.follow import following

    weights = {one.id: one.weight for one in log_categories()} | {UNCLASSIFIED: Weight.ACT}
    wanted = check_categories(category or ())
    connection = connection_of(paths, command_config, overrides, profile)
    (files, topics), local = files_and_topics(paths, connection, note), find_zone(zone)
    style = invocation_of(context).style()
    classifier = Classifier()

    def matters(event: LogEvent) -> bool:
        if wanted:
            return event.category in wanted
        return every or weights[event.category] is not Weight.BENIGN

    def show(events: Iterable[LogEvent]) -> None:
        for event in events:
            if matters(event):
                sys.stdout.write(event_json(event) if as_json else event_text(event, weights[event.category], style))
        sys.stdout.flush()

    known: dict[str, Position] = {} if from_start else find_ends(files, {}, idle_ms=0)
    with reading_topics(), following(topics, idle_ms, local, from_start=from_start, on_loss=note) as followers:
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            over = until is not None and time.monotonic() >= until
            ends = find_ends(files, known, idle_ms=0 if over else idle_ms)
            for part in plan_tail(known, ends, local):
                show(read_tail(part, classifier))
            known = ends
            for follower in followers:
                show(follower.read(classifier, whole=over))
            if over:
                return
            time.sleep(interval_ms / 1000)
