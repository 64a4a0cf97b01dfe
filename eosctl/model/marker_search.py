"""The markers of a producer before a hanging transaction in a partition."""

from __future__ import annotations

import msgspec

from eosctl.model.transaction import TopicPartition


class ProducerMarker(msgspec.Struct, frozen=True):
    """A transaction marker; `written_at_ms` is the clock of the broker that led the partition then."""

    offset: int
    written_at_ms: int
    committed: bool


class MarkerSearch(msgspec.Struct, frozen=True):
    """A search of a partition for the markers of a producer.

    Attributes:
        partition: The searched partition.
        producer_id: The producer id.
        since_ms: The search started at the first offset with at least this time.
        from_offset: That offset.
        before_offset: The first offset of the hanging transaction, the end of the search.
        complete: False if a part could not be read.
        markers: The found markers, by offset.
    """

    partition: TopicPartition
    producer_id: int
    since_ms: int
    from_offset: int
    before_offset: int
    complete: bool
    markers: tuple[ProducerMarker, ...] = ()
