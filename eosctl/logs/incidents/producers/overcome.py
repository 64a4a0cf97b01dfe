"""Describe a producer that was refused for its epoch and then raised it by itself: no other one had taken its id.

A coordinator grants InitProducerId with an epoch only to the producer that has the current one, or the last one before
it (``TransactionMetadata``); after another instance initialized the id, it answers PRODUCER_FENCED.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.producers.refused_producers import subject_of
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

OVERCOME_MS: Final = 120_000
"""Maximum time from a refusal to the new epoch: the abort and the initialization have a minute each."""


def own_renewal(timeline: LogTimeline, burst: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the records in which a refused client raised its epoch; empty if it did not, or as a new producer."""
    client = next((name for event in burst if (name := event.fields.get("client_id"))), "")
    refused = [event for event in burst if event.category == "INVALID_PRODUCER_EPOCH"]
    if not client or len(refused) < len(burst):
        return ()
    last = burst[-1]
    later = timeline.log_between(
        last,
        time_of(burst[0]),
        time_of(last) + OVERCOME_MS,
        ("CLIENT_START", "EPOCH_BUMP", "INIT_PRODUCER_ID", "INIT_REQUESTED"),
    )
    own = [event for event in later if event.fields.get("client_id") == client]
    is_renewed = [event.category for event in own[:2]] == ["EPOCH_BUMP", "INIT_PRODUCER_ID"]
    return own[:2] if is_renewed else ()


def overcame(
    timeline: LogTimeline, transactional_id: str, burst: Sequence[LogEvent], renewal: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer that was refused and continued with a higher epoch of its own."""
    who = transactional_id or opening(program_of(timeline, burst[0]))
    return incident(
        "transaction_timeout",
        "transaction-longer-than-its-timeout",
        subject_of(timeline, transactional_id, burst[0]),
        [*burst, *renewal],
        f"{who} was refused for its epoch, and the coordinator gave it a higher one at "
        f"{time_text(time_of(renewal[-1]))}. So no other instance had taken its id: most likely its transaction had "
        "timed out, and the coordinator had rolled it back. Its records are aborted.",
        "Check that the application processes the records of the aborted transaction again. Find what its transaction "
        "waited for in its log before the refusal, and compare its duration with transaction.timeout.ms.",
        severity=Severity.WARNING,
        confidence=0.75,
        t_end_ms=max(map(time_of, burst)),
    )
