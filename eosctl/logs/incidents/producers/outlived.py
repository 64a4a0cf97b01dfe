"""Describe transactions that were open for longer than their timeout, as the program's own words or records show.

A coordinator's record of the rollback makes it certain. Redpanda logs the expiry with the producer id alone, and the
transactional id with the same producer id when it aborts the transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.producers.open_requests import open_requests
from eosctl.logs.incidents.producers.refused_producers import subject_of
from eosctl.logs.incidents.timeline.durations import Overdue, longest_ms
from eosctl.logs.incidents.timeline.evidence import incident, short_text
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.pauses import paused_text, pauses_before
from eosctl.logs.incidents.timeline.program_names import program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

ABORTED_MS: Final = 30_000
"""Maximum time from an expiry to the last record of the abort that it causes."""
_LIKELY: Final = 0.75
_CERTAIN: Final = 0.95
_BY_DEFAULT: Final = 0.6
_QUOTED_CHARACTERS: Final = 160
_PAUSED: Final = "Find what stopped the process (the garbage collector, a suspended or throttled container, swapping)"
_WAITED: Final = "Find why that broker did not answer (its log of this time, its disk, and the network to it)"
_ABORTS: Final[tuple[EventCategory, ...]] = ("COORDINATOR_REFUSED", "INVALID_PRODUCER_EPOCH")
"""Records of Redpanda about an abort that name the transactional id and the producer id."""
_OTHERS: Final = (
    " A second instance with the same id looks the same: the transaction coordinator's server.log shows which it was."
)


def expirations_of(timeline: LogTimeline, transactional_id: str) -> Sequence[LogEvent]:
    """Return the expiries of an id's producers that name only the producer id, in order of time."""
    aborts = timeline.server_events_about(transactional_id, *_ABORTS, having="producer_id")
    producers = {event.fields["producer_id"] for event in aborts}
    named = (one for name in producers for one in timeline.with_value("producer_id", name, "TXN_TIMEOUT_ABORT"))
    return sorted((one for one in named if not one.fields.get("transactional_id")), key=time_of)


def outlived(
    timeline: LogTimeline,
    transactional_id: str,
    overdue: Overdue,
    events: Sequence[LogEvent],
    partition: str = "",
    rollback: LogEvent | None = None,
) -> Incident:
    """Return the incident of a producer that was refused after more time than its transaction timeout allows.

    Args:
        timeline: The logs.
        transactional_id: The producer's id; empty if no record names it.
        overdue: How long its transaction was open.
        events: Its refusals, earliest first.
        partition: The partition of a refused write.
        rollback: The coordinator's record of the rollback; None if no log here has it.
    """
    who = transactional_id or program_of(timeline, events[-1])
    pauses = pauses_before(timeline, events[0])
    waits = () if pauses else open_requests(timeline, events, time_of(events[0]))
    decided = [] if rollback is None else [rollback, *_aborts_after(timeline, transactional_id, rollback)]
    if rollback is not None:
        aborted = f"the coordinator had aborted it at {time_text(time_of(rollback))}, as its log shows"
    elif overdue.is_default:
        aborted = "most likely the coordinator had aborted it. No record here states this client's timeout"
    else:
        aborted = "most likely the coordinator had aborted it"
    return incident(
        "transaction_timeout",
        "transaction-longer-than-its-timeout",
        {**subject_of(timeline, transactional_id, events[-1]), "topic-partition": partition},
        [*decided, *pauses, *waits[:1], *overdue.records, *((overdue.step,) if overdue.step else ()), *events],
        f"A transaction of {who} had been open for {'' if overdue.records else 'at least '}"
        f"{duration_text(overdue.open_ms)} when it was refused, longer than "
        f"{'the default timeout' if overdue.is_default else 'its timeout'} of {duration_text(overdue.allowed_ms)}: "
        f"{aborted}.{paused_text(pauses)}{_of_wait(waits)}{_of_step(overdue.step)}",
        f"{_PAUSED if pauses else _WAITED if waits else 'Make the transactions shorter'}, or raise "
        "transaction.timeout.ms of this client." + ("" if rollback is not None else _OTHERS),
        confidence=_CERTAIN if rollback is not None else _BY_DEFAULT if overdue.is_default else _LIKELY,
        t_start_ms=min(map(time_of, (*decided[:1], *waits[:1], events[0]))),
    )


def _aborts_after(timeline: LogTimeline, transactional_id: str, rollback: LogEvent) -> Sequence[LogEvent]:
    aborts = timeline.server_events_about(transactional_id, *_ABORTS)
    return within(aborts, time_of(rollback), time_of(rollback) + ABORTED_MS)


def _of_wait(waits: Sequence[LogEvent]) -> str:
    """Return the sentence about a request that had no answer for most of the transaction's timeout; empty without."""
    if not waits:
        return ""
    waited = duration_text(longest_ms(waits[0]))
    return f' A broker did not answer its client for {waited} of that time: "{short_text(waits[0].message)}".'


def _of_step(step: LogEvent | None) -> str:
    words = " ".join(step.message.split())[:_QUOTED_CHARACTERS] if step else ""
    return f' The step that took so long, in its words: "{words}".' if words else ""
