"""Detect transactions that the transactions tool describes as open for longer than their timeout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.logs.incidents.timeline import LogTimeline, incident
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

LATE_MS: Final = 60_000
"""Coordinators search for timed-out transactions every 10 s, and their clocks differ from the tool's."""
_ONGOING: Final = "Ongoing"


def find_overdue_transactions(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield described transactions that their coordinators should have aborted or completed."""
    for event in timeline.of("LONG_TRANSACTION"):
        timeout_ms, open_ms = (int(event.fields.get(name, 0)) for name in ("transaction_timeout_ms", "open_ms"))
        if timeout_ms > 0 and open_ms > timeout_ms + LATE_MS:
            yield _overdue(event, timeout_ms, open_ms)


def _overdue(event: LogEvent, timeout_ms: int, open_ms: int) -> Incident:
    fields = event.fields
    is_ongoing = fields.get("state") == _ONGOING
    name = fields.get("transactional_id", "")
    ages = f"{open_ms / 60_000:,.0f} min, longer than its timeout of {timeout_ms / 60_000:,.0f} min"
    return incident(
        "open_transaction",
        "not-aborted-at-its-timeout" if is_ongoing else "markers-not-written",
        {
            "transactional.id": name,
            "topic-partition": fields.get("partition", ""),
            "producerId": fields.get("producer_id", ""),
            "producerEpoch": fields.get("producer_epoch", ""),
            "broker": fields.get("coordinator", ""),
        },
        [event],
        f"{name} has had a transaction open for {ages}: its coordinator has "
        + ("not aborted it" if is_ongoing else "not written all of its markers")
        + ". read_committed readers wait for its end.",
        "Check the coordinator's log, and the leaders and in-sync replicas of __transaction_state and of the "
        "partitions of the transaction. If its broker is healthy, move the coordinator by a restart.",
        confidence=0.8,
    )
