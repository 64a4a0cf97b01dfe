"""Name the shortage of in-sync replicas that kept a producer's records from being written in time.

A producer retries NOT_ENOUGH_REPLICAS until ``delivery.timeout.ms`` ends, and logs each attempt as a warning. Connect
waits only ``offset.flush.timeout.ms`` for the records of a task, so its commit of offsets fails before the write does.
The offsets themselves are written by a producer of the worker, to the offsets topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, name_some, time_text

BEFORE_MS: Final = 120_000
"""Maximum time from a refused write to the failure, if it does not name one: the default ``delivery.timeout.ms``."""
MOMENT_MS: Final = 1_000
NAMED: Final = 0.85
_WAITS: Final = frozenset(
    {
        *("connector_offsets_not_stored", "flush_timeout", "send_timeout", "transaction_end_timeout"),
        *("transaction_offsets_timeout",),
    }
)
"""Kinds of faults that a client reports because records were not written in time."""
_REGISTRY: Final = "store-topic-not-usable"
"""The cause of a Schema Registry that cannot write to its own topic."""
_CAUSE: Final = "fewer-replicas-in-sync-than-min-isr"
_NEVER_ENOUGH: Final = "min-isr-above-the-replicas"
_WAITED: Final = re.compile(r"(?P<ms>\d{1,12}) ms has passed since (?:batch creation|last append)")
_OFFSETS_TOPIC: Final = re.compile(r"(?i:(?<![a-z])offsets?(?![a-z]))")
_QUOTED: Final = 2
_LISTED: Final = 40
_STEP: Final = (
    "On the cluster that these records are written to, compare the partition's in-sync replicas with "
    "min.insync.replicas, and find which broker left the ISR. A longer timeout only hides it."
)


def name_short_targets(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; records that were not written in time have the writes that brokers refused as their cause."""
    found = tuple(incidents)
    # Where the shortage is an incident by itself, what was not written in time is a part of that one.
    known = {(place.file, place.offset) for one in found if one.kind == "not_enough_replicas" for place in one.evidence}
    settings = {one.subject.get("topic-partition"): one for one in found if one.root_cause == _NEVER_ENOUGH}
    for one in found:
        refused = _refused_before(timeline, one) if one.kind in _WAITS or one.root_cause == _REGISTRY else ()
        if not refused or any((event.file, event.offset) in known for event in refused):
            yield one
            continue
        named = _named(one, refused)
        setting = settings.get(named.subject.get("topic-partition", ""))
        yield named._replace(root_cause=_NEVER_ENOUGH, next_step=setting.next_step) if setting else named


def _refused_before(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the retries of the incident's own producer after NOT_ENOUGH_REPLICAS, before and during its faults."""
    servers = timeline.servers()
    own = [event for event in timeline.evidence(one) if event.application not in servers]
    if not own:
        return ()
    first = min(own, key=time_of)
    partition = one.subject.get("topic-partition", "")
    task = one.subject.get("connector.task", "")
    texts = (f"{event.message}\n{event.fields.get('thrown', '')}" for event in own)
    waited_ms = max((int(found["ms"]) for text in texts if (found := _WAITED.search(text))), default=0)
    start_ms = one.t_start_ms - max(BEFORE_MS, waited_ms + MOMENT_MS)
    near = timeline.log_between(first, start_ms, one.t_end_ms, ("NOT_ENOUGH_REPLICAS",))
    return [
        event
        for event in near
        if (name := event.fields.get("partition"))
        and partition in ("", name)
        and (not task or _may_be_of_task(event, str(task)))
    ]


def _may_be_of_task(event: LogEvent, task: str) -> bool:
    """Return whether a refused write may be one of a task's own producer, or of the worker's to the offsets topic."""
    client = event.fields.get("client_id", "")
    return not client or client.endswith(f"-{task}") or _OFFSETS_TOPIC.search(event.fields["partition"]) is not None


def _named(one: Incident, refused: Sequence[LogEvent]) -> Incident:
    names = sorted({event.fields["partition"] for event in refused})
    subject: dict[str, str | tuple[str, ...]] = (
        {"topic-partition": names[0]} if len(names) == 1 else {"topic-partitions": tuple(names[:_LISTED])}
    )
    last = [event for event in refused if event not in refused[:_QUOTED]][-1:]
    return one._replace(
        root_cause=_CAUSE,
        confidence=max(one.confidence, NAMED),
        t_start_ms=min(one.t_start_ms, time_of(refused[0])),
        subject={**one.subject, **subject},
        evidence=joined_evidence(one.evidence[:1], evidence_of([*refused[:_QUOTED], *last]), one.evidence[1:]),
        explanation=f"{one.explanation} Cause: {name_some('partition', names)} had fewer in-sync replicas than "
        f"min.insync.replicas, so brokers refused {count_text(len(refused), 'write')} (NOT_ENOUGH_REPLICAS, first at "
        f"{time_text(time_of(refused[0]))}).",
        next_step=_STEP,
    )
