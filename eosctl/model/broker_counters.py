"""Counters of a broker's metrics since its start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from eosctl.model.transaction import TopicPartition


class TopicCounters(NamedTuple):
    """Appends to the partitions of a topic that a broker leads, including markers.

    `batch_count` is TotalProduceRequestsPerSec, which counts every append to a partition; `record_count` is
    MessagesInPerSec, `stored_bytes` BytesInPerSec. Kafka counts its own appends (markers, internal topics) as well.
    """

    record_count: float = 0.0
    stored_bytes: float = 0.0
    batch_count: float = 0.0


class BrokerCounters(msgspec.Struct, frozen=True):
    """The counters of a broker at a point in time.

    `outcomes` counts successful results by request (ErrorsPerSec with `error=NONE`). For WriteTxnMarkers, Produce, and
    TxnOffsetCommit, Kafka counts each partition of a request. `requests` counts requests by name and version.
    `replicas` are the hosted partitions. `unread` are the metrics that the page or the JMX port does not have at all.
    """

    source: str
    read_at_ms: int
    topics: Mapping[str, TopicCounters] = msgspec.field(default_factory=dict)
    outcomes: Mapping[str, float] = msgspec.field(default_factory=dict)
    requests: Mapping[tuple[str, int], float] = msgspec.field(default_factory=dict)
    replicas: frozenset[TopicPartition] = frozenset()
    unread: frozenset[str] = frozenset()
