"""Join the fencing of a producer that its client reports with the broker's record of the epoch that it refused.

The client often names neither its transactional id nor an epoch. The broker, or the coordinator of Redpanda, names
both and no client. Only a single client that was fenced at that moment can be the same producer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import gathered, with_parts, with_records
from eosctl.logs.incidents.producers.fencing_verdicts import SAME_TO_CLIENTS
from eosctl.logs.incidents.producers.write_owners import is_of_coordinator
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

BEFORE_MS: Final = 10_000
"""Maximum time from the refusal to the client's report: its program may report the error at the end of its batch."""
CLOCKS_MS: Final = 1_500
"""Maximum difference between the clocks of a client and a broker."""
_REFUSED: Final = "invalid_producer_epoch"
_CATEGORY: Final[EventCategory] = "INVALID_PRODUCER_EPOCH"
_FENCED: Final = frozenset({"invalid_producer_epoch", "producer_fenced"})
_NAMES: Final = ("transactional.id", "producerId")
_STEP: Final = " Add the transaction coordinator's server.log of this time."
_OWN_STEP: Final = " The coordinator's log before it shows whether it had expired the transaction."


def join_refused_epochs(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; an epoch that only brokers report as refused is a part of the client's fencing."""
    found = tuple(incidents)
    servers = timeline.servers()
    refused = [one for one in found if one.kind == _REFUSED and one.subject.get("transactional.id")]
    of_brokers = [one for one in refused if all(event.application in servers for event in timeline.evidence(one))]
    clients = [one for one in found if one.kind in _FENCED and one not in of_brokers]

    def home_of(one: Incident) -> Incident | None:
        if one not in of_brokers:
            return None
        near = [client for client in clients if _is_same(client, one)]
        rivals = [other for other in of_brokers if len(near) == 1 and _is_same(near[0], other)]
        return near[0] if len(near) == 1 and len(rivals) == 1 else None

    for one, parts in gathered(found, home_of):
        records = [event for part in parts for event in timeline.evidence(part)] or _records_of(timeline, one)
        yield _whole(one, parts, records) if records else one


def _records_of(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the refusals of a client's id at its time, if only its own text reports why it was fenced."""
    named = one.subject.get("transactional.id", "")
    if SAME_TO_CLIENTS not in one.explanation or not isinstance(named, str) or not named:
        return ()
    known = timeline.server_events_about(named, _CATEGORY)
    return within(known, one.t_start_ms - BEFORE_MS, one.t_end_ms + CLOCKS_MS)


def _is_same(client: Incident, refused: Incident) -> bool:
    """Return whether a client was fenced when its epoch may have been refused, and names no other producer."""
    names = [(client.subject.get(name), refused.subject.get(name)) for name in _NAMES]
    is_near = refused.t_start_ms - CLOCKS_MS <= client.t_start_ms <= refused.t_end_ms + BEFORE_MS
    return is_near and all(mine == other for mine, other in names if mine and other)


def _whole(one: Incident, parts: Sequence[Incident], records: Sequence[LogEvent]) -> Incident:
    """Return a client's fencing with the epochs that brokers named for it."""
    first = min(records, key=time_of)
    names = parts[0].subject if parts else one.subject
    who = names["transactional.id"]
    old, new = first.fields.get("producer_epoch", ""), first.fields.get("current_epoch", "")
    has_coordinator = any(map(is_of_coordinator, records))
    by_whom = "transaction coordinator" if has_coordinator else "broker"
    epochs = f"epoch {old} of {who}" if old else f"the old epoch of {who}"
    current = f", as the current one is {new}" if new else ""
    whole = with_parts(
        with_records(one, records),
        parts,
        f"The {by_whom} refused {epochs}{current}; its record does not show who had raised it.",
        subject={**names, **one.subject},
    )
    if not has_coordinator:
        return whole
    return whole._replace(
        explanation=whole.explanation.replace(SAME_TO_CLIENTS, "", 1),
        next_step=one.next_step.replace(_STEP, _OWN_STEP, 1),
    )
