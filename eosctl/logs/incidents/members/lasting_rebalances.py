"""Detect groups that rebalance again and again up to the end of a member's log, where only members log it.

A heartbeat is answered with REBALANCE_IN_PROGRESS once a joined member has to join again, so each answer is another
round. A deployment ends after a few; the reason for endless ones is in the coordinator's log alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text

ROUNDS: Final = 10
"""Minimum number of rebalances: more than one member sees when a small group is deployed."""
LASTING_MS: Final = 60_000
PAUSE_MS: Final = 60_000
"""A group that worked for longer than this between two of them is not kept from its work."""
_REASONS: Final[tuple[EventCategory, ...]] = (
    *("COORDINATOR_UNAVAILABLE", "GROUP_FENCED", "MEMBER_EVICTED", "POLL_TIMEOUT", "STATIC_MEMBER_FENCED"),
)
SAME_ROUND_MS: Final = 1_000
"""A client logs a round with several records."""


def find_lasting_rebalances(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the groups that one member sees rebalance until its log ends; see ``ROUNDS``."""
    events = [one for one in timeline.client_events("REBALANCE_TRIGGER") if timeline.group_of(one)]
    for own in by_key((f"{timeline.log_of(one)}\0{timeline.group_of(one)}", one) for one in events).values():
        last = list(episodes(own, PAUSE_MS))[-1]
        rounds = _rounds(last)
        lasted_ms = time_of(rounds[-1]) - time_of(rounds[0])
        is_open = timeline.log_end_ms(rounds[-1]) - time_of(rounds[-1]) <= PAUSE_MS
        if len(rounds) >= ROUNDS and lasted_ms >= LASTING_MS and is_open and not _is_known(timeline, last):
            yield _incident(timeline, rounds, lasted_ms)


def _is_known(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether the same log has what removes members: missed polls, refusals, or a lost coordinator."""
    first, last = events[0], events[-1]
    return bool(timeline.log_between(first, time_of(first) - PAUSE_MS, time_of(last), _REASONS))


def _rounds(events: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the first record of each round."""
    found = [events[0]]
    for event in events[1:]:
        if time_of(event) - time_of(found[-1]) >= SAME_ROUND_MS:
            found.append(event)
    return found


def _incident(timeline: LogTimeline, rounds: Sequence[LogEvent], lasted_ms: int) -> Incident:
    group = timeline.group_of(rounds[0])
    return incident(
        "group_not_stable",
        "rebalances-without-an-end",
        {"group": group, "application": rounds[0].application},
        rounds,
        f"{group} rebalances again and again: one member had to join again {count_text(len(rounds), 'time')} in "
        f"{duration_text(lasted_ms)}, about every {duration_text(lasted_ms // (len(rounds) - 1))}, up to the end of "
        "its log. Each round stops all members of the group. No record here shows who triggers them.",
        "Read the group coordinator's log of this time (Preparing to rebalance group, with the reason and the member): "
        "a member that joins and leaves again and again, subscribes anew, or misses its session timeout.",
        severity=Severity.WARNING,
        confidence=0.65,
    )
