"""Detect groups that rebalance without end: members are refused, rejoin, and are refused again in the next generation.

One refusal is part of a group's life. A group does no work where each rejoin of a member removes another one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

ROUNDS: Final = 4
"""Minimum number of refusals, each after a rejoin, that make a loop."""
PAUSE_MS: Final = 120_000
"""A group that worked for longer than this between two refusals is not in a loop."""
REJOIN_MS: Final = 5_000
"""Maximum time from a loop's last refusal to the record of the rejoin after it."""
_GENERATION: Final = re.compile(r"\bgeneration(?:_?[Ii][Dd])?[\"']{0,2}[ =:]{1,3}(\d{1,10})\b")
_MEMBER: Final = re.compile(
    r"\bcoor=([^\s,)]{1,64})|\bmember(?:_?[Ii][Dd])?[\"']{0,2}[ =:]{1,3}[\"']{0,2}([\w.#<>-]{8,255})"
)


class _Loop(NamedTuple):
    """The refusals of a loop, the members that they name, the group's generations, and all records of refusals."""

    rounds: Sequence[LogEvent]
    members: frozenset[str]
    generations: Sequence[int]
    burst: Sequence[LogEvent]


def find_rebalance_loops(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the groups in which members are refused and rejoin again and again."""
    refusals = timeline.client_events("GROUP_FENCED")
    if len(refusals) < ROUNDS:
        return
    loops: dict[str, list[_Loop]] = defaultdict(list)
    for one in _loops(timeline):
        loops[timeline.group_of(one.rounds[0])].append(one)
    for group, own in loops.items():
        for one in _shared(own) if group else own:
            yield _incident(group, one)


def _loops(timeline: LogTimeline) -> Iterator[_Loop]:
    """Yield the loops in each log of a client, and of each group in it."""
    events = timeline.client_events("GROUP_FENCED", "REBALANCE_TRIGGER", "REBALANCE_DONE")
    for own in by_key((f"{timeline.log_of(one)}\0{timeline.group_of(one)}", one) for one in events).values():
        fenced = [one for one in own if one.category == "GROUP_FENCED"]
        for burst in episodes(fenced, PAUSE_MS) if len(fenced) >= ROUNDS else ():
            start_ms, end_ms = time_of(burst[0]), time_of(burst[-1])
            if timeline.log_between(burst[0], start_ms - PAUSE_MS, end_ms, ("POLL_TIMEOUT",)):
                continue
            loop = _loop_of([one for one in own if start_ms <= time_of(one) <= end_ms + REJOIN_MS], burst)
            if len(loop.rounds) >= ROUNDS:
                yield loop


def _shared(loops: Iterable[_Loop]) -> Iterator[_Loop]:
    """Yield the loops of a group; those at the same time in several logs are one, in which its members take turns."""
    current: _Loop | None = None
    for one in sorted(loops, key=lambda one: time_of(one.rounds[0])):
        if current is None or time_of(one.rounds[0]) > time_of(current.rounds[-1]):
            if current is not None:
                yield current
            current = one
            continue
        # The same name of a member in two logs is that of two members.
        members = current.members | {f"{one.rounds[0].file}\0{name}" for name in one.members}
        rounds, burst = (
            sorted((*a, *b), key=time_of) for a, b in ((current.rounds, one.rounds), (current.burst, one.burst))
        )
        current = _Loop(rounds, members, (*current.generations, *one.generations), burst)
    if current is not None:
        yield current


def _loop_of(events: Sequence[LogEvent], burst: Sequence[LogEvent]) -> _Loop:
    """Return the refusals that each follow a rejoin of the same member, by a record of it or a higher generation."""
    rounds: list[LogEvent] = []
    members: set[str] = set()
    generations: list[int] = []
    refused_at: dict[str, int | None] = {}
    rejoined: set[str] = set()
    for event in events:
        member, generation = _member_of(event), _generation_of(event)
        if generation is not None:
            generations.append(generation)
        if event.category == "REBALANCE_DONE":
            rejoined.add(member)
        elif event.category == "GROUP_FENCED":
            before = refused_at.get(member)
            is_later = before is not None and generation is not None and generation > before
            # A library reports one refusal in two layers, and only one of them names the member.
            is_first = member not in refused_at and bool(member or not refused_at)
            if is_first or is_later or rejoined & {member, ""}:
                rounds.append(event)
                rejoined -= {member, ""}
                refused_at[member] = generation
            members.add(member)
    return _Loop(rounds, frozenset(members - {""}), generations, burst)


def _member_of(event: LogEvent) -> str:
    if client := event.fields.get("client_id") or event.fields.get("rdkafka_client"):
        return client
    found = _MEMBER.search(event.message)
    return (found[1] or found[2]) if found else ""


def _generation_of(event: LogEvent) -> int | None:
    found = _GENERATION.search(event.message)
    return int(found[1]) if found else None


def _incident(group: str, loop: _Loop) -> Incident:
    first, last = loop.rounds[0], loop.rounds[-1]
    applications = tuple(dict.fromkeys(one.application for one in loop.rounds))
    reason = next((reason for one in loop.burst if (reason := one.fields.get("refusal"))), "")
    lasted = duration_text(time_of(last) - time_of(first))
    low, high = min(loop.generations, default=0), max(loop.generations, default=0)
    grown = f", and the group's generation grew from {low} to {high}" if high > low else ""
    is_several = len(loop.members) > 1
    who = f"{count_text(len(loop.members), 'member')} were" if is_several else "the same member was"
    return incident(
        "group_not_stable",
        "members-refused-after-each-rejoin",
        {
            "group": group,
            **({"application": first.application} if len(applications) < 2 else {"applications": applications}),
        },
        loop.burst,
        f"{group or 'The group'} rebalances again and again: {who} refused{f' ({reason})' if reason else ''} and "
        f"rejoined{' in turn' if is_several else ''}, {len(loop.rounds)} times in {lasted}{grown}. Each round stops "
        "all members of the group.",
        "Find what removes a member between two rounds: members that share a member id or group.instance.id, a client "
        "library that does not keep the id that the coordinator gave it, members without a common assignment protocol, "
        "or heartbeats that stop. Compare the release "
        "of the library with its known defects.",
        confidence=0.8,
    )
