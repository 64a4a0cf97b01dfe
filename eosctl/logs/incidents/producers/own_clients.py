"""Find the client of a program itself that took the transactional id of another one of its clients."""

from __future__ import annotations

from typing import Final

from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.names import is_of_streams
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent

LOOK_BACK_MS: Final = 600_000
"""Maximum time from the start or initialization of a client to the refusal of another one."""


def second_start(timeline: LogTimeline, transactional_id: str, victim: LogEvent) -> LogEvent | None:
    """Return the later of two starts before a refusal, if two programs write to one log and neither had ended.

    Streams restarts the producers of its threads with the same ids.
    """
    if is_of_streams(transactional_id):
        return None
    lives = timeline.client_events_about(transactional_id, "CLIENT_START", "CLIENT_STOP")
    near = within(lives, time_of(victim) - LOOK_BACK_MS, time_of(victim))
    own = [event for event in near if timeline.log_of(event) == timeline.log_of(victim)]
    starts = [event for event in own if event.category == "CLIENT_START"]
    alive = len(starts) > 1 and not any(time_of(event) <= time_of(starts[-1]) for event in own if event not in starts)
    return starts[-1] if alive else None


def late_init(timeline: LogTimeline, transactional_id: str, victim: LogEvent) -> LogEvent | None:
    """Return the last initialization before a refusal, if its client was created before another one with the id.

    The program had given that client up, but its request was still with the coordinator.

    Args:
        timeline: The logs.
        transactional_id: The id that both clients use.
        victim: The refusal of the client that was created later.
    """
    own = timeline.log_between(victim, time_of(victim) - LOOK_BACK_MS, time_of(victim), ("CLIENT_START",))
    created = [one for one in own if one.fields.get("transactional_id") == transactional_id]
    inits = within(timeline.own_inits(victim).events, time_of(victim) - LOOK_BACK_MS, time_of(victim))
    clients = [one.fields.get("client_id", "") for one in created]
    done = [one for one in inits if one.fields.get("client_id") and one.fields.get("producer_epoch", "-1") != "-1"]
    if len(done) < 2:
        return None
    fenced, taker = (one.fields["client_id"] for one in done[-2:])
    is_earlier = taker != fenced and taker in clients[:-1] and fenced in clients[clients.index(taker) + 1 :]
    return done[-1] if is_earlier else None
