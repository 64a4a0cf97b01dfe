"""Find brokers whose process starts again and again without serving, where no record says why it ended.

A process that is killed (by the kernel for its memory, a supervisor, or a probe) writes nothing about its end. Its
starts are all that its log has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from eosctl.logs.incidents.servers.interrupted_starts import UP, is_serving
from eosctl.logs.incidents.servers.outages import FATAL_STARTS, HALTS, starts_of
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

STARTS: Final = 3
"""Minimum number of starts that make a loop: a person may start a server twice."""
PAUSE_MS: Final = 900_000
"""A supervisor starts a process again sooner than this."""
_ENDS: Final = FATAL_STARTS | {"BROKER_SIGNAL", "BROKER_STOPPED", "APPLICATION_SIGNAL"}
"""Categories of records that say how a process ended; those faults have incidents of their own."""


def find_repeated_starts(timeline: LogTimeline, interrupted: Sequence[Incident]) -> Iterator[Incident]:
    """Yield the brokers that started at least ``STARTS`` times in a row without serving, and never said why they ended.

    Args:
        timeline: The logs.
        interrupted: The recoveries that restarts interrupted, which say the same of their brokers with a reason.
    """
    known = {place.file for one in interrupted for place in one.evidence}
    for application in sorted(timeline.servers()):
        events = timeline.of_application(application)
        run: list[Sequence[LogEvent]] = []
        for group in starts_of(events):
            if run and not _is_next(events, run[-1], group):
                run = []
            run.append(group)
        is_up = bool(run) and any(map(is_serving, _between(events, time_of(run[-1][0]), None)))
        # Several servers may write to one file, each with a start of its own.
        is_one = len({node for event in events if (node := event.fields.get("broker"))}) <= 1
        if len(run) >= STARTS and is_one and not is_up and run[0][0].file not in known:
            yield _incident(timeline, application, run)


def _between(events: Sequence[LogEvent], start_ms: int, end_ms: int | None) -> Sequence[LogEvent]:
    last_ms = time_of(events[-1]) if end_ms is None else end_ms
    return [event for event in within(events, start_ms, last_ms) if event.category in UP]


def _is_next(events: Sequence[LogEvent], before: Sequence[LogEvent], group: Sequence[LogEvent]) -> bool:
    """Return whether a start follows another one that did not lead to a server, without a word about its end."""
    start_ms, end_ms = time_of(before[0]), time_of(group[0])
    if end_ms - start_ms > PAUSE_MS or any(map(is_serving, _between(events, start_ms, end_ms - 1))):
        return False
    said = within(events, start_ms, end_ms - 1)
    return not any(
        event.category in _ENDS or (event.category == "DISK_ERROR" and HALTS.search(event.message)) for event in said
    )


def _incident(timeline: LogTimeline, application: str, run: Sequence[Sequence[LogEvent]]) -> Incident:
    node = timeline.node_of(application)
    who = f"Broker {node}" if node else "A broker"
    firsts = [group[0] for group in run]
    pauses_ms = [time_of(after) - time_of(before) for before, after in pairwise(firsts)]
    usual = duration_text(sorted(pauses_ms)[len(pauses_ms) // 2])
    return incident(
        "server_restarts",
        "ended-before-it-serves",
        {"broker": node, "server": "" if node else application},
        firsts,
        f"{who} was started {count_text(len(run), 'time')}, about every {usual}, and no start led to a broker that "
        "serves requests. Its log does not say why the process ended each time: it was killed from outside, or crashed "
        "without a word. What it repairs at each start (indexes, unflushed segments) is an effect of that.",
        "Find what ends the process: the kernel's log and the container's last state for a lack of memory (OOMKilled, "
        "exit code 137), hs_err_pid files of a crash of the JVM, and the limits and probes of the supervisor that "
        "starts it. Do not delete files of the log directory.",
        confidence=0.8,
    )
