"""Detect groups that one member keeps rebalancing: it joins again and again although the group is stable.

The coordinator logs who triggers a rebalance (``GroupCoordinator``). A deployment triggers many, too, but each of its
members only a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text

ROUNDS: Final = 5
"""Minimum number of rebalances that one member triggers: more than at a change of its subscription or metadata."""
PAUSE_MS: Final = 60_000
"""A group that worked for longer than this between two of them is not kept from its work."""
_REJOINS: Final = re.compile(
    r"(?:[Ll]eader|[Uu]pdating metadata for member) (?P<member>\S{1,400}) (?:re-joining group )?during Stable"
)
_GENERATION: Final = re.compile(r"\bold generation (\d{1,10})\b")


def find_restless_members(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the groups in which the same member joins again and again, as their coordinators log."""
    rejoins = [
        (f"{event.fields.get('group', '')}\0{found['member']}", event)
        for event in timeline.server_events("REBALANCE_TRIGGER")
        if (found := _REJOINS.search(event.message))
    ]
    for name, own in by_key(rejoins).items():
        group, _, member = name.partition("\0")
        for rounds in episodes(own, PAUSE_MS) if group else ():
            if len(rounds) >= ROUNDS:
                yield _incident(timeline, group, member, rounds)


def _incident(timeline: LogTimeline, group: str, member: str, rounds: Sequence[LogEvent]) -> Incident:
    first, last = rounds[0], rounds[-1]
    lasted_ms = time_of(last) - time_of(first)
    generations = [int(found[1]) for event in rounds if (found := _GENERATION.search(event.message))]
    low, high = min(generations, default=0), max(generations, default=0)
    grown = f", and the group's generation grew from {low} to {high}" if high > low else ""
    return incident(
        "group_not_stable",
        "member-joins-again-and-again",
        {"group": group, "member": member, "broker": timeline.node_of(first.application)},
        rounds,
        f"{group} rebalances again and again: its member {member} joined it again {count_text(len(rounds), 'time')} in "
        f"{duration_text(lasted_ms)}, about every {duration_text(lasted_ms // (len(rounds) - 1))}{grown}. Each round "
        "stops all members of the group.",
        "Find in the client's log why it joins again: it subscribes anew in each round, its view of the topics "
        "changes, or its program creates its consumer anew. Compare the release of the client with its known defects. "
        "The coordinator only does what the member asks for.",
        severity=Severity.WARNING,
        confidence=0.75,
    )
