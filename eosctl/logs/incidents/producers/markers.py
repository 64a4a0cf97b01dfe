"""Detect transaction markers that a partition refused permanently, so that their transactions may never end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.producers.write_owners import owner_of
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

EPISODE_MS: Final = 600_000
NEAR_MS: Final = 5_000
"""Maximum time between a partition's refusal and the coordinator's record of it."""


def find_refused_markers(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the markers that partitions refused, one incident for each transaction and partition."""
    yield from _given_up(timeline)
    yield from _refused_only(timeline)


def _given_up(timeline: LogTimeline) -> Iterator[Incident]:
    refusals = by_key((_write(one), one) for one in timeline.server_events("INVALID_PRODUCER_EPOCH"))
    for markers in by_key((_transaction(one), one) for one in timeline.of("TXN_MARKER_REFUSED")).values():
        for episode in episodes(markers, EPISODE_MS):
            head = episode[0].fields
            transactional_id = head.get("transactional_id", "")
            own = within(
                refusals.get(_write(episode[0]), ()), time_of(episode[0]) - NEAR_MS, time_of(episode[-1]) + NEAR_MS
            )
            yield _refused(
                head,
                transactional_id,
                [*own, *episode],
                f"the {head.get('marker', 'transaction')} marker",
                "a newer epoch, and the coordinator gave up.",
                "eosctl txn describe shows the coordinator's state of the transaction.",
                0.85,
            )


def _refused_only(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the markers that only the partition's leader reports."""
    known = RefusedMarkers(timeline)
    refused = [
        (_write(one), one)
        for one in timeline.server_events("INVALID_PRODUCER_EPOCH")
        if _is_of_marker(one) and not known.is_given_up(one)
    ]
    for refusals in by_key(refused).values():
        for episode in episodes(refusals, EPISODE_MS):
            head = episode[0].fields
            transactional_id = owner_of(timeline, episode[0])
            yield _refused(
                head,
                transactional_id,
                episode,
                "a transaction marker",
                f"epoch {head.get('current_epoch', '?')}. The coordinator wrote it, not a client: only markers have a "
                f"transaction version (TV{head['transaction_version']}).",
                "Add the transaction coordinator's server.log of this time.",
                0.8,
            )


def _refused(
    head: Mapping[EventField, str],
    transactional_id: str,
    evidence: Sequence[LogEvent],
    marker: str,
    known: str,
    look: str,
    confidence: float,
) -> Incident:
    """Return a marker that a partition refused.

    Args:
        head: The fields of its first record.
        transactional_id: Whose transaction it ends; empty if no log names it.
        evidence: The records.
        marker: What was refused.
        known: What the partition knows, and what that shows.
        look: Where the next look goes.
        confidence: How sure the verdict is, from 0 to 1.
    """
    partition, producer, epoch = (head.get(name, "") for name in ("partition", "producer_id", "producer_epoch"))
    return incident(
        "transaction_marker_refused",
        "partition-knows-a-newer-epoch",
        {
            "transactional.id": transactional_id,
            "producerId": producer,
            "producerEpoch": epoch,
            "topic-partition": partition,
        },
        evidence,
        f"{partition or 'A partition'} refused {marker} of {transactional_id or 'a transaction'} (producer "
        f"{producer or '?'}, epoch {epoch or '?'}), because it knows {known} The transaction may stay open on the "
        "partition, or stuck in PrepareCommit or PrepareAbort (KAFKA-19999).",
        f"Run eosctl txn hanging: it finds the open transaction and the repair. {look}",
        confidence=confidence,
    )


def _is_of_marker(refusal: LogEvent) -> bool:
    """Return whether a refusal is about a marker, by its transaction version.

    The epochs of data batches are checked with the version -1 (``ProducerAppendInfo`` of Kafka 4.2 and later).
    """
    return "transaction_version" in refusal.fields


class RefusedMarkers:
    """The refusals of an epoch that are about coordinators' markers, not about a client's writes."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._markers = by_key((_write(one), one) for one in timeline.of("TXN_MARKER_REFUSED"))

    def have(self, refusal: LogEvent) -> bool:
        """Return whether a partition's refusal is about a marker."""
        return _is_of_marker(refusal) or self.is_given_up(refusal)

    def is_given_up(self, refusal: LogEvent) -> bool:
        """Return whether a partition's refusal is about a marker that a coordinator reports as given up."""
        markers = self._markers.get(_write(refusal), ())
        place = bisect_left(markers, time_of(refusal) - NEAR_MS, key=time_of)
        return place < len(markers) and time_of(markers[place]) <= time_of(refusal) + NEAR_MS


def _write(event: LogEvent) -> str:
    return "\0".join(event.fields.get(name, "") for name in ("producer_id", "partition"))


def _transaction(marker: LogEvent) -> str:
    return "\0".join(marker.fields.get(name, "") for name in ("transactional_id", "producer_id", "partition"))
