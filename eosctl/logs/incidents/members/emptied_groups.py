"""Detect groups that lost all their members by missed heartbeats, and that none joins soon, as coordinators log it.

Nothing reads for such a group. Its clients may log nothing at all, since their processes or machines are gone, so the
coordinator's log is often the only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.members.evictions import is_for_silence
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import duration_text, time_text

BURST_MS: Final = 60_000
"""Maximum time from the first removal of a group's members to its last one: their sessions end one after another."""
AWAY_MS: Final = 60_000
"""Minimum time in which no member joins: a program that is started again joins sooner."""
LONG_MS: Final = 300_000
"""A group that is empty for this long is a fault, also if it is joined later."""
WATCHED_MS: Final = 1_800_000
"""Maximum time in which a group is watched: slices of long logs have no more."""
NEAR_MS: Final = 600_000
"""A client's own log at this distance shows why it was removed, which other detectors judge."""
_EMPTIED: Final = re.compile(r"\bGroup (?P<group>[^\n]{1,255}?) with generation (?P<generation>\d{1,10}) is now empty")
_REMOVED: Final[EventCategory] = "MEMBER_EVICTED"
_OF_GROUPS: Final[tuple[EventCategory, ...]] = ("REBALANCE_TRIGGER", "REBALANCE_DONE", "GROUP_EMPTY")


def find_emptied_groups(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the groups whose last member was removed for its silence, and that stay empty for long or to the end."""
    emptied = [
        (found["group"], event)
        for event in timeline.server_events("GROUP_EMPTY")
        if (found := _EMPTIED.search(event.message))
    ]
    for group, last in emptied:
        removed = _removed(timeline, group, last)
        joined_ms = _joined_ms(timeline, group, last)
        left_ms = (joined_ms or timeline.log_end_ms(last)) - time_of(last)
        is_long = left_ms >= (LONG_MS if joined_ms else AWAY_MS)
        if removed and is_long and not _has_log(timeline, group, last):
            yield _incident(timeline, group, removed, last, min(left_ms, WATCHED_MS), joined_ms)


def _removed(timeline: LogTimeline, group: str, emptied: LogEvent) -> Sequence[LogEvent]:
    """Return the removals of a group's members up to the moment at which none was left."""
    near = timeline.log_between(emptied, time_of(emptied) - BURST_MS, time_of(emptied), (_REMOVED,))
    return [event for event in near if event.fields.get("group") == group and is_for_silence(event)]


def _joined_ms(timeline: LogTimeline, group: str, emptied: LogEvent) -> int:
    """Return when the coordinator has to do with a group again; 0 if it does not while the group is watched."""
    later = timeline.log_between(emptied, time_of(emptied) + 1, time_of(emptied) + WATCHED_MS, _OF_GROUPS)
    named = re.compile(rf"\b[Gg]roup {re.escape(group)}(?![\w.-])")
    return next((time_of(event) for event in later if named.search(event.message)), 0)


def _has_log(timeline: LogTimeline, group: str, emptied: LogEvent) -> bool:
    moment = time_of(emptied)
    own = timeline.client_events("GROUP_FENCED", "COMMIT_FAILED", "REBALANCE_TRIGGER", "REBALANCE_DONE")
    return any(timeline.group_of(event) == group for event in within(own, moment - NEAR_MS, moment + NEAR_MS))


def _incident(
    timeline: LogTimeline, group: str, removed: Sequence[LogEvent], emptied: LogEvent, left_ms: int, joined_ms: int
) -> Incident:
    members = tuple(dict.fromkeys(event.fields["member"] for event in removed if event.fields.get("member")))
    is_one = len(members) < 2
    who = "its last member" if is_one else f"all of its members ({len(members)})"
    since, lasted = time_text(time_of(emptied)), duration_text(left_ms)
    empty = f"from {since} on, and none joined it in the {lasted} after that"
    if joined_ms:
        empty = f"from {since} until {time_text(joined_ms)} ({lasted})"
    return incident(
        "group_without_members",
        "heartbeats-missed-by-all",
        {
            "group": group,
            **({"member": "".join(members)} if is_one else {"members": members}),
            "broker": timeline.node_of(emptied.application),
        },
        [*removed, emptied],
        f"{group} had no member {empty}: nothing read for it, except a client that had not noticed its removal. Its "
        f"coordinator removed {who}, because no heartbeat arrived within the session timeout.",
        f"Find what happened to {'this process' if is_one else 'these processes'}: killed, stuck, paused, or cut off "
        "from the broker; the coordinator's log does not show which. A consumer that its program abandons without "
        "closing it looks the same.",
        severity=Severity.WARNING,
        confidence=0.85,
    )
