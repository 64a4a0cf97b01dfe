"""Detect producers that a partition refuses for their sequence numbers until their records expire.

The Java client retries OUT_OF_ORDER_SEQUENCE_NUMBER while an earlier batch may still arrive, so a single record of it
is not a fault. After a batch that expired, none arrives: each retry gets the same answer until the records expire, too.
The number of attempts that are left shows how often one batch was refused: the client logs it with each retry.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

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
ANSWER_MS: Final = 2_000
"""Maximum time between a broker's refusal and the client's record of it."""
PAUSE_MS: Final = 3_600_000
"""A producer that sends rarely receives the same refusal after each pause."""
_ATTEMPTS: Final = re.compile(r"retrying \((\d{1,10}) attempts left\)")
_NEXT: Final = (
    "Create a new producer: until then, records of this partition continue to expire. Send what expired again. Keep "
    "delivery.timeout.ms above the time that a restart or a change of leaders takes, so that no batch expires in it."
)


class StuckSequence(NamedTuple):
    """A client's batches that a partition refuses until they expire.

    Attributes:
        refused: The client's records of refusals.
        expired: Its records of expired batches.
        answers: The broker's records of the same refusals, also of those that the client's log lacks.
    """

    refused: Sequence[LogEvent]
    expired: Sequence[LogEvent]
    answers: Sequence[LogEvent]


def find_stuck_sequences(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the partitions that refuse a client's batches for their sequence numbers until the records expire."""
    return (_incident(timeline, one) for one in stuck_sequences(timeline))


def stuck_sequences(timeline: LogTimeline) -> Iterator[StuckSequence]:
    """Yield the refusals of each client and partition that last until the records expire."""
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
                yield StuckSequence(episode, expired, _answers_to(timeline, episode, time_of((after or episode)[-1])))


def _answers_to(timeline: LogTimeline, refused: Sequence[LogEvent], end_ms: int) -> Sequence[LogEvent]:
    """Return a partition's refusals of the producer id that it refused most often when the client was refused."""
    partition, start_ms = refused[0].fields.get("partition", ""), time_of(refused[0]) - ANSWER_MS
    if not partition:
        return ()
    answers = within(timeline.server_events("OUT_OF_ORDER_SEQUENCE"), start_ms, max(end_ms, time_of(refused[-1])))
    own = [event for event in answers if event.fields.get("partition", "").rpartition(":")[2] == partition]
    votes = Counter[str]()
    for event in refused:
        near = within(own, time_of(event) - ANSWER_MS, time_of(event) + ANSWER_MS)
        votes.update({one.fields.get("producer_id", "") for one in near})
    producers = [producer_id for producer_id, _ in votes.most_common(1)]
    return [event for event in own if event.fields.get("producer_id", "") in producers]


def _is_of(event: LogEvent, refused: LogEvent) -> bool:
    return event.fields.get("partition", "") in ("", refused.fields.get("partition", ""))


def _is_one_batch(episode: Sequence[LogEvent]) -> bool:
    """Return whether a partition refused the same batch for longer than an earlier one can take to arrive."""
    left = [int(found[1]) for event in episode if (found := _ATTEMPTS.search(event.message))]
    has_lasted = time_of(episode[-1]) - time_of(episode[0]) >= EXPIRED_MS
    return has_lasted and len(left) == len(episode) and left[0] - left[-1] >= REFUSALS and left == sorted(left)[::-1]


def _incident(timeline: LogTimeline, stuck: StuckSequence) -> Incident:
    first = stuck.refused[0]
    partition, client = first.fields.get("partition", ""), first.fields.get("client_id", "")
    before = [event for event in stuck.expired if time_of(event) < time_of(first)]
    gap = " Records that had expired just before left the gap." if before else ""
    who = client or program_of(timeline, first)
    end = "until the records expired: they are not written."
    if not stuck.expired:
        duration = duration_text(time_of(stuck.refused[-1]) - time_of(first))
        end = f"for {duration}: its records are not written meanwhile."
    answer = next((event for event in stuck.answers if event.fields.get("sequence")), None)
    numbers = ""
    if answer is not None:
        producer = f" of producer id {named}" if (named := answer.fields.get("producer_id")) else ""
        last = answer.fields.get("current_sequence", "?")
        numbers = f" The broker refuses sequence {answer.fields.get('sequence')}{producer} after {last}."
    return incident(
        "out_of_order_sequence",
        "sequence-gap",
        {
            "transactional.id": timeline.transactional_id(first),
            "producerId": next((named for one in stuck.answers if (named := one.fields.get("producer_id"))), ""),
            "topic-partition": partition,
            "client.id": client,
            "application": first.application,
            "broker": timeline.node_of(stuck.answers[0].application) if stuck.answers else "",
        },
        sorted((*before, *stuck.refused, *stuck.expired, *stuck.answers), key=time_of),
        f"{partition or 'A partition'} refuses each batch of {who} for its sequence number: one before it is "
        f"missing.{gap}{numbers} The client's retries got the same answer ({count_text(len(stuck.refused), 'time')}), "
        f"{end}",
        _NEXT,
        confidence=0.85,
    )
