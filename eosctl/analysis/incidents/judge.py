"""All detectors, and the judge who strikes out what another incident already explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.analysis.incidents.applications import find_failed_streams, find_slow_processing, find_unclean_stops
from eosctl.analysis.incidents.fencing import find_fenced_producers
from eosctl.analysis.incidents.refusals import find_denials, find_failed_log_dirs, find_large_records, find_settings
from eosctl.analysis.incidents.servers import find_crashes, find_outages, find_planned_restarts, find_shortages
from eosctl.analysis.incidents.story import LogStory
from eosctl.analysis.incidents.writes import (
    find_hanging_transactions,
    find_refused_writes,
    find_sequence_gaps,
    find_zombie_writers,
)
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary

BEFORE_MS: Final = 5_000
AFTER_MS: Final = 30_000


class Explains(NamedTuple):
    """A cause that makes consequences of their own.

    Attributes:
        cause: Kind of the incident that explains.
        consequences: Kinds that it explains when they begin during it or soon after.
        same_subject: Whether they must name the same transactional id or group.
    """

    cause: str
    consequences: frozenset[str]
    same_subject: bool = False


_BY_PRODUCER: Final = frozenset(["invalid_producer_epoch", "late_append_refused", "out_of_order_sequence"])

_CLUSTER_ECHOES: Final = frozenset(
    ["transaction_timeout", "producer_fenced", "invalid_producer_epoch", "out_of_order_sequence", "unclean_stop"]
)

EXPLANATIONS: Final = (
    Explains("not_enough_replicas", _CLUSTER_ECHOES | {"coordinator_failover", "controller_failover", "broker_crash"}),
    Explains("log_dir_failure", _CLUSTER_ECHOES | {"not_enough_replicas"}),
    Explains("coordinator_failover", _CLUSTER_ECHOES),
    Explains("controller_failover", _CLUSTER_ECHOES),
    Explains("broker_crash", _CLUSTER_ECHOES),
    Explains("broker_restart_clean", _CLUSTER_ECHOES | {"not_enough_replicas"}),
    Explains("hanging_transaction", frozenset({"transaction_timeout", "invalid_producer_epoch"}), same_subject=True),
    Explains(
        "poll_interval_exceeded",
        frozenset({"transaction_timeout", "producer_fenced", "unclean_stop"}),
        same_subject=True,
    ),
    Explains("task_migrated", frozenset({"transaction_timeout", "producer_fenced", "unclean_stop"}), same_subject=True),
    Explains("producer_fenced", frozenset({"invalid_producer_epoch", "unclean_stop"}), same_subject=True),
    Explains("transaction_timeout", frozenset({"invalid_producer_epoch", "unclean_stop"}), same_subject=True),
    Explains("state_store_corrupt", frozenset({"streams_uncaught_exception", "task_corrupted"}), same_subject=True),
    Explains("task_corrupted", frozenset({"unclean_stop"}), same_subject=True),
)
"""Causes before consequences. A duplicate transactional id is never a consequence, whatever else happens."""


def judge_incidents(events: Iterable[LogEvent], sources: Sequence[SourceSummary] = ()) -> tuple[Incident, ...]:
    """Find what went wrong in a set of logs.

    Args:
        events: The events of a scan, in any order; those without a time are not used.
        sources: The summaries of the same files.

    Returns:
        The incidents that no other one explains, earliest first.
    """
    found = list(_all(LogStory(events, sources)))
    kept = [one for one in found if not any(_explains(other, one) for other in found if other is not one)]
    return tuple(sorted(_merged(kept), key=lambda one: (one.t_start_ms, one.kind, str(one.subject))))


def _merged(incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Put an incident without a transactional id to the one of the same kind and time that has one.

    A client that does not print its id and the broker that does tell of the same fault.
    """
    named = [one for one in incidents if one.subject.get("transactional.id")]
    extra: dict[int, list[Incident]] = {}
    for one in incidents:
        if one.subject.get("transactional.id") or one.kind not in _BY_PRODUCER:
            continue
        home = next((other for other in named if _same_fault(one, other)), None)
        if home is not None:
            extra.setdefault(id(home), []).append(one)
    absorbed = {id(one) for group in extra.values() for one in group}
    for one in incidents:
        if id(one) not in absorbed:
            group = [one, *extra.get(id(one), ())]
            yield one._replace(
                t_start_ms=min(part.t_start_ms for part in group),
                t_end_ms=max(part.t_end_ms for part in group),
                evidence=tuple(dict.fromkeys(place for part in group for place in part.evidence)),
            )


def _same_fault(first: Incident, second: Incident) -> bool:
    alike = (first.kind, first.root_cause) == (second.kind, second.root_cause)
    return alike and first.t_start_ms <= second.t_end_ms + BEFORE_MS and second.t_start_ms <= first.t_end_ms + BEFORE_MS


def _all(story: LogStory) -> Iterator[Incident]:
    outages = find_outages(story)
    yield from find_planned_restarts(outages)
    yield from find_shortages(story, outages)
    yield from find_crashes(story, outages)
    yield from find_fenced_producers(story)
    yield from find_denials(story)
    yield from find_settings(story)
    yield from find_large_records(story)
    yield from find_failed_log_dirs(story)
    yield from find_hanging_transactions(story)
    yield from find_refused_writes(story)
    yield from find_zombie_writers(story)
    yield from find_sequence_gaps(story, outages)
    yield from find_slow_processing(story)
    yield from find_failed_streams(story)
    yield from find_unclean_stops(story)


def _explains(cause: Incident, consequence: Incident) -> bool:
    if consequence.root_cause == "duplicate-transactional-id":
        return False
    for rule in EXPLANATIONS:
        if rule.cause == cause.kind and consequence.kind in rule.consequences:
            during = cause.t_start_ms - BEFORE_MS <= consequence.t_start_ms <= cause.t_end_ms + AFTER_MS
            return during and (not rule.same_subject or _share_subject(cause, consequence))
    return False


def _share_subject(first: Incident, second: Incident) -> bool:
    names = ("transactional.id", "group", "application.id", "producerId")
    if any(first.subject.get(name) and first.subject.get(name) == second.subject.get(name) for name in names):
        return True
    # A Streams application's id is its group too, and the start of its threads' transactional ids.
    owners = [
        {str(one.subject[name]) for name in ("application.id", "group") if name in one.subject}
        for one in (first, second)
    ]
    if owners[0] & owners[1]:
        return True
    owner = first.subject.get("application.id") or first.subject.get("group")
    named = second.subject.get("transactional.id")
    return isinstance(owner, str) and isinstance(named, str) and named.startswith(f"{owner}-")
