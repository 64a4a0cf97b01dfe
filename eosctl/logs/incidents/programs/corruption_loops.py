"""Detect Streams tasks that are corrupted repeatedly: once is by design, but a loop never finishes restoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text

GAP_MS: Final = 900_000
"""A store that restores for longer than this makes progress."""
LOOP_COUNT: Final = 3
SAME_MOMENT_MS: Final = 5_000
"""Several records report one corruption."""
_ROUND: Final = "Detected the states of tasks"
"""A thread writes this once for each corruption that it handles (``StreamThread``)."""


def find_corruption_loops(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the periods in which an application's tasks were corrupted at least three times, with the interval."""
    names = StreamsNames(timeline)
    for events in by_key(
        (timeline.log_of(event), event) for event in timeline.client_events("TASK_CORRUPTED")
    ).values():
        for episode in episodes(events, GAP_MS):
            moments = _moments(episode)
            if len(moments) < LOOP_COUNT:
                continue
            first, last = moments[0], moments[-1]
            interval_s = (time_of(last) - time_of(first)) / 1000 / (len(moments) - 1)
            left_open = next((event.fields["left_open"] for event in episode if event.fields.get("left_open")), "")
            cause, remedy = _left_open(left_open) if left_open else (_WIPED, _FIND_WHAT_FAILS)
            application = names.of(episode)
            tasks = tuple(sorted({event.fields["task"] for event in episode if event.fields.get("task")}))
            yield incident(
                "task_corrupted",
                "corruption-loop",
                {"application.id": application, "tasks": tasks},
                episode,
                f"Tasks of {application} were corrupted {count_text(len(moments), 'time')}, every "
                f"{_seconds(interval_s)} on average: {cause}, so they make no progress.{_thrown(episode)}",
                remedy,
                confidence=0.9,
            )


_WIPED: Final = "their stores are wiped again before they are restored"
_FIND_WHAT_FAILS: Final = (
    "Find the failure before each corruption: a commit that times out, a changelog offset out of range, or a "
    "restoration that takes longer than max.poll.interval.ms. Standby replicas and a longer transaction.timeout.ms "
    "give the restoration time."
)
_REMOVE_THE_STORES: Final = (
    "Stop the instance, remove the directories of these tasks below state.dir, and start it: the stores are restored "
    "from their changelogs. Stop every instance cleanly before enable.transactional.statestores is set to true."
)


def _left_open(store: str) -> tuple[str, str]:
    """Return cause and remedy of a store that Kafka Streams 4.4.0 refuses and does not wipe (seen on that release)."""
    cause = (
        f"their store {store} was written without transactional state stores and not closed, and Kafka Streams "
        "refuses it without wiping it"
    )
    return cause, _REMOVE_THE_STORES


def _thrown(episode: Sequence[LogEvent]) -> str:
    """Return a sentence on the error behind the corruptions; empty if their records name none or several."""
    roots = {event.exception.root_class.rpartition(".")[2] for event in episode if event.exception}
    roots.discard("TaskCorruptedException")
    return f" The error behind them is {roots.pop()}." if len(roots) == 1 else ""


def _seconds(interval_s: float) -> str:
    return f"{interval_s:,.0f} s" if interval_s >= 1 else f"{interval_s:.1f} s"


def _moments(episode: Sequence[LogEvent]) -> list[LogEvent]:
    """Return the first record of each corruption: those that a thread numbers by handling them, or those far apart."""
    moments = [part[0] for part in episodes(episode, SAME_MOMENT_MS)]
    handled = [event for event in episode if _ROUND in event.message]
    by_thread = by_key((event.fields.get("stream_thread") or event.thread, event) for event in handled)
    busiest = max(by_thread.values(), key=len, default=[])
    return busiest if len(busiest) > len(moments) else moments
