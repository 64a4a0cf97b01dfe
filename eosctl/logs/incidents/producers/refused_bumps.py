"""Describe a producer that was fenced by the answer to its own request for a higher epoch.

A client asks its coordinator for a higher epoch when its sequence numbers no longer continue (KIP-360). A coordinator
grants that only with the epoch that it knows. If it has raised the epoch itself meanwhile, it answers like to an older
producer, and librdkafka may repeat the request without an end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.producers.refused_producers import subject_of
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, time_text

ANSWERED_MS: Final = 5_000
"""Maximum time from a request for a higher epoch to the refusal that answers it."""
LED_MS: Final = 120_000
"""Maximum time from a gap of the sequence numbers to the request: the client first waits for what is in flight."""
INITIALIZES: Final = re.compile(r"acquire transactional PID|\bInitProducerId")
"""A client's words about the request that initializes its producer."""


def own_bumps(timeline: LogTimeline, burst: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return a client's requests for a higher epoch that its refusals answer, and the gap that led to the first one."""
    first = burst[0]
    refused = [event for event in burst if INITIALIZES.search(event.message)]
    if len(refused) < len(burst):
        return ()
    bumps = timeline.log_between(first, time_of(first) - ANSWERED_MS, time_of(burst[-1]), ("EPOCH_BUMP",))
    if not bumps or time_of(bumps[0]) > time_of(first):
        return ()
    gaps = timeline.log_between(first, time_of(first) - LED_MS, time_of(first), ("OUT_OF_ORDER_SEQUENCE",))
    return [*gaps, *bumps]


def bump_refused(
    timeline: LogTimeline, transactional_id: str, requests: Sequence[LogEvent], burst: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer whose request for a higher epoch was refused."""
    who = transactional_id or opening(program_of(timeline, burst[0]))
    gaps = [event for event in requests if event.category == "OUT_OF_ORDER_SEQUENCE"]
    partition = next((name for event in gaps if (name := event.fields.get("partition"))), "")
    of_client = {name: value for event in reversed(requests) for name, value in event.fields.items()}
    led = (
        f"A batch of it{f' for {partition}' if partition else ''} was refused for its sequence number at "
        f"{time_text(time_of(gaps[0]))}, so it asked for a higher epoch. "
        if gaps
        else ""
    )
    return incident(
        "producer_fenced",
        "own-epoch-bump-refused",
        {
            **subject_of(timeline, transactional_id, burst[0]),
            "topic-partition": partition,
            "producerId": of_client.get("producer_id", ""),
        },
        [*requests, *burst],
        f"{who} was fenced by the answers to its own request for a higher epoch ({count_text(len(burst), 'time')}). "
        f"{led}Most likely the coordinator had raised the epoch already: for an attempt whose answer was lost, or "
        "because it had ended the transaction. A second producer with this id is possible, but no record here shows "
        "one. The transaction is not committed.",
        "Create a new producer, and process the records again from the last committed offsets: a client that repeats "
        "this request gets the same answer. Find why messages were lost before the gap, such as a purge or a time-out, "
        "and compare the client's release with its known defects.",
        confidence=0.6,
    )
