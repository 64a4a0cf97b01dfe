"""Detect members that their group coordinator removed for missing heartbeats, and that were refused when they resumed.

The coordinator's log has the removal, the client's the refusal, and the garbage collector's the pause between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.pauses import SLACK_MS, is_silent_in, long_pauses, pause_ms
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text

_RESUMED_MS: Final = 600_000
"""Maximum time from a removal to the end of the pause that caused it."""
_BURST_MS: Final = 30_000
_COMMIT: Final = "ommit"


def find_evicted_members(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield one incident for each client that was refused after its removal from a group."""
    refusals = timeline.client_events("GROUP_FENCED", "COMMIT_FAILED")
    pauses = long_pauses(timeline)
    removals = [one for one in timeline.server_events("MEMBER_EVICTED") if is_for_silence(one)]
    for group, removed in by_key((one.fields.get("group", ""), one) for one in removals).items():
        own = [one for one in refusals if group and timeline.group_of(one) == group]
        for log in by_key((timeline.log_of(one), one) for one in own).values():
            for first in removed:
                after = within(log, time_of(first) - SLACK_MS, time_of(first) + _RESUMED_MS)
                burst = [one for one in after if time_of(one) - time_of(after[0]) <= _BURST_MS]
                if burst and _is_of_client(timeline, first, burst) and not _polled_late(timeline, burst[0]):
                    yield _evicted(timeline, first, burst, _pauses_of(timeline, pauses, first, burst[0]))
                    break


def is_for_silence(event: LogEvent) -> bool:
    """Return whether a coordinator removed a member because it sent nothing, not because it joined too slowly."""
    return "has failed, removing" in event.message or "session" in event.message


def _is_of_client(timeline: LogTimeline, removal: LogEvent, refusals: Sequence[LogEvent]) -> bool:
    """Return whether a member's id begins with the client's id, or the client does not name its own."""
    client = next((one.fields["client_id"] for one in refusals if one.fields.get("client_id")), "")
    return removal.fields.get("member", "").startswith(client or timeline.value_in_log(refusals[0], "client_id"))


def _polled_late(timeline: LogTimeline, event: LogEvent) -> bool:
    return bool(timeline.log_between(event, time_of(event) - _RESUMED_MS, time_of(event), ("POLL_TIMEOUT",)))


def _pauses_of(
    timeline: LogTimeline, pauses: Sequence[LogEvent], removal: LogEvent, refusal: LogEvent
) -> Sequence[LogEvent]:
    """Return the pauses during which a member was removed; its process logs nothing in them, except at their ends."""

    def is_own(pause: LogEvent) -> bool:
        begin_ms, end_ms = time_of(pause) - pause_ms(pause), time_of(pause)
        is_near = begin_ms - SLACK_MS <= time_of(removal) <= end_ms + SLACK_MS
        return is_near and is_silent_in(timeline, refusal, pause)

    return [one for one in pauses if is_own(one)]


def _evicted(
    timeline: LogTimeline, removal: LogEvent, refusals: Sequence[LogEvent], pauses: Sequence[LogEvent]
) -> Incident:
    group, last = removal.fields.get("group", ""), refusals[-1]
    longest_ms = max(map(pause_ms, pauses), default=0)
    emptied = _emptied(timeline, removal, group)
    is_of_collector = any(event.category == "GC_PAUSE" for event in pauses)
    if is_of_collector:
        step = (
            "Find what fills the heap, or use a collector with shorter pauses; set session.timeout.ms above the pauses "
            "that remain."
        )
    elif pauses:
        step = (
            "Find what stopped the whole process: a suspended or throttled container or machine, swapping, the garbage "
            "collector. Set session.timeout.ms above the pauses that remain."
        )
    else:
        step = (
            "Find what stopped the process or its network before the removal: its garbage collector's log, a stopped "
            "container, CPU throttling."
        )
    return incident(
        "member_evicted",
        "pause-beyond-session-timeout" if pauses else "heartbeats-missed",
        {
            "group": group,
            "client.id": next((one.fields["client_id"] for one in refusals if one.fields.get("client_id")), ""),
            "transactional.id": timeline.transactional_id(last),
            "application": last.application,
            "broker": timeline.node_of(removal.application),
        },
        [*pauses, removal, *emptied, *refusals],
        f"The group coordinator received no heartbeat of a member of {group} within its session timeout"
        + (f": its process stood still for {duration_text(round(longest_ms))}" if pauses else "")
        + ". The coordinator removed it"
        + (" as the last member of the group: its partitions waited for it." if emptied else " from the group.")
        + (
            " Its commits were refused when it resumed, so its records since the last one are processed again."
            if any(_COMMIT in one.message for one in refusals)
            else " It was refused when it resumed."
        ),
        step,
        confidence=0.9 if pauses else 0.75,
    )


def _emptied(timeline: LogTimeline, removal: LogEvent, group: str) -> Sequence[LogEvent]:
    """Return the coordinator's record that a group has no member left after a removal."""
    near = timeline.log_between(removal, time_of(removal), time_of(removal) + SLACK_MS, ("GROUP_EMPTY",))
    of_group = re.compile(rf"(?:\b[Gg]roup |\[GroupId ){re.escape(group)}(?![\w.-])")
    return [one for one in near if of_group.search(one.message)][:1]
