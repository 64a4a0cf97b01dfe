"""Describe ends of transactions that a coordinator refused because it had no such transaction open."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.logs.incidents.producers.refused_producers import subject_of
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import FATAL_LEVELS, LogEvent
from eosctl.text import duration_text


def not_open(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent]) -> Incident:
    """Return the incident of a producer that ended a transaction that its coordinator did not have open."""
    who = transactional_id or opening(program_of(timeline, events[-1]))
    is_dead = any(event.category == "CLIENT_FATAL" for event in events)
    dead = " The producer is dead: it refuses every further call." if is_dead else ""
    return incident(
        "transaction_request_refused",
        "transaction-not-open",
        subject_of(timeline, transactional_id, events[-1]),
        events,
        f"{who} was refused, because its coordinator has no open transaction for it: it was empty, it had ended "
        f"already, or it had timed out. No coordinator's log here shows which.{dead}",
        "Create a new producer, and process the records again from the last committed offsets. Add the transaction "
        "coordinator's server.log of this time, and compare the client's release with its known defects.",
        confidence=0.5,
    )


def empty_transaction(
    timeline: LogTimeline, transactional_id: str, begun: LogEvent, events: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer that ended a transaction too soon after its begin for a timeout."""
    who = transactional_id or opening(program_of(timeline, events[-1]))
    age_ms = time_of(events[0]) - time_of(begun)
    age = f"only {duration_text(age_ms)} before" if age_ms else "in the same moment"
    is_dead = any(event.level in FATAL_LEVELS or "atal " in event.message for event in events)
    return incident(
        "transaction_request_refused",
        "transaction-not-open",
        subject_of(timeline, transactional_id, events[-1]),
        [begun, *events],
        f"{who} ended a transaction that its coordinator did not have open (INVALID_TXN_STATE). Most likely it was "
        "empty: a coordinator opens a transaction with its first partition or group. It had begun "
        f"{age}, so it had not timed out.{' The error is fatal to the producer.' if is_dead else ''}",
        "Do not begin and commit a transaction without records or offsets, and upgrade the client: current ones end an "
        f"empty transaction without a request.{' Create a new producer.' if is_dead else ''}",
        confidence=0.75,
        t_start_ms=time_of(events[0]),
    )
