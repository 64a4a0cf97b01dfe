"""Find active controllers that did not answer the other voters in time, so another one took over while they ran on.

A follower whose fetch gets no answer within ``controller.quorum.fetch.timeout.ms`` becomes a candidate. The former
leader learns of the new epoch when it answers again, and renounces the leadership (``QuorumController``). A leader that
shuts down hands its role over, and no fetch times out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.servers.outages import Outage
from eosctl.logs.incidents.servers.quorum import FAILOVER_MS, fetched_from, successor_of
from eosctl.logs.incidents.servers.registrations import unfenced_after
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, name_some, time_text

ELECTION_MS: Final = 10_000
"""Records of one lost leader are closer than this."""
BEFORE_MS: Final = 5_000
"""Maximum time from a request that timed out to the election after it."""
SESSION_MS: Final = 18_000
"""Twice the default of broker.session.timeout.ms: brokers whose heartbeats the new controller missed are fenced."""
UNSTABLE: Final = 3
"""Leaders that change this often are one fault of the quorum, which the catalog describes."""
UNSTABLE_MS: Final = 600_000
_RENOUNCED: Final = re.compile(r"\bwe were the leader at epoch (\d+), but in the new epoch (\d+)", re.IGNORECASE)
_UNANSWERED: Final = re.compile(r"due to fetch timeout|due to request timeout|\brequest timeout: \d")


def find_silent_leaders(timeline: LogTimeline, outages: Sequence[Outage]) -> Iterator[Incident]:
    """Yield the active controllers that lost their role because they were silent, and that renounced it later."""
    lost = [one for one in timeline.of("CONTROLLER_LOST") if one.fields.get("former_leader")]
    for leader, events in by_key((one.fields["former_leader"], one) for one in lost).items():
        for part in episodes(events, ELECTION_MS):
            if found := _silent(timeline, outages, leader, part):
                yield found


def _silent(timeline: LogTimeline, outages: Sequence[Outage], leader: str, lost: Sequence[LogEvent]) -> Incident | None:
    since_ms, until_ms = time_of(lost[0]) - BEFORE_MS, time_of(lost[0]) + FAILOVER_MS
    # A server that ended, or the voters that are away with it, explain a change of the leader.
    if any(since_ms - FAILOVER_MS <= one.down_ms <= until_ms for one in outages):
        return None
    resigned = within(timeline.of("CONTROLLER_RESIGNED"), since_ms - UNSTABLE_MS, until_ms + UNSTABLE_MS)
    own = [one for one in resigned if _RENOUNCED.search(one.message)]
    of_leader = (one for one in own if one.fields.get("controller") == leader and since_ms <= time_of(one) <= until_ms)
    renounced = next(of_leader, None)
    unanswered = _unanswered(timeline, leader, since_ms, time_of(lost[-1]))
    successor = successor_of(timeline, leader, time_of(lost[0]))
    is_stable = len(own) < UNSTABLE
    if renounced is None or not unanswered or successor is None or not is_stable:
        return None
    return _incident(timeline, leader, [*unanswered, *lost], renounced, successor)


def _unanswered(timeline: LogTimeline, leader: str, start_ms: int, end_ms: int) -> list[LogEvent]:
    """Return the records of voters whose requests to the leader got no answer in time."""
    cut = [one for one in within(timeline.of(*DISCONNECTS), start_ms, end_ms) if fetched_from(one) == leader]
    elections = within(timeline.of("CONTROLLER_ELECTION"), start_ms, end_ms)
    return [one for one in (*cut, *elections) if _UNANSWERED.search(one.message)]


def _incident(
    timeline: LogTimeline, leader: str, signs: Sequence[LogEvent], renounced: LogEvent, successor: LogEvent
) -> Incident:
    first_ms = min(map(time_of, signs))
    taker = successor.fields.get("controller", "?")
    voters = sorted({node for one in signs if (node := timeline.node_of(one.application)) and node != leader})
    epochs = _RENOUNCED.search(renounced.message)
    rounds = int(epochs[2]) - int(epochs[1]) - 1 if epochs else 0
    split = f" after {count_text(rounds, 'election')} without a majority" if rounds > 0 else ""
    fenced = within(timeline.of("BROKER_FENCED"), first_ms, time_of(successor) + SESSION_MS)
    back = [one for event in fenced if (one := unfenced_after(timeline, event.fields.get("fenced_broker", ""), event))]
    brokers = sorted({event.fields.get("fenced_broker", "") for event in fenced} - {""})
    effect = ""
    if brokers:
        end = f"; it was unfenced at {time_text(time_of(back[-1]))}" if len(back) == len(fenced) else ""
        effect = f" The new controller fenced {name_some('broker', brokers)}, whose heartbeats it missed{end}."
    return incident(
        "controller_failover",
        "leader-silent-beyond-fetch-timeout",
        {"controller": leader, "brokers": tuple(brokers)},
        [*signs, successor, renounced, *fenced, *back],
        f"Controller {leader}, the leader of the metadata quorum, did not answer {name_some('voter', voters)} for "
        f"longer than controller.quorum.fetch.timeout.ms, first at {time_text(first_ms)}. Controller {taker} took over "
        f"at {time_text(time_of(successor))}{split}: the cluster had no active controller for "
        f"{duration_text(time_of(successor) - first_ms)}. Controller {leader} did not end: it renounced its role at "
        f"{time_text(time_of(renounced))}.{effect}",
        f"Find what held controller {leader} up before that: its disk (the metadata log is flushed with each write), "
        "its garbage collector's log, its CPU, a stopped container, or the network.",
        severity=Severity.WARNING,
        confidence=0.85,
        t_start_ms=first_ms,
    )
