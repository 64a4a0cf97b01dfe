"""Detect applications that exited without a clean shutdown and were started again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Final

from eosctl.logs.incidents.programs.failed_streams import FAILURE_SPREAD_MS
from eosctl.logs.incidents.programs.slow_processing import AROUND_MS, RESTART_WITHIN_MS
from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import last_before
from eosctl.logs.incidents.timeline.names import application_of_id
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.restorations import (
    Return,
    is_without_checkpoint,
    restoration_after,
    return_after,
)
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, time_text

_STOPS: Final = (
    *("CLIENT_STOP", "APPLICATION_SIGNAL", "APPLICATION_STOP", "APPLICATION_KILLED"),
    *("PRODUCER_FENCED", "CLIENT_FATAL"),
)
_FAILURES: Final = (
    *("TIMEOUT_INIT_PID", "TIMEOUT_COMMIT_TXN", "INVALID_PID_MAPPING", "UNKNOWN_PRODUCER_ID"),
    "OUT_OF_ORDER_SEQUENCE",
)
"""Failures after which a program that lives on creates another producer."""
FAILED_MS: Final = 60_000
"""Maximum time from such a failure to the new producer."""


def find_unclean_stops(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield applications that exited without a clean shutdown and were started again."""
    starts = [event for event in timeline.client_events("CLIENT_START") if event.fields.get("transactional_id")]
    names = StreamsNames(timeline)
    wiped = [event for event in timeline.client_events("TASK_CORRUPTED") if is_without_checkpoint(timeline, event)]
    for events in by_key((timeline.log_of(event), event) for event in wiped).values():
        for episode in episodes(events, AROUND_MS):
            application = names.of(episode)
            end_ms = time_of(episode[-1]) + AROUND_MS
            echoes = timeline.log_between(
                episode[0], time_of(episode[0]), end_ms, ("TASK_CORRUPTED", "STATE_RESTORE_END")
            )
            tasks = tuple(sorted({event.fields["task"] for event in episode if event.fields.get("task")}))
            restored = restoration_after(timeline, episode[-1], time_of(episode[0]), inf).record_count
            back = return_after(timeline, episode[-1])
            yield incident(
                "task_corrupted",
                "unclean-stop-wipes-store",
                {"application.id": application, "tasks": tasks},
                [*episode, *echoes, *back.events],
                f"{application} found local stores without a checkpoint, as after a kill; under exactly-once it wiped "
                f"and restored them{f' ({restored:,} records)' if restored else ''}.{_end_text(back)}",
                "Nothing if it happens once. Shut instances down cleanly so that they keep their stores. Kafka Streams "
                "4.4 and later keep the flushed part of them with enable.transactional.statestores=true.",
                severity=Severity.WARNING,
                confidence=0.9,
            )
    restarts = sorted(_silent_restarts(timeline, starts), key=lambda pair: time_of(pair[1]))
    for name, pairs in _by_instance(restarts).items():
        is_streams = name != pairs[0][0].fields["transactional_id"]
        # The threads of a Streams instance start together, each with its own transactional id.
        for before, after in _apart(pairs) if is_streams else pairs:
            stores = _kept_stores(timeline, after) if is_streams else ""
            yield incident(
                "unclean_stop",
                "unclean-stop",
                {"application.id" if is_streams else "transactional.id": name},
                [before, after],
                f"{opening(program_of(timeline, before))} exited without a clean shutdown and was started again. "
                f"The new instance aborted its open transaction.{stores}",
                "Nothing was lost. If the restart was not planned, find what killed the process.",
                severity=Severity.INFO,
                confidence=0.8,
                t_start_ms=_last_sign(timeline, before, after),
                t_end_ms=time_of(after),
            )


def _end_text(back: Return) -> str:
    """Return a sentence on the end of a restoration, as far as the log has it; empty where it has none."""
    parts = [
        f"{what} at {time_text(time_of(event))}"
        for what, event in (("restored the last store", back.restored), ("ran again", back.running))
        if event is not None
    ]
    return f" It {' and '.join(parts)}." if parts else ""


def _kept_stores(timeline: LogTimeline, start: LogEvent) -> str:
    """Return a sentence on the stores that a restart kept; empty where the log does not report any."""
    next_ms = next(
        (
            time_of(event)
            for event in timeline.log_between(start, time_of(start) + 1, inf, ("CLIENT_START",))
            if event.fields.get("transactional_id") == start.fields["transactional_id"]
        ),
        inf,
    )
    restored = restoration_after(timeline, start, time_of(start), next_ms)
    if not restored.kept:
        return ""
    all_count = len(restored.kept | restored.emptied)
    return (
        f" It kept the stores of {len(restored.kept)} of {count_text(all_count, 'changelog')}, and restored "
        f"{count_text(restored.record_count, 'record')}."
    )


def _silent_restarts(timeline: LogTimeline, starts: Sequence[LogEvent]) -> Iterator[tuple[LogEvent, LogEvent]]:
    """Yield each start of a transactional id with the start before it that never said it ended."""
    ends = _Ends(timeline)
    for events in by_key((event.fields["transactional_id"], event) for event in starts).values():
        for before, after in pairwise(events):
            if time_of(after) - time_of(before) <= RESTART_WITHIN_MS and not ends.between(before, after):
                yield before, after


def _apart(pairs: Sequence[tuple[LogEvent, LogEvent]]) -> Iterator[tuple[LogEvent, LogEvent]]:
    """Yield the first start of each group."""
    last_ms = -FAILURE_SPREAD_MS
    for before, after in pairs:
        if time_of(after) - last_ms >= FAILURE_SPREAD_MS:
            yield before, after
            last_ms = time_of(after)


def _by_instance(pairs: Sequence[tuple[LogEvent, LogEvent]]) -> dict[str, list[tuple[LogEvent, LogEvent]]]:
    groups: dict[str, list[tuple[LogEvent, LogEvent]]] = {}
    for before, after in pairs:
        groups.setdefault(_instance(before), []).append((before, after))
    return groups


def _instance(event: LogEvent) -> str:
    """Return the instance that starts: a transactional id, or the Streams application that generated the id."""
    return application_of_id(event.fields["transactional_id"])


class _Ends:
    """The ends of clients' sessions, as their logs report them."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._last_fenced: dict[str, dict[str, int]] = {}

    def between(self, before: LogEvent, after: LogEvent) -> bool:
        """Return whether a session reports its end, or continues next to the following one."""
        name = before.fields["transactional_id"]
        stops = self._timeline.log_between(before, time_of(before), time_of(after), _STOPS)
        failed_ms = max(time_of(before), time_of(after) - FAILED_MS)
        failed = self._timeline.log_between(before, failed_ms, time_of(after), _FAILURES)
        if any(event.fields.get("transactional_id", name) == name for event in (*stops, *failed)):
            return True
        if self._timeline.log_of(before) != self._timeline.log_of(after):
            return time_of(self._timeline.log_with(before)[-1]) > time_of(after)
        # Two sessions share a log, and the later one fences the other.
        return self._fenced_ms(before, name) > time_of(after)

    def _fenced_ms(self, event: LogEvent, name: str) -> float:
        """Return when the log of an event last reports that an id was fenced."""
        log = self._timeline.log_of(event)
        if log not in self._last_fenced:
            fenced = self._timeline.log_between(event, -inf, inf, ("PRODUCER_FENCED",))
            self._last_fenced[log] = {self._timeline.transactional_id(one): time_of(one) for one in fenced}
        return self._last_fenced[log].get(name, -inf)


def _last_sign(timeline: LogTimeline, before: LogEvent, after: LogEvent) -> int:
    last = last_before(timeline.log_with(before), time_of(after))
    return time_of(last or before)
