"""Name the cause for which a coordinator refused the offsets of a transaction, by the error in the record.

A consumer's group that rebalances takes no offsets until its members have joined (``GroupCoordinator``). The producer
then aborts the transaction, and its records are read again: this belongs to every rebalance during a transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

_KIND: Final = ("transaction_offsets_refused", "unexplained")
_NAMED: Final = 0.85
_LISTED: Final = 40
"""Maximum number of partitions in a subject."""
_PLACE: Final = re.compile(r"(?<![\w.-])(?P<topic>[\w.-]{1,249})\[(?P<number>\d{1,9})\]@-?\d")


class _Cause(NamedTuple):
    """The errors of a cause, its slug, what it means, and what to do."""

    errors: re.Pattern[str]
    slug: str
    meaning: str
    next_step: str
    is_routine: bool = False


_CAUSES: Final = (
    _Cause(
        re.compile(r"[Gg]roup rebalance in progress|REBALANCE_IN_PROGRESS|[Gg]roup is rebalancing|RebalanceInProgress"),
        "group-rebalances",
        "The group of the consumer was rebalancing, and takes no offsets until its members have joined: a member "
        "joined, left, or was removed. The coordinator is not the cause.",
        "Abort the transaction, and read again from the last committed offsets once the partitions are assigned. "
        "Commit or abort in the rebalance callback before partitions are given up. If it returns often, find what "
        "makes the group rebalance: deployments, scaling, slow members.",
        is_routine=True,
    ),
    _Cause(
        re.compile(
            r"[Nn]ot coordinator\b|NOT_COORDINATOR|NotCoordinator|[Cc]oordinator (?:not available|load in progress)"
            r"|COORDINATOR_(?:NOT_AVAILABLE|LOAD_IN_PROGRESS)"
        ),
        "coordinator-not-available",
        "The coordinator that the record names had moved, was loading, or was not available.",
        "Abort the transaction and repeat its work; the producer remains usable. AddOffsetsToTxn goes to the "
        "transaction coordinator (__transaction_state), TxnOffsetCommit to the group coordinator (__consumer_offsets): "
        "check the broker that has it, and the replicas of the topic.",
    ),
)


def name_refused_offsets(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; refused offsets of a transaction have the cause that all of their records name."""
    for one in incidents:
        cause = _cause_of(timeline, one) if (one.kind, one.root_cause) == _KIND else None
        yield _named(timeline, one, cause) if cause is not None else one


def _cause_of(timeline: LogTimeline, one: Incident) -> _Cause | None:
    found = [next((cause for cause in _CAUSES if _names(event, cause)), None) for event in timeline.evidence(one)]
    named = {id(cause): cause for cause in found if cause is not None}
    return next(iter(named.values())) if len(named) == 1 else None


def _names(event: LogEvent, cause: _Cause) -> bool:
    return any(cause.errors.search(text) for text in (event.message, event.fields.get("thrown", "")))


def _named(timeline: LogTimeline, one: Incident, cause: _Cause) -> Incident:
    """Return an incident with its cause; one of a rebalance is a warning if its program worked on afterwards."""
    last = max(timeline.evidence(one), key=time_of)
    works = any(map(is_work, Proofs(timeline).between(last, time_of(last) + 1, inf, WORK)))
    severity = Severity.WARNING if cause.is_routine and works else one.severity
    return one._replace(
        root_cause=cause.slug,
        severity=severity,
        subject={**one.subject, **_partitions_of(timeline, one)},
        confidence=max(one.confidence, _NAMED),
        explanation=f"{one.explanation} {cause.meaning}",
        next_step=cause.next_step,
    )


def _partitions_of(timeline: LogTimeline, one: Incident) -> dict[str, str | tuple[str, ...]]:
    """Return the partitions whose offsets were refused, as librdkafka lists them."""
    found = (match for event in timeline.evidence(one) for match in _PLACE.finditer(event.message))
    names = tuple(sorted({f"{match['topic']}-{match['number']}" for match in found}))
    if not names or one.subject.get("topic-partition"):
        return {}
    return {"topic-partition": names[0]} if len(names) == 1 else {"topic-partitions": names[:_LISTED]}
