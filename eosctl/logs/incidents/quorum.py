"""Who led the metadata quorum, and what the other nodes tell of a leader that is gone (KIP-595)."""

from __future__ import annotations

import re
from itertools import accumulate
from math import inf
from typing import Final

from eosctl.logs.incidents.index import within
from eosctl.logs.incidents.timeline import LogTimeline, time_of
from eosctl.model.log_event import LogEvent

FAILOVER_MS: Final = 60_000
_NOTICED_MS: Final = 1_000
"""A lost connection may be told so long before the moment that passes for a crash's."""
_FETCH_CUT: Final = re.compile(
    r"\[RaftManager (?:nodeId|id)=\d+\] Cancelled in-flight FETCH request .*\bdue to node (\d+) being disconnected"
)


def leader_named(event: LogEvent) -> str:
    """Return the node that leads, or led, the quorum by an event's words."""
    names = (event.fields.get(name) for name in ("controller", "leader", "former_leader"))
    return next((name for name in names if name), "")


def fetched_from(event: LogEvent) -> str:
    """Return the node that an event says a voter or observer was fetching the metadata log from when it went away.

    That is the quorum's leader: nodes that know it fetch from nobody else.
    """
    found = _FETCH_CUT.search(event.message)
    return found[1] if found else ""


class Quorum:
    """Who led the metadata quorum when, as far as anybody says."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._told = timeline.of("CONTROLLER_ACTIVE", "CONTROLLER_LEADER")
        self._newest = tuple(accumulate(self._told, _newer))

    def was_led_by(self, node: str, down_ms: int) -> bool:
        """Whether the last that anybody said of the quorum before a node's crash is that it leads it."""
        lost = within(self._timeline.of("CONTROLLER_LOST"), down_ms - 500, down_ms + FAILOVER_MS)
        if lost:
            return lost[0].fields.get("former_leader") == node
        count = len(within(self._told, -inf, down_ms + 500))
        if count:
            return leader_named(self._newest[count - 1]) == node
        # Logs that begin in the middle of its term.
        near = within(self._timeline.of("NETWORK_DISCONNECT"), down_ms - _NOTICED_MS, down_ms + _NOTICED_MS)
        return any(fetched_from(event) == node for event in near)


def _newer(one: LogEvent, other: LogEvent) -> LogEvent:
    return max(one, other, key=_term)


def _term(event: LogEvent) -> tuple[int, int]:
    return int(event.fields.get("controller_epoch", -1)), time_of(event)


def successor_of(timeline: LogTimeline, node: str, down_ms: int) -> LogEvent | None:
    """Return what the first other node said that became the active controller after a crash."""
    soon = within(timeline.of("CONTROLLER_ACTIVE"), down_ms - 500, down_ms + FAILOVER_MS)
    return next((event for event in soon if event.fields.get("controller") != node), None)


def lost_leaders(timeline: LogTimeline) -> dict[str, LogEvent]:
    """Return the leaders of which others tell that their connections broke before another one took over.

    One that stands down in order has told its followers, who fetch from it no more when it ends.
    """
    lost: dict[str, LogEvent] = {}
    for event in timeline.of("NETWORK_DISCONNECT"):
        leader = fetched_from(event)
        if leader and leader not in lost and successor_of(timeline, leader, time_of(event)) is not None:
            lost[leader] = event
    return lost
