"""Detect programs that fence one another in turn: each start of one with the shared id ends the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.own_words import initializations_in_words
from eosctl.logs.incidents.timeline.timeline import SAME_MOMENT_MS, LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

TURN_MS: Final = 900_000
"""Maximum time between two turns: programs that fence one another start again within minutes."""
_APART_MS: Final = 2_000
"""Two files of one program report a fence within this time."""
_OF_REPLICAS: Final = 3
"""Minimum number of turns of programs that may be replicas of one: a new one replaces an older one in two."""


class Rivals(NamedTuple):
    """The names of programs that were fenced in turn, in alphabetical order, and whether these are their groups."""

    names: tuple[str, ...]
    are_groups: bool


class Excerpts:
    """The parts of files in which time starts again: a person pastes the logs of several programs into one file."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._begins: dict[tuple[str, str], list[tuple[int, str]]] = {}

    def of(self, event: LogEvent) -> tuple[str, int, str]:
        """Return the log of an event, the part of its file, and the only group that this part names."""
        log = self._timeline.log_of(event)
        if (log, event.file) not in self._begins:
            self._begins[log, event.file] = self._begins_of(event)
        begins = self._begins[log, event.file]
        part = bisect_right(begins, event.offset, key=lambda begin: begin[0]) - 1
        return log, max(part, 0), begins[max(part, 0)][1]

    def _begins_of(self, event: LogEvent) -> list[tuple[int, str]]:
        own = (one for one in self._timeline.log_with(event) if one.file == event.file)
        ordered = sorted(own, key=lambda one: one.offset)
        places = [place for place, (one, other) in enumerate(pairwise(ordered), 1) if _goes_back(one, other)]
        bounds = [0, *places, len(ordered)]
        return [(ordered[begin].offset, _group_of(ordered[begin:end])) for begin, end in pairwise(bounds)]


def _goes_back(one: LogEvent, other: LogEvent) -> bool:
    return time_of(one) - time_of(other) > SAME_MOMENT_MS


def _group_of(events: Sequence[LogEvent]) -> str:
    groups = {group for event in events if (group := event.fields.get("group"))}
    return groups.pop() if len(groups) == 1 else ""


def rivals_in(timeline: LogTimeline, excerpts: Excerpts, refusals: Sequence[LogEvent]) -> Rivals | None:
    """Return the programs that were fenced in turn; None without such a turn.

    One program that was fenced before and after another one was running next to it. A program that replaces another
    one is not: the first one does not come back. Programs of different groups do not replace each other.

    Args:
        timeline: The logs.
        excerpts: The parts of their files.
        refusals: The refusals of clients with one transactional id, in order of time.
    """
    fenced = [one for one in refusals if one.category == "PRODUCER_FENCED" and not one.fields.get("connector_task")]
    turns: list[LogEvent] = []
    for one in fenced:
        if not turns or excerpts.of(one) != excerpts.of(turns[-1]):
            if turns and time_of(one) - time_of(turns[-1]) <= _APART_MS:
                return None
            turns.append(one)
        else:
            turns[-1] = one
    groups = {group for one in turns if (group := excerpts.of(one)[2])}
    if len(groups) > 1 and all(excerpts.of(one)[2] for one in turns):
        return Rivals(tuple(sorted(groups)), True)
    logs = [timeline.log_of(one) for one in turns]
    programs = {one.application for one in turns}
    is_in_turn = sum(one != other for one, other in pairwise(logs)) + 1 >= _OF_REPLICAS
    is_in_turn |= len(set(logs)) > 1 and any(_came_back(timeline, *pair) for pair in pairwise(turns))
    return Rivals(tuple(sorted(programs)), False) if is_in_turn else None


def _came_back(timeline: LogTimeline, one: LogEvent, other: LogEvent) -> bool:
    """Return whether a fenced program initialized the id again before another program was fenced."""
    if timeline.log_of(one) == timeline.log_of(other):
        return False
    start_ms, end_ms, named = time_of(one) + 1, time_of(other), timeline.transactional_id(one)
    inits = timeline.log_between(one, start_ms, end_ms, ("INIT_PRODUCER_ID",))
    return bool(inits) or bool(initializations_in_words(timeline, one, start_ms, end_ms, named))


def fenced_in_turn(transactional_id: str, rivals: Rivals, refusals: Sequence[LogEvent]) -> Incident:
    """Return the incident of programs that share an id."""
    names = rivals.names
    who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f"Two instances of {names[0]}"
    return incident(
        "producer_fenced",
        "duplicate-transactional-id",
        {"transactional.id": transactional_id, "groups" if rivals.are_groups else "applications": names},
        refusals,
        f"{who} use {transactional_id} at the same time, and were fenced in turn: each start of one fences the other.",
        (
            "Give each program transactional.ids with a prefix of its own."
            if rivals.are_groups
            else "Give every replica a transactional.id of its own, e.g. with its ordinal."
        )
        + " A restart only fences the other one.",
        confidence=0.9,
    )
