"""Detect Streams tasks that are corrupted repeatedly: once is by design, but a loop never finishes restoring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.logs.incidents.applications import StreamsNames
from eosctl.logs.incidents.timeline import LogTimeline, by_key, episodes, incident, time_of
from eosctl.model.incident import Incident

GAP_MS: Final = 900_000
"""A store that restores for longer than this makes progress."""
LOOP_COUNT: Final = 3
SAME_MOMENT_MS: Final = 5_000
"""Records within this time report the same corruption."""


def find_corruption_loops(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the periods in which an application's tasks were corrupted at least three times, with the interval."""
    names = StreamsNames(timeline)
    for events in by_key(
        (timeline.log_of(event), event) for event in timeline.client_events("TASK_CORRUPTED")
    ).values():
        for episode in episodes(events, GAP_MS):
            moments = [part[0] for part in episodes(episode, SAME_MOMENT_MS)]
            if len(moments) < LOOP_COUNT:
                continue
            first, last = moments[0], moments[-1]
            interval_s = (time_of(last) - time_of(first)) / 1000 / (len(moments) - 1)
            application = names.of(episode)
            tasks = tuple(sorted({event.fields["task"] for event in episode if event.fields.get("task")}))
            yield incident(
                "task_corrupted",
                "corruption-loop",
                {"application.id": application, "tasks": tasks},
                episode,
                f"Tasks of {application} were corrupted {len(moments)} times, every {interval_s:,.0f} s on "
                "average: their stores are wiped again before they are restored, so they make no progress.",
                "Find the failure before each corruption: a commit that times out, a changelog offset out of range, "
                "or a restoration that takes longer than max.poll.interval.ms. Standby replicas and a longer "
                "transaction.timeout.ms give the restoration time.",
                confidence=0.9,
            )
