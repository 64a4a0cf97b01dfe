"""Join the failed requests of a client with the transaction that a group of Redpanda still holds as open.

The node names the producer and the earlier transaction. The client receives only UNKNOWN_SERVER_ERROR for each of its
commits of offsets, at the same moments.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident

NEAR_MS: Final = 2_000
"""Maximum time between a refusal on the node and the error of its client: an answer takes less, clocks may differ."""
_HELD: Final = "group-holds-an-earlier-transaction"
_FAILED: Final = ("request_failed", "broker-error")
_OF_OFFSETS: Final = "offset"


def join_group_transactions(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; requests that failed each time when a group refused a transaction are its effects."""
    held = [one for one in incidents if one.root_cause == _HELD]
    times = {id(one): sorted(time_of(event) for event in timeline.evidence(one)) for one in held}

    def home_of(one: Incident) -> Incident | None:
        if not held or (one.kind, one.root_cause) != _FAILED:
            return None
        return next((cause for cause in held if _is_effect(timeline, one, times[id(cause)])), None)

    return absorb(incidents, home_of, _whole)


def _is_effect(timeline: LogTimeline, one: Incident, refused_ms: Sequence[int]) -> bool:
    """Return whether each failed request is a commit of offsets, and as near as an answer to a refusal."""
    events = timeline.evidence(one)
    are_offsets = all(_OF_OFFSETS in event.message.lower() for event in events)
    return bool(events) and are_offsets and all(_has_near(refused_ms, time_of(event)) for event in events)


def _has_near(times: Sequence[int], time_ms: int) -> bool:
    place = bisect_left(times, time_ms - NEAR_MS)
    return place < len(times) and times[place] <= time_ms + NEAR_MS


def _whole(cause: Incident, effects: Sequence[Incident]) -> Incident:
    programs = sorted({name for one in effects if isinstance(name := one.subject.get("application"), str) and name})
    who = f" of {', '.join(programs)}" if programs else ""
    subject = {**cause.subject, "application": programs[0]} if len(programs) == 1 else cause.subject
    text = f"Effect: commits of offsets{who} fail with UNKNOWN_SERVER_ERROR at the same moments."
    return with_parts(cause, effects, text, subject=subject)
