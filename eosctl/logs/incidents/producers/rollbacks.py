"""Detect transactions that coordinators rolled back after a timeout. They are certain without any other log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import last_before, within
from eosctl.logs.incidents.timeline.restated import has_failed
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text

_BURST_MS: Final = 30_000
_NAMING: Final = ("INIT_PRODUCER_ID", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
_REFUSALS: Final = ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
_RESUMED_MS: Final = 600_000
_CLOCKS_MS: Final = 1_500
_RESUMED: Final = 0.75
"""The client lived on, so it neither died nor hung; what it waited for is in its own log."""
_DOUBT: Final = 0.5
"""The rollback is certain, but not the reason why the client did not end its transaction."""


def find_rollbacks(timeline: LogTimeline, refused: Sequence[Incident]) -> Iterator[Incident]:
    """Yield the rollbacks that no other incident has as evidence.

    Args:
        timeline: The logs.
        refused: The incidents of clients that were refused after a rollback.
    """
    known = {(place.file, place.offset) for one in refused for place in one.evidence}
    of_time = (one for one in timeline.of("TXN_TIMEOUT_ABORT") if (one.file, one.offset) not in known)
    rollbacks = [one for one in of_time if not has_failed(timeline, one)]
    for transactional_id, events in by_key((_owner(timeline, one), one) for one in rollbacks).items():
        for burst in episodes(events, _BURST_MS):
            yield _rolled_back(timeline, transactional_id, burst)


def decided_before(
    timeline: LogTimeline, decisions: Sequence[LogEvent], victim: LogEvent, since_ms: int
) -> Sequence[LogEvent]:
    """Return the rollback with which a coordinator's decisions about an id end before a period; empty without one.

    A client that stands still for an hour is refused with its first request after it, unless it has a new epoch since.

    Args:
        timeline: The logs.
        decisions: What coordinators logged about the id, in order of time.
        victim: The refusal.
        since_ms: The beginning of the period.
    """
    last = last_before(decisions, since_ms)
    if last is None or last.category != "TXN_TIMEOUT_ABORT":
        return ()
    own = timeline.own_inits(victim).until(time_of(victim))
    return () if any(time_of(event) > time_of(last) for event in own) else (last,)


def _owner(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the transactional id of a rollback; of a producer that only its id names, the one in other records."""
    if named := event.fields.get("transactional_id", ""):
        return named
    producer = event.fields.get("producer_id", "")
    named_ids = {
        one.fields.get("transactional_id", "") for one in timeline.with_value("producer_id", producer, *_NAMING)
    }
    return named_ids.pop() if producer and len(named_ids) == 1 else ""


def _refused_after(timeline: LogTimeline, transactional_id: str, rollback: LogEvent) -> Sequence[LogEvent]:
    """Return the refusals of a client that resumed after a rollback, unless the id was initialized again before."""
    if not transactional_id:
        return ()
    end_ms = time_of(rollback) + _RESUMED_MS
    inits = within(timeline.server_events_about(transactional_id, "INIT_PRODUCER_ID"), time_of(rollback) + 1, end_ms)
    until_ms = time_of(inits[0]) - 1 if inits else end_ms
    refusals = within(timeline.client_events(*_REFUSALS), time_of(rollback) - _CLOCKS_MS, until_ms)
    return [one for one in refusals if timeline.transactional_id(one) == transactional_id]


def _rolled_back(timeline: LogTimeline, transactional_id: str, burst: Sequence[LogEvent]) -> Incident:
    refused = _refused_after(timeline, transactional_id, burst[-1])
    if refused:
        waited_ms = max(0, time_of(refused[0]) - time_of(burst[-1]))
        return incident(
            "transaction_timeout",
            "process-pause-beyond-transaction-timeout",
            {
                "transactional.id": transactional_id,
                "producerId": timeline.value_in_log(refused[0], "producer_id"),
                "topic-partition": timeline.value_in_log(refused[0], "partition"),
                "application": refused[0].application,
            },
            [*burst, *refused],
            f"The coordinator rolled back the open transaction of {transactional_id} at its timeout; its client "
            f"resumed {duration_text(waited_ms)} later and was refused. No other producer had taken the id.",
            "Find what the program waited for in its log before the refusal (a slow call, GC, a stopped container).",
            confidence=_RESUMED,
        )
    who = transactional_id or f"producer {burst[0].fields.get('producer_id', '')}".strip()
    has_client = transactional_id in timeline.ids_of_clients
    return incident(
        "transaction_timeout",
        "process-pause-beyond-transaction-timeout",
        {
            "transactional.id": transactional_id,
            "producerId": "" if transactional_id else burst[0].fields.get("producer_id", ""),
        },
        burst,
        f"The coordinator rolled back the open transaction of {who} at its timeout. Most likely the "
        + (
            "client stalled; one that died or hangs looks the same."
            if has_client
            else "client stalled; one that died or hangs looks the same, and no client's log here shows which it was."
        ),
        "Find what stopped the process in its log of this time (GC, a stopped container, a slow call)."
        if has_client
        else "Add the client's log of this time, and find what stopped the process.",
        confidence=_DOUBT,
    )
