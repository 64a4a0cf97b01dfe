"""Quote what a producer's client reported between the beginning and the end of its fault.

A commit that times out, a request to the coordinator without an answer, brokers that are away for a moment, and the
refusal in the end are stages of one fault. Those in the middle are too few for incidents of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import with_records
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import short_text
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.any_program import names_kafka
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, is_problem
from eosctl.text import time_text

LASTING_MS: Final = 60_000
"""Minimum time from the beginning to the end of a fault with stages: shorter ones are one moment."""
QUOTED: Final = 3
_KINDS: Final = kinds_with("of_producer")
_STAGES: Final[tuple[EventCategory, ...]] = (
    *("BROKERS_UNREACHED", "CONNECTIONS_LOST", "COORDINATOR_UNAVAILABLE", "TIMEOUT_OTHER"),
)
_THREAD: Final = "[thrd:"
"""The beginning of what librdkafka logs behind its client's name."""
_CLIENT: Final[tuple[EventField, ...]] = ("client_id", "rdkafka_client", "transactional_id")


def name_stages(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; those of a producer have the trouble of its client that no other incident covers."""
    found = tuple(incidents)
    noted = {(place.file, place.offset) for one in found for place in one.evidence}
    for one in found:
        between = _between(timeline, one) if _may_have_stages(one) else ()
        own = [event for event in between if (event.file, event.offset) not in noted]
        yield _with_stages(one, own) if own else one


def _may_have_stages(one: Incident) -> bool:
    return one.kind in _KINDS and one.t_end_ms - one.t_start_ms >= LASTING_MS


def _between(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the trouble in the only log of an incident during it, of clients that its evidence does not contradict."""
    evidence = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if not evidence or len({timeline.log_of(event) for event in evidence}) > 1:
        return ()
    names = {field: {value for event in evidence if (value := event.fields.get(field))} for field in _CLIENT}
    near = timeline.log_between(evidence[0], one.t_start_ms, one.t_end_ms, _STAGES)
    return [event for event in near if is_problem(event) and _agrees(event, names)]


def _agrees(event: LogEvent, names: dict[EventField, set[str]]) -> bool:
    """Return whether a record is of a client of Kafka, and names none but that of an incident."""
    is_named = any(event.fields.get(field) for field in _CLIENT)
    if not (is_named or _THREAD in event.message or names_kafka(f"{event.logger} {event.message}")):
        return False
    return all(not values or event.fields.get(field, "") in {"", *values} for field, values in names.items())


def _with_stages(one: Incident, events: Sequence[LogEvent]) -> Incident:
    first_of = {event.category: event for event in reversed(events)}
    shown = sorted(first_of.values(), key=time_of)[:QUOTED]
    said = ", ".join(f'"{short_text(event.message)}" ({time_text(time_of(event))})' for event in shown)
    return with_records(one, events, f"Between, the same client reported {said}.")
