"""Fold producers whose id is unknown into the coordinator that could not load their partition of the transaction log.

Up to Kafka 3.x, a coordinator that stops at an unreadable record continues with what it had read. The producers whose
state comes after that record get INVALID_PRODUCER_ID_MAPPING, as if their ids had expired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, effect, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.text import time_text

WITHIN_MS: Final = 600_000
"""Maximum time from the load to the first request of a producer that is answered from it."""
_KIND: Final = "coordinator_load_failed"
_UNKNOWN: Final = frozenset({"transactional_id_expired"})
_TOPIC: Final = "__transaction_state-"


def join_failed_loads(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a producer that a coordinator does not know after a failed load is a part of the load."""
    failed = [
        one for one in incidents if one.kind == _KIND and str(one.subject.get("topic-partition", "")).startswith(_TOPIC)
    ]
    return absorb(
        incidents,
        lambda one: next((load for load in failed if _is_unknown_after(timeline, one, load)), None),
        _with_producers,
    )


def _is_unknown_after(timeline: LogTimeline, one: Incident, load: Incident) -> bool:
    """Return whether a producer's coordinator, as far as its log names it, is the broker of a failed load."""
    if one.kind not in _UNKNOWN or not 0 <= one.t_start_ms - load.t_start_ms <= WITHIN_MS:
        return False
    broker = load.subject.get("broker", "")
    events = timeline.evidence(one)
    found = (
        timeline.log_between(events[0], 0, time_of(events[0]), ("COORDINATOR_DISCOVERED",)) if events and broker else ()
    )
    named = [event for event in found if event.fields.get("coordinator_id") and "transaction" in event.message]
    return not named or named[-1].fields["coordinator_id"] == broker


def _with_producers(load: Incident, producers: Sequence[Incident]) -> Incident:
    ids = sorted({str(name) for one in producers if (name := one.subject.get("transactional.id"))})
    named: dict[str, str | tuple[str, ...]] = {"transactional.id": ids[0]} if len(ids) == 1 else {}
    if len(ids) > 1:
        named = {"transactional.ids": tuple(ids)}
    at = time_text(min(one.t_start_ms for one in producers))
    text = effect(
        producers[0].kind,
        f"the coordinator does not know the producer id of {', '.join(ids[:3]) or 'a client'}, and refused it at {at} "
        "(INVALID_PRODUCER_ID_MAPPING). The id has not expired: its state is behind the record that cannot be read.",
    )
    return with_parts(load, producers, text, subject={**load.subject, **named})
