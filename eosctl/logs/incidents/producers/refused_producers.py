"""Name a refused producer, and what its program logged before and after the refusal.

The verdicts on all reasons of a refusal share this: whom it is about, whether its client had waited for brokers before,
and whether its client can still be used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.logs.incidents.timeline.program_names import client_id_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import FATAL_LEVELS, LogEvent

TROUBLE_MS: Final = 90_000
"""Maximum time between the cause of a timeout and the rollback: a minute, plus the interval of the check for it."""


def had_trouble(timeline: LogTimeline, client: LogEvent, until_ms: int, categories: tuple[EventCategory, ...]) -> bool:
    """Return whether a client logged before a moment that it waits for brokers; a stalled client logs nothing."""
    return bool(timeline.log_between(client, until_ms - TROUBLE_MS, until_ms, categories))


def is_producer_dead(events: Iterable[LogEvent]) -> bool:
    """Return whether a client reports that its producer is dead.

    Such a producer refuses every call until the application creates another one.
    """
    return any(event.category == "CLIENT_FATAL" or event.level in FATAL_LEVELS for event in events)


def subject_of(timeline: LogTimeline, transactional_id: str, victim: LogEvent) -> dict[str, str | tuple[str, ...]]:
    """Return the subject of a refused producer: its id, and what its log names of its program."""
    if victim.application in timeline.servers():
        return {"transactional.id": transactional_id}
    group = timeline.group_of(victim)
    producer_id = next((event.fields.get("producer_id", "") for event in timeline.own_inits(victim).events), "")
    return {
        "transactional.id": transactional_id,
        "group": group,
        "producerId": producer_id,
        "application": victim.application,
        "client.id": "" if transactional_id else client_id_of(victim),
        "client": "" if transactional_id else victim.fields.get("rdkafka_client", ""),
        "connector.task": victim.fields.get("connector_task", ""),
    }
