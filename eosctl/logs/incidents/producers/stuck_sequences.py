"""Detect producers that a partition refuses for their sequence numbers until their records expire.

The Java client retries OUT_OF_ORDER_SEQUENCE_NUMBER while an earlier batch may still arrive, so a single record of it
is not a fault. After a batch that expired, none arrives: each retry gets the same answer until the records expire, too.
The number of attempts that are left shows how often one batch was refused: the client logs it with each retry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.program_names import program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

REFUSALS: Final = 3
"""Minimum number of refusals: an earlier batch arrives within fewer retries."""
EXPIRED_MS: Final = 120_000
"""Maximum time between refusals and the expiry of their records: the default delivery.timeout.ms."""
PAUSE_MS: Final = 3_600_000
"""A producer that sends rarely receives the same refusal after each pause."""
_ATTEMPTS: Final = re.compile(r"retrying \((\d{1,10}) attempts left\)")
_NEXT: Final = (
    "Create a new producer: until then, records of this partition continue to expire. Send what expired again. Keep "
    "delivery.timeout.ms above the time that a restart or a change of leaders takes, so that no batch expires in it."
)


def find_stuck_sequences(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the partitions that refuse a client's batches for their sequence numbers until the records expire."""
    refused = [event for event in timeline.client_events("OUT_OF_ORDER_SEQUENCE") if "retrying (" in event.message]
    keyed = ((f"{timeline.log_of(event)}\0{event.fields.get('partition', '')}", event) for event in refused)
    for group in by_key(keyed).values():
        for episode in episodes(group, PAUSE_MS):
            first, last = episode[0], episode[-1]
            expiries = timeline.log_between(
                first, time_of(first) - EXPIRED_MS, time_of(last) + EXPIRED_MS, ("TIMEOUT_SEND",)
            )
            expired = [event for event in expiries if _is_of(event, first)]
            after = within(expired, time_of(episode[min(REFUSALS, len(episode)) - 1]), time_of(last) + EXPIRED_MS)
            if len(episode) >= REFUSALS and (after or _is_one_batch(episode)):
                yield _incident(timeline, episode, expired)


def _is_of(event: LogEvent, refused: LogEvent) -> bool:
    return event.fields.get("partition", "") in ("", refused.fields.get("partition", ""))


def _is_one_batch(episode: Sequence[LogEvent]) -> bool:
    """Return whether a partition refused the same batch for longer than an earlier one can take to arrive."""
    left = [int(found[1]) for event in episode if (found := _ATTEMPTS.search(event.message))]
    has_lasted = time_of(episode[-1]) - time_of(episode[0]) >= EXPIRED_MS
    return has_lasted and len(left) == len(episode) and left[0] - left[-1] >= REFUSALS and left == sorted(left)[::-1]


def _incident(timeline: LogTimeline, episode: Sequence[LogEvent], expired: Sequence[LogEvent]) -> Incident:
    first = episode[0]
    partition, client = first.fields.get("partition", ""), first.fields.get("client_id", "")
    before = [event for event in expired if time_of(event) < time_of(first)]
    gap = " Records that had expired just before left the gap." if before else ""
    who = client or program_of(timeline, first)
    end = "until the records expired: they are not written."
    if not expired:
        end = f"for {duration_text(time_of(episode[-1]) - time_of(first))}: its records are not written meanwhile."
    return incident(
        "out_of_order_sequence",
        "sequence-gap",
        {
            "transactional.id": timeline.transactional_id(first),
            "topic-partition": partition,
            "client.id": client,
            "application": first.application,
        },
        sorted((*before, *episode, *expired), key=time_of),
        f"{partition or 'A partition'} refuses each batch of {who} for its sequence number: one before it is "
        f"missing.{gap} The client's retries got the same answer ({count_text(len(episode), 'time')}), {end}",
        _NEXT,
        confidence=0.85,
    )
