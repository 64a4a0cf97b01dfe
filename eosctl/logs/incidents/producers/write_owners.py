"""The transactional id that a write belongs to, and whether its client's log is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent

EPISODE_MS: Final = 60_000
"""Longest pause between writes of one incident."""
CLOCKS_MS: Final = 1_500
"""Maximum difference between the clocks of a client and a broker."""
LOOK_BACK_MS: Final = 600_000
_FENCED: Final = re.compile(r"producer \{producer_identity: [^}\n]*\} is fenced (?:of )?by ")


def owner_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the transactional id of a write by what coordinators logged; Redpanda's names it itself."""
    if named := event.fields.get("transactional_id"):
        return named
    inits = named_producers(timeline, event.fields.get("producer_id", ""), time_of(event))
    return inits[-1].fields["transactional_id"] if inits else _owner_of_epoch(timeline, event)


def _owner_of_epoch(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the only id that was initialized with the epoch of a refusal, which up to 2.4 has no producer id."""
    epoch = event.fields.get("current_epoch")
    if event.fields.get("producer_id") or not epoch:
        return ""
    inits = within(timeline.server_events("INIT_PRODUCER_ID"), time_of(event) - LOOK_BACK_MS, time_of(event))
    owners = {one.fields.get("transactional_id", "") for one in inits if one.fields.get("producer_epoch") == epoch}
    return owners.pop() if len(owners) == 1 else ""


def named_producers(timeline: LogTimeline, producer_id: str, moment: int) -> Sequence[LogEvent]:
    """Return the events that name a producer id's transactional id: all until a moment, else the first one after it.

    The logs may come from several clusters, and every cluster assigns the same producer ids.
    """
    for category in ("INIT_PRODUCER_ID", "TRANSACTIONAL_ID_NAMED") if producer_id else ():
        if named := timeline.with_value("producer_id", producer_id, category, having="transactional_id"):
            return [one for one in named if time_of(one) <= moment + CLOCKS_MS] or named[:1]
    return ()


def has_client(timeline: LogTimeline, episode: Sequence[LogEvent]) -> bool:
    """Return whether an application logged the refusal, not only brokers."""
    return any(event.application not in timeline.servers() for event in episode)


def is_of_coordinator(event: LogEvent) -> bool:
    """Return whether the transaction coordinator of Redpanda (``tx_gateway_frontend``) refused an epoch."""
    return _FENCED.search(event.message) is not None
