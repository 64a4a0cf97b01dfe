"""Detect members that began to join their group again and never report that they are in it.

A join ends at the latest with the rebalance timeout, which is max.poll.interval.ms (5 minutes): the coordinator then
continues with the members that have joined. A member that is silent for longer while its program logs on reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import duration_text, time_text

LONGEST_MS: Final = 600_000
"""Twice the default of max.poll.interval.ms: the longest time that a member needs to be in its group again."""
_JOINS: Final = re.compile(r"\b[Rr]e-\)?joining group|^(?:Group member|group coordinator) \(")
"""The words of the Java client and of kafka-python, and the header of brod's, which are on its next line."""
_IN_IT: Final[tuple[EventCategory, ...]] = ("REBALANCE_DONE", "ASSIGNMENT_CHANGE")
_ENDS: Final[tuple[EventCategory, ...]] = (
    *("APPLICATION_STOP", "CLIENT_START", "CONSUMER_ENDED", "GROUP_FENCED", "POLL_TIMEOUT", "STATIC_MEMBER_FENCED"),
)
"""What explains that no join follows: the program stops or starts anew, or another incident names the reason."""


def find_endless_joins(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the members whose last join has no end in a log that shows how their earlier ones ended."""
    begun = [one for one in timeline.client_events("REBALANCE_TRIGGER") if _JOINS.search(one.message)]
    for own in by_key((f"{timeline.log_of(one)}\0{_member_of(one)}", one) for one in begun).values():
        last = max(own, key=time_of)
        end_ms = timeline.log_end_ms(last)
        if end_ms - time_of(last) <= LONGEST_MS or timeline.log_between(last, time_of(last), end_ms, (*_IN_IT, *_ENDS)):
            continue
        # Without an earlier end, the level of the log may hide all of them.
        if any(map(_is_end, timeline.log_between(last, 0, time_of(last), _IN_IT))):
            yield _incident(timeline, last, end_ms)


def _member_of(event: LogEvent) -> str:
    return event.fields.get("client_id", "") or event.fields.get("group", "")


def _is_end(event: LogEvent) -> bool:
    return event.category == "REBALANCE_DONE"


def _incident(timeline: LogTimeline, last: LogEvent, end_ms: int) -> Incident:
    group = timeline.group_of(last)
    client = last.fields.get("client_id", "")
    who = client or (f"A member of {group}" if group else "A member of a group")
    reason = last.fields.get("reason", "").strip(" .)")
    why = f" Its reason to join again: {reason}." if reason else ""
    return incident(
        "group_not_stable",
        "join-without-an-end",
        {"group": group, "client.id": client, "application": last.application},
        [last],
        f"{who} began to join {group or 'its group'} again at {time_text(time_of(last))}, and in the "
        f"{duration_text(end_ms - time_of(last))} after that no record shows that it is in it: until then, it reads "
        f"nothing.{why}",
        "Compare the group's members and its lag: kafka-consumer-groups.sh --describe --members. If the member is "
        "missing, restart its process, and take a dump of its threads before: a blocked rebalance listener or a "
        "deadlock of the client keeps it from joining. If the group still rebalances, find the member that it waits "
        "for.",
        severity=Severity.WARNING,
        confidence=0.6,
    )
