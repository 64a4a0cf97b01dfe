"""Transactions that coordinators rolled back for their age: certain, whatever other logs are at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline import LogTimeline, by_key, episodes, incident
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

_BURST_MS: Final = 30_000
_DOUBT: Final = 0.5
"""The rollback is certain, what kept the client from ending its transaction is not."""


def find_rollbacks(timeline: LogTimeline, told: Sequence[Incident]) -> Iterator[Incident]:
    """Yield the rollbacks that no other incident rests on.

    Args:
        timeline: The logs.
        told: The incidents of clients that were refused after a rollback.
    """
    known = {(place.file, place.offset) for one in told for place in one.evidence}
    rollbacks = [one for one in timeline.of("TXN_TIMEOUT_ABORT") if (one.file, one.offset) not in known]
    for transactional_id, events in by_key((one.fields.get("transactional_id", ""), one) for one in rollbacks).items():
        for burst in episodes(events, _BURST_MS):
            yield _rolled_back(timeline, transactional_id, burst)


def _rolled_back(timeline: LogTimeline, transactional_id: str, burst: Sequence[LogEvent]) -> Incident:
    has_client = transactional_id in timeline.ids_of_clients
    return incident(
        "transaction_timeout",
        "process-pause-beyond-transaction-timeout",
        {"transactional.id": transactional_id},
        burst,
        f"The coordinator rolled back the open transaction of {transactional_id} for its age. Most likely its process "
        + (
            "stood still; one that died or hangs looks the same."
            if has_client
            else "stood still; one that died or hangs looks the same, and no client's log here tells."
        ),
        "Look for what stopped the process in its log of this time (GC, a stopped container, a slow call)."
        if has_client
        else "Add the client's log of this time, and look for what stopped the process.",
        confidence=_DOUBT,
    )
