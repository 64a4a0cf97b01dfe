"""Find the leaders of the metadata quorum, and what other nodes log about a lost leader (KIP-595)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import name_some

FAILOVER_MS: Final = 60_000
WITHOUT_LEADER_MS: Final = 30_000
"""An election takes a second or two, and a few seconds when votes are split."""
RETRIES: Final = 5
"""A node that counts this many lost elections in a row has had no leader for as long."""
_NOTICED_MS: Final = 1_000
"""A lost connection may be logged this long before the assumed time of a crash."""
_FETCH_CUT: Final = re.compile(
    r"\[RaftManager (?:nodeId|id)=\d+\] Cancelled in-flight FETCH request .*\bdue to node (\d+) being disconnected"
)
_ATTEMPT: Final = (
    r"(?:Connection to node (\d+) \(\S+ could not be established"
    r"|Error connecting to node \S+ \(id: (\d+) |Disconnecting from node (\d+) due to socket connection setup timeout)"
)
_NOT_CONNECTED: Final = re.compile(rf"\[RaftManager (?:nodeId|id)=\d+\] {_ATTEMPT}")
_NO_CHANNEL: Final = re.compile(rf"\[(?:Broker|Node)ToControllerChannelManager (?:broker|id)=\d+ name=\w+\] {_ATTEMPT}")
_NOT_VOTED: Final = re.compile(r"\b(\d+)=VoterState\(replicaKey=[^\n]{0,120}?, state=UNRECORDED\)")
"""A voter that had neither granted nor rejected its vote when an election timed out (``EpochElection``)."""
_UNREACHED: Final[tuple[EventCategory, ...]] = (*DISCONNECTS, "HOST_NOT_RESOLVED")
_LED: Final = frozenset({"CONTROLLER_LEADER", "CONTROLLER_ACTIVE", "CONTROLLER_LOST"})
"""Categories of records that name a leader of the quorum."""
_RESOLVE: Final = (
    "First make DNS resolve these names from this node (nslookup): the services and pods behind them, their readiness, "
    "and the cluster's DNS. "
)
_OPEN_ROUNDS: Final = 2
"""Minimum number of lost elections with which a log can end for an incident."""
_ENDED_MS: Final = 10_000
_OPEN_TIMEOUTS: Final = 3
"""Minimum number of elections that timed out before the end of a log, without a connection that failed before them."""


def leader_named(event: LogEvent) -> str:
    """Return the node that an event names as the current or former leader of the quorum."""
    names = (event.fields.get(name) for name in ("controller", "leader", "former_leader"))
    return next((name for name in names if name), "")


def fetched_from(event: LogEvent) -> str:
    """Return the node from which a voter or observer fetched the metadata log when the connection was lost.

    It is the quorum's leader: nodes that know the leader fetch from it alone.
    """
    found = _FETCH_CUT.search(event.message)
    return found[1] if found else ""


def voter_not_reached(event: LogEvent) -> str:
    """Return the node of the quorum that a node could not connect to; empty for any other record."""
    return _node_in(_NOT_CONNECTED.search(event.message))


def controller_not_reached(event: LogEvent) -> str:
    """Return the controller that a server could not connect to, as a voter or for its registration; empty if none."""
    return voter_not_reached(event) or _node_in(_NO_CHANNEL.search(event.message))


def _node_in(found: re.Match[str] | None) -> str:
    return (found[1] or found[2] or found[3]) if found else ""


class Quorum:
    """The leaders of the metadata quorum over time, as far as any node logs them."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._elections = timeline.of("CONTROLLER_ACTIVE", "CONTROLLER_LEADER")
        self._newest = tuple(accumulate(self._elections, _newer))

    def was_led_by(self, node: str, down_ms: int) -> bool:
        """Return whether the last record about the quorum before a node's crash names the node as its leader."""
        lost = within(self._timeline.of("CONTROLLER_LOST"), down_ms - 500, down_ms + FAILOVER_MS)
        if lost:
            return lost[0].fields.get("former_leader") == node
        count = len(within(self._elections, -inf, down_ms + 500))
        if count:
            return leader_named(self._newest[count - 1]) == node
        # Logs that begin in the middle of the leader's term.
        near = within(self._timeline.of(*DISCONNECTS), down_ms - _NOTICED_MS, down_ms + _NOTICED_MS)
        return any(fetched_from(event) == node for event in near)


def _newer(one: LogEvent, other: LogEvent) -> LogEvent:
    return max(one, other, key=_term)


def _term(event: LogEvent) -> tuple[int, int]:
    return int(event.fields.get("controller_epoch", -1)), time_of(event)


def successor_of(timeline: LogTimeline, node: str, down_ms: int) -> LogEvent | None:
    """Return the record of the first other node that became the active controller after a crash."""
    soon = within(timeline.of("CONTROLLER_ACTIVE"), down_ms - 500, down_ms + FAILOVER_MS)
    return next((event for event in soon if event.fields.get("controller") != node), None)


def lost_leaders(timeline: LogTimeline) -> dict[str, LogEvent]:
    """Return the leaders that lost their followers' connections before another node took over.

    A leader that resigns notifies its followers, which stop fetching from it before it exits.
    """
    lost: dict[str, LogEvent] = {}
    for event in timeline.of(*DISCONNECTS):
        leader = fetched_from(event)
        if leader and leader not in lost and successor_of(timeline, leader, time_of(event)) is not None:
            lost[leader] = event
    return lost


def find_lost_quorums(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the nodes that repeated an election and logged no leader for at least 30 s, or to the end of their log."""
    seen: set[str] = set()
    for first in timeline.of("CONTROLLER_ELECTION", "CONTROLLER_LOST"):
        log = timeline.log_of(first)
        if log in seen:
            continue
        rounds, leader_ms = _rounds(timeline, first)
        last_ms = time_of(timeline.log_with(first)[-1]) if leader_ms is None else leader_ms
        cut_off = _cut_off_before(timeline, first)
        start_ms = time_of(cut_off[0] if cut_off else first)
        timeouts = sum("Election has timed out" in event.message for event in rounds)
        retries = max([timeouts, *(int(event.fields.get("retries", 0)) for event in rounds)])
        lasted_ms = last_ms - start_ms
        is_open = leader_ms is None and len(rounds) >= _OPEN_ROUNDS and last_ms - time_of(rounds[-1]) < _ENDED_MS
        is_open = is_open and (bool(cut_off) or timeouts >= _OPEN_TIMEOUTS)
        if not rounds or (lasted_ms < WITHOUT_LEADER_MS and retries < RETRIES and not is_open):
            continue
        seen.add(log)
        node = next((name for event in rounds if (name := event.fields.get("candidate", ""))), "")
        who = f"Controller {node}" if node else "A controller"
        near = _attempts(timeline, (cut_off or rounds)[0], last_ms)
        without_vote = {voter for event in rounds for voter in _NOT_VOTED.findall(event.message)}
        silent = tuple(sorted({voter_not_reached(event) for event in near} | without_vote, key=int))
        unresolved = tuple(sorted({_name_not_resolved(event) for event in near} - {""}))
        if lasted_ms >= WITHOUT_LEADER_MS:
            period = f"for {lasted_ms / 1000:,.0f} s"
        else:
            period = f"in {retries} elections" if retries >= RETRIES else "before its log ends"
        yield incident(
            "controller_quorum_lost",
            "voters-without-majority",
            # Only voters stand for election, and every voter is a controller.
            {"controller": node, "unreachable": silent},
            [*cut_off, *rounds],
            f"{who} could not win an election of the metadata quorum and found no other leader {period}: the voters "
            "have no majority"
            + (f", and DNS does not resolve {name_some('name', unresolved)}. " if unresolved else ". ")
            + (f"It got no answer from {name_some('node', silent)}. " if silent else "")
            + "Without a controller, no "
            "partition gets a new leader, no topic is created, and no producer ids are allocated.",
            (_RESOLVE if unresolved else "")
            + "Start or reconnect the other voters of the quorum: check their processes, and the network between the "
            "controllers. eosctl doctor shows who answers.",
            severity=Severity.CRITICAL,
            confidence=0.7 if is_open and lasted_ms < WITHOUT_LEADER_MS else 0.85,
            t_start_ms=start_ms,
            t_end_ms=last_ms,
        )


def _cut_off_before(timeline: LogTimeline, first: LogEvent) -> Sequence[LogEvent]:
    """Return the connections to other voters that failed before an election, since the log last named a leader."""
    before = timeline.log_between(first, time_of(first) - FAILOVER_MS, time_of(first))
    led = max((place for place, event in enumerate(before) if event.category in _LED), default=-1)
    return [event for event in before[led + 1 :] if voter_not_reached(event)]


def _attempts(timeline: LogTimeline, first: LogEvent, end_ms: int) -> Sequence[LogEvent]:
    """Return the connections to other voters that failed for a node during its elections."""
    near = timeline.log_between(first, time_of(first) - 2 * _NOTICED_MS, end_ms, _UNREACHED)
    return [event for event in near if voter_not_reached(event)]


def _name_not_resolved(event: LogEvent) -> str:
    """Return the name of a voter that its connection failed for; empty if it failed for another reason."""
    return event.fields.get("peer", "").partition(":")[0] if event.category == "HOST_NOT_RESOLVED" else ""


def _rounds(timeline: LogTimeline, first: LogEvent) -> tuple[list[LogEvent], int | None]:
    """Return the repeated elections from an event on, and the time at which the same log names a leader, or None."""
    rounds = [first] if first.category == "CONTROLLER_ELECTION" else []
    for event in timeline.log_between(first, time_of(first), inf):
        if event.category in ("CONTROLLER_LEADER", "CONTROLLER_ACTIVE"):
            return rounds, time_of(event)
        if event.category == "CONTROLLER_ELECTION" and event is not first:
            rounds.append(event)
    return rounds, None
