"""Name the cause of a failed transaction by librdkafka's own sentence about it.

``rd_kafka_txn_set_abortable_error`` logs the state, the reason, and the name of the error in parentheses. The records
before it, of the thread of the coordinator, name the request and how long it waited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

_KIND: Final = "producer_error"
_LOST: Final = "commit_lost"
_NOT_MAPPED: Final = re.compile(
    r"\b(?:InvalidPidMapping|INVALID_PRODUCER_ID_MAPPING|producer id which is not currently assigned)"
)
_OF_COMMITTABLE: Final = (
    "The coordinator has removed the producer id of the committable, so each restart from this checkpoint fails again: "
    "stop the job first. Start it from a later checkpoint, or without this committable, and restore its records from "
    "the source. Raise transactional.id.expiration.ms above the longest time between a savepoint and its use."
)
_UNNAMED: Final = "unexplained"
_BEFORE_MS: Final = 5_000
_SENTENCE: Final = re.compile(
    r"Current transaction failed in state (?P<state>\w{1,40}): [^\n]{0,400}?\((?P<error>_?[A-Z][A-Z_]{2,60})\b"
)
_REQUEST: Final = re.compile(r"Timed out (?P<request>\w{1,40})Request in flight \(after (?P<ms>\d{1,9})ms")
_CHECK: Final = (
    "Abort the transaction and repeat its work; the producer remains usable. Check the coordinator: its load, "
    "its disk, and the network to it."
)


class _Cause(NamedTuple):
    """The errors of a cause, its slug, and what it means."""

    errors: frozenset[str]
    slug: str
    meaning: str
    next_step: str = _CHECK


_CAUSES: Final = (
    _Cause(
        frozenset({"_TIMED_OUT", "_TIMED_OUT_QUEUE", "REQUEST_TIMED_OUT"}),
        "coordinator-did-not-answer",
        "The transaction coordinator did not answer in time.",
    ),
    _Cause(
        frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"}),
        "coordinator-not-available",
        "The transaction coordinator was not available, or had moved.",
    ),
    _Cause(
        frozenset({"PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "_FENCED"}),
        "takeover-or-timeout",
        "The producer's epoch is no longer valid: its transaction timed out, or another producer took its id.",
        "Find the rollback in the coordinator's log: eosctl txn blame. Create a new producer if the error is fatal.",
    ),
)


def name_failed_transactions(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a failed transaction has the cause that its record names, and the request that timed out."""
    for one in incidents:
        if one.kind == _LOST and any(map(_is_not_mapped, timeline.evidence(one))):
            yield one._replace(next_step=_OF_COMMITTABLE)
            continue
        named = _named(timeline, one) if (one.kind, one.root_cause) == (_KIND, _UNNAMED) else None
        yield named or one


def _is_not_mapped(event: LogEvent) -> bool:
    return any(_NOT_MAPPED.search(text) for text in (event.message, event.fields.get("thrown", "")))


def _named(timeline: LogTimeline, one: Incident) -> Incident | None:
    found = [(event, match) for event in timeline.evidence(one) if (match := _SENTENCE.search(event.message))]
    causes = {id(cause): cause for _, match in found for cause in _CAUSES if match["error"] in cause.errors}
    if len(causes) != 1 or len({match["error"] for _, match in found}) != 1:
        return None
    cause = next(iter(causes.values()))
    first, match = found[0]
    before = timeline.log_between(first, time_of(first) - _BEFORE_MS, time_of(first))
    requests = _matches(before, _REQUEST)
    request = next((f" The client waited {int(found['ms']):,} ms for {found['request']}." for _, found in requests), "")
    places = evidence_of([event for event, _ in requests])
    return one._replace(
        root_cause=cause.slug,
        confidence=max(one.confidence, 0.8 if request or cause.slug != _CAUSES[0].slug else 0.7),
        t_start_ms=min([one.t_start_ms, *(time_of(event) for event, _ in requests)]),
        evidence=tuple(dict.fromkeys((*places, *one.evidence)))[:MAX_EVIDENCE_COUNT],
        explanation=f"{one.explanation} {cause.meaning}{request}",
        next_step=cause.next_step,
    )


def _matches(events: Sequence[LogEvent], pattern: re.Pattern[str]) -> list[tuple[LogEvent, re.Match[str]]]:
    return [(event, found) for event in events if (found := pattern.search(event.message))]
