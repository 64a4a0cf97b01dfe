"""Find brokers that are stopped again and again before they have recovered their logs.

After an unclean stop, a broker reads the unflushed segments of its partitions before it serves (``LogManager``).
A probe or an operator that ends it meanwhile makes the next start begin anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

STARTS: Final = 3
"""Minimum number of starts with a recovery that make a loop: two may be a person's."""
ORDERED_STARTS: Final = 2
"""Minimum number of such starts where an operator, and not a person, ordered the end of the first one."""
SPREAD_MS: Final = 10_000
"""A start reports the recovery of each of its log directories within this time."""
PAUSE_MS: Final = 3_600_000
ROLLED_MS: Final = 120_000
"""Maximum time between an operator's order and the end of the broker."""
RECOVERS: Final[tuple[EventCategory, ...]] = ("LOG_RECOVERY",)
"""The record of a broker that begins to recover the logs of a directory."""
UP: Final[tuple[EventCategory, ...]] = ("BROKER_START", "BROKER_ROLE", "BROKER_UNFENCED")
"""Categories of records that can show a broker that serves requests."""
_SERVES: Final = re.compile(
    r"\[Kafka ?Server (?:id=)?\d+\],? started|[Tt]he broker has been unfenced|STARTING to STARTED\b"
    r"|\bKafka Server started\b"
)
_ORDINAL: Final = re.compile(r"(?:^|-)(\d{1,10})$")


def find_interrupted_starts(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the brokers whose last starts each began a recovery and did not serve requests; see ``STARTS``."""
    for application, events in by_key((one.application, one) for one in timeline.server_events(*RECOVERS)).items():
        run: list[LogEvent] = []
        for event in events:
            if run and time_of(event) - time_of(run[-1]) <= SPREAD_MS:
                continue
            if run and (_served(timeline, run[-1], event) or time_of(event) - time_of(run[-1]) > PAUSE_MS):
                run = []
            run.append(event)
        if len(run) >= STARTS or _is_ordered(timeline, application, run):
            yield _incident(timeline, application, run)


def _is_ordered(timeline: LogTimeline, application: str, run: Sequence[LogEvent]) -> bool:
    """Return whether an operator or a probe ended an unfinished recovery, and the log ends before the next one does.

    What kubectl lists about probes has no times.
    """
    if len(run) < ORDERED_STARTS or _served(timeline, run[-1], None):
        return False
    node = _node(timeline, application, run)
    rolls = _rolls(timeline, node)
    return bool(_probes(timeline, node)) or any(time_of(run[-2]) < time_of(one) < time_of(run[-1]) for one in rolls)


def _served(timeline: LogTimeline, start: LogEvent, until: LogEvent | None) -> bool:
    """Return whether a broker served requests after a start, and before the next one if there is any."""
    own = timeline.log_between(start, time_of(start), inf if until is None else time_of(until), UP)
    return any(map(is_serving, own))


def is_serving(event: LogEvent) -> bool:
    """Return whether a broker reports that it serves requests."""
    return _SERVES.search(event.message) is not None


def _node(timeline: LogTimeline, application: str, run: Sequence[LogEvent]) -> str:
    named = (one.fields["broker"] for one in run if one.fields.get("broker"))
    return timeline.node_of(application) or next(named, "")


def _incident(timeline: LogTimeline, application: str, run: Sequence[LogEvent]) -> Incident:
    node = _node(timeline, application, run)
    signals = [
        one for one in timeline.server_events("BROKER_SIGNAL") if one.application == application and _is_in(one, run)
    ]
    rolls = [one for one in _rolls(timeline, node) if _is_in(one, run)]
    probes = _probes(timeline, node)
    pods = {pod for one in (*rolls, *probes) if not (pod := one.fields.get("pod", "")).isdecimal()}
    who = f"Broker {node}" if node else "A broker"
    how = " by a shutdown request (SIGTERM)" if len(signals) >= len(run) - 1 else ""
    operator = " The Kubernetes operator ordered these restarts, because the broker did not answer." if rolls else ""
    if probes and not rolls:
        operator = " Kubernetes ended the container, because its probe failed during the recovery."
    lasted = duration_text(time_of(run[-1]) - time_of(run[0]))
    return incident(
        "log_recovery_interrupted",
        "restarted-before-recovery-ends",
        {"broker": node, "pod": pods.pop() if len(pods) == 1 else "", "log.dir": run[0].fields.get("log_dir", "")},
        [*run, *signals, *rolls],
        f"{who} recovers its logs after an unclean stop, and was ended before the recovery was complete{how}: "
        f"{count_text(len(run), 'start')} in {lasted}, and none of them led to a broker that serves requests. Each "
        f"start reads the same segments again.{operator}",
        "Let one recovery end: pause the operator's reconciliation or raise its timeout, and the timeouts of the "
        "liveness and startup probes, above the time of a recovery. Raise num.recovery.threads.per.data.dir. Do not "
        "delete files of the log directory.",
        confidence=0.85,
    )


def _is_in(event: LogEvent, run: Sequence[LogEvent]) -> bool:
    return time_of(run[0]) <= time_of(event) <= time_of(run[-1]) + ROLLED_MS


def _rolls(timeline: LogTimeline, node: str) -> Sequence[LogEvent]:
    """Return an operator's orders to restart the pod of a node, which has its number."""
    return _of_node(timeline, node, "POD_ROLLED")


def _probes(timeline: LogTimeline, node: str) -> Sequence[LogEvent]:
    """Return the records of Kubernetes that end the container of a node, because its probe fails."""
    return _of_node(timeline, node, "POD_KILLED_BY_PROBE")


def _of_node(timeline: LogTimeline, node: str, category: EventCategory) -> Sequence[LogEvent]:
    found_ones = timeline.of(category)
    return [one for one in found_ones if (found := _ORDINAL.search(one.fields.get("pod", ""))) and found[1] == node]
