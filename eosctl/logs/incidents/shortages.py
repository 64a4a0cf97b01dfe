"""What could not be written while brokers were away: partitions with fewer replicas in sync than they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from eosctl.logs.incidents.explained import CERTAIN
from eosctl.logs.incidents.quorum import FAILOVER_MS
from eosctl.logs.incidents.servers import Outage, first_of_each
from eosctl.logs.incidents.story import LogStory, episodes, incident, time_of
from eosctl.logs.incidents.trouble import FELT
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

SHORTAGE_GAP_MS = 30_000
SHORTAGE_MIN_MS = 3_000


def find_shortages(story: LogStory, outages: Sequence[Outage]) -> Iterator[Incident]:
    """Yield the times in which partitions had fewer replicas in sync than they need."""
    events = story.of("NOT_ENOUGH_REPLICAS")
    for episode in episodes(events, SHORTAGE_GAP_MS):
        start, end = time_of(episode[0]), time_of(episode[-1])
        away = [
            outage
            for outage in outages
            if outage.is_broker
            and outage.down_ms - SHORTAGE_GAP_MS <= end
            and (outage.up_ms or end) + FAILOVER_MS >= start
        ]
        # One that was back before it began may still have to catch up; one that was away is the nearer cause.
        away = [outage for outage in away if (outage.up_ms or end) >= start] or away
        crashed = [outage for outage in away if not outage.planned]
        if not crashed and end - start < SHORTAGE_MIN_MS:
            continue
        # Brokers that are restarted one after the other are not below min.insync.replicas for long; these were.
        causes = crashed or _away_together(away)
        brokers = tuple(sorted({outage.node for outage in causes or away}))
        shrunk = [event for event in story.of("ISR_SHRINK") if start - SHORTAGE_GAP_MS <= time_of(event) <= end]
        alone = [event for event in shrunk if "," not in event.fields.get("isr_after", ",")]
        topics = sorted({topic for event in (*episode, *alone) if (topic := _topic(event))})
        felt = [
            event
            for event in story.client_events(*FELT)
            if start <= time_of(event) <= end + SHORTAGE_GAP_MS
            and (event.exception or event.level in ("WARN", "ERROR"))
        ]
        yield incident(
            "not_enough_replicas",
            "brokers-down-below-min-isr",
            {"brokers": brokers, "topics": tuple(topics)},
            [*episode, *(event for outage in causes for event in outage.events), *first_of_each(story, felt)],
            f"Partitions of {', '.join(topics) or 'some topics'} had fewer replicas in sync than min.insync.replicas"
            + (f": broker {', '.join(brokers)} was down." if brokers else "."),
            "Bring the brokers back; transactions that waited end by themselves, those that timed out were aborted.",
            confidence=0.95 if crashed else 0.9 if causes else 0.6,
            t_start_ms=min([start, *(outage.down_ms for outage in causes)]),
            t_end_ms=end,
        )


def has_made(outage: Outage, shortages: Sequence[Incident]) -> bool:
    """Whether a stop certainly made one of the shortages, so that it is no news beside it."""
    return any(
        one.confidence >= CERTAIN
        and outage.node in one.subject["brokers"]
        and one.t_start_ms <= outage.down_ms <= one.t_end_ms
        for one in shortages
    )


def _away_together(outages: Sequence[Outage]) -> list[Outage]:
    """Return the brokers that were stopped so that several were away at a time, for longer than a hand-over takes."""
    return [
        outage
        for outage in outages
        if any(
            other.node != outage.node
            and min(_back_ms(outage), _back_ms(other)) - max(outage.down_ms, other.down_ms) >= SHORTAGE_MIN_MS
            for other in outages
        )
    ]


def _back_ms(outage: Outage) -> float:
    return inf if outage.up_ms is None else outage.up_ms


def _topic(event: LogEvent) -> str:
    return event.fields.get("partition", "").rpartition("-")[0]
