"""Detect transactions that the transactions tool describes as open for longer than their timeout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import name_some

LATE_MS: Final = 60_000
"""Coordinators search for timed-out transactions every 10 s, and their clocks differ from the tool's."""
AFTER_MS: Final = 600_000
_ONGOING: Final = "Ongoing"


_REFUSED: Final = ("CONCURRENT_TRANSACTIONS", "TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN", "TIMEOUT_INIT_PID")
"""What a client logs while a former transaction of its id has not been completed."""
_NAMES: Final = re.compile(r"[,\s]+")


def find_overdue_transactions(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield described transactions that their coordinators should have aborted or completed."""
    offline = timeline.of("PARTITION_WITHOUT_LEADER")
    for event in timeline.of("LONG_TRANSACTION"):
        timeout_ms, open_ms = (int(event.fields.get(name, 0)) for name in ("transaction_timeout_ms", "open_ms"))
        if timeout_ms > 0 and open_ms > timeout_ms + LATE_MS:
            partitions = set(_NAMES.split(event.message))
            blocked = [one for one in offline if one.fields.get("partition") in partitions]
            # The row has the time at which the transaction began.
            later = within(timeline.client_events(*_REFUSED), time_of(event), time_of(event) + open_ms + AFTER_MS)
            name = event.fields.get("transactional_id", "")
            echoes = [one for one in later if timeline.transactional_id(one) == name]
            yield _overdue(event, timeout_ms, open_ms, blocked, echoes)


def _overdue(
    event: LogEvent, timeout_ms: int, open_ms: int, blocked: Sequence[LogEvent], echoes: Sequence[LogEvent]
) -> Incident:
    fields = event.fields
    is_ongoing = fields.get("state") == _ONGOING
    name = fields.get("transactional_id", "")
    ages = f"{open_ms / 60_000:,.0f} min, longer than its timeout of {timeout_ms / 60_000:,.0f} min"
    partitions = sorted({one.fields.get("partition", "") for one in blocked})
    brokers = sorted({broker for one in blocked for broker in one.fields.get("replicas", "").split(",")} - {""})
    is_blocked = bool(blocked) and not is_ongoing
    return incident(
        "open_transaction",
        "not-aborted-at-its-timeout"
        if is_ongoing
        else "partition-without-leader"
        if blocked
        else "markers-not-written",
        {
            "transactional.id": name,
            "topic-partition": partitions[0] if is_blocked else fields.get("partition", ""),
            "producerId": fields.get("producer_id", ""),
            "producerEpoch": fields.get("producer_epoch", ""),
            "broker": fields.get("coordinator", ""),
            "replicas": tuple(brokers) if is_blocked else (),
        },
        [event, *(blocked if is_blocked else ()), *echoes],
        f"{name} has had a transaction open for {ages}: its coordinator has "
        + (
            "not aborted it"
            if is_ongoing
            else f"not written its marker to {', '.join(partitions)}, which has no leader"
            if blocked
            else "not written all of its markers"
        )
        + ". read_committed readers wait for its end, and its client cannot begin another transaction.",
        f"Start {name_some('broker', brokers)} with the replicas of the partition: the coordinator then writes the "
        "marker by itself. Do not abort the transaction: it is decided."
        if is_blocked
        else "Check the coordinator's log, and the leaders and in-sync replicas of __transaction_state and of the "
        "partitions of the transaction. If its broker is healthy, move the coordinator by a restart.",
        confidence=0.95 if is_blocked else 0.8,
    )
