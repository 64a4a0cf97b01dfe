"""Detect a rebalance that waited for a member which did not rejoin, until its coordinator removed that member.

All members of a group stand still until each one has joined, at most for the rebalance timeout. The JoinGroup of a new
member is not answered in that time, so a client that waits for less, as Sarama's 30 s do, reports timeouts of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

LASTING_MS: Final = 20_000
"""A member may need some seconds to finish its records before it polls."""
LONGEST_MS: Final = 3_600_000
SOON_MS: Final = 10_000
AFTER_MS: Final = 600_000
"""Maximum time until a removed member learns that it was."""
_KNOWN: Final[tuple[EventCategory, ...]] = ("COMMIT_FAILED", "GROUP_FENCED", "POLL_TIMEOUT", "STATIC_MEMBER_FENCED")
"""What a member's own log shows of its removal, which is an incident of its own."""
_MEMBERS: Final = re.compile(r"haven.t joined: ?(?:Hash)?(?:Set|Map|List)?[({\[](?P<names>[^)}\]\n]{1,2000})")
_TIMED_OUT: Final = re.compile(r"->[^\n]{1,80}: i/o timeout")


def find_blocked_rebalances(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the rebalances of groups that a single removal of members ended; see ``LASTING_MS``."""
    removals = timeline.server_events("MEMBERS_NOT_REJOINED")
    for group, removed in by_key((one.fields.get("group", ""), one) for one in removals).items():
        if not group or len(removed) > 1:
            continue
        (removal,) = removed
        began = [
            one
            for one in timeline.log_between(removal, time_of(removal) - LONGEST_MS, time_of(removal))
            if one.category == "REBALANCE_TRIGGER" and one.fields.get("group") == group
        ]
        if began and time_of(removal) - time_of(began[-1]) >= LASTING_MS and not _is_known(timeline, group, removal):
            yield _incident(timeline, group, began[-1], removal)


def _is_known(timeline: LogTimeline, group: str, removal: LogEvent) -> bool:
    near = within(timeline.client_events(*_KNOWN), time_of(removal) - LONGEST_MS, time_of(removal) + AFTER_MS)
    return any(timeline.group_of(one) in (group, "") for one in near)


def _incident(timeline: LogTimeline, group: str, began: LogEvent, removal: LogEvent) -> Incident:
    stable = timeline.log_between(removal, time_of(removal), time_of(removal) + SOON_MS, ("REBALANCE_DONE",))[:1]
    waiting = _joins_without_answer(timeline, began, removal)
    found = _MEMBERS.search(removal.message)
    members = tuple(name.strip() for name in found["names"].split(",")) if found else ()
    who = " and ".join(members[:2]) if members else "a member"
    lasted = duration_text(time_of(removal) - time_of(began))
    blocked = (
        f"The rebalance of {group} that began at {time_text(time_of(began))} waited {lasted} for {who}, which did not "
        "rejoin: its handler was most likely still at work. No member got partitions in that time."
    )
    texts = [blocked]
    if waiting:
        count = count_text(len(waiting), "request")
        texts.append(
            f"{count} of another member to join timed out meanwhile, first at {time_text(time_of(waiting[0]))}: the "
            "client waits for an answer for less time than the rebalance may take."
        )
    texts.append(f"The coordinator removed it at {time_text(time_of(removal))}.")
    if stable:
        texts.append(f"The group was stable again at {time_text(time_of(stable[0]))}.")
    return incident(
        "group_not_stable",
        "members-rejoin-too-late",
        {
            "group": group,
            "member": members[0] if len(members) == 1 else "",
            "members": members if len(members) > 1 else (),
            "broker": timeline.node_of(removal.application),
        },
        [began, *waiting, removal, *stable],
        " ".join(texts),
        "Find the work that holds the member, and end it when its session ends, or process fewer records at a time. "
        "Set the client's read timeout above its rebalance timeout (Net.ReadTimeout and "
        "Consumer.Group.Rebalance.Timeout in Sarama), so that the others wait for the answer.",
        severity=Severity.WARNING,
        confidence=0.75,
    )


def _joins_without_answer(timeline: LogTimeline, began: LogEvent, removal: LogEvent) -> Sequence[LogEvent]:
    """Return the timeouts that clients report during a rebalance."""
    near = within(timeline.client_events("TIMEOUT_OTHER"), time_of(began), time_of(removal) + SOON_MS)
    return [one for one in near if _TIMED_OUT.search(one.message)]
