"""Detect programs that fence one another in turn: each start of one with the shared id ends the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

TURN_MS: Final = 900_000
"""Maximum time between two turns: programs that fence one another start again within minutes."""
_APART_MS: Final = 2_000
"""Two files of one program report a fence within this time."""


def rivals_in(timeline: LogTimeline, refusals: Sequence[LogEvent]) -> Sequence[str]:
    """Return the programs that were fenced in turn, in alphabetical order; none without such a turn.

    One program that was fenced before and after another one was running next to it. A program that replaces another
    one is not: the first one does not come back.

    Args:
        timeline: The logs.
        refusals: The refusals of clients with one transactional id, in order of time.
    """
    fenced = [one for one in refusals if one.category == "PRODUCER_FENCED" and not one.fields.get("connector_task")]
    turns: list[LogEvent] = []
    for one in fenced:
        if not turns or timeline.log_of(one) != timeline.log_of(turns[-1]):
            if turns and time_of(one) - time_of(turns[-1]) <= _APART_MS:
                return ()
            turns.append(one)
        else:
            turns[-1] = one
    return sorted({one.application for one in turns}) if len(turns) > 2 else ()


def fenced_in_turn(transactional_id: str, programs: Sequence[str], refusals: Sequence[LogEvent]) -> Incident:
    """Return the incident of programs that share an id."""
    return incident(
        "producer_fenced",
        "duplicate-transactional-id",
        {"transactional.id": transactional_id, "applications": tuple(programs)},
        refusals,
        f"{', '.join(programs[:-1])} and {programs[-1]} use {transactional_id} at the same time, and were fenced in "
        "turn: each start of one fences the other.",
        "Give every replica a transactional.id of its own, e.g. with its ordinal. A restart only fences the other one.",
        confidence=0.9,
    )
