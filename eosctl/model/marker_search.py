"""What a partition holds of one producer's markers before a transaction that hangs."""

from __future__ import annotations

import msgspec

from eosctl.model.transaction import TopicPartition


class ProducerMarker(msgspec.Struct, frozen=True):
    """One transaction marker; ``written_at_ms`` is the clock of the broker that led the partition then."""

    offset: int
    written_at_ms: int
    committed: bool


class MarkerSearch(msgspec.Struct, frozen=True):
    """A partition read for the markers of one producer.

    Attributes:
        partition: Where was read.
        producer_id: Whose markers.
        since_ms: The reading began at the first offset of this time or later.
        from_offset: That offset.
        before_offset: The first offset of the hanging transaction, where the reading ended.
        complete: False when a part could not be read.
        markers: The markers found, by offset.
    """

    partition: TopicPartition
    producer_id: int
    since_ms: int
    from_offset: int
    before_offset: int
    complete: bool
    markers: tuple[ProducerMarker, ...] = ()
