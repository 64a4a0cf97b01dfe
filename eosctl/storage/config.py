"""The settings of one log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LogConfig:
    """How a partition's log rolls and indexes; names and defaults are those of Kafka's topic settings.

    Attributes:
        segment_bytes: A segment is rolled before it would grow past this (`segment.bytes`).
        segment_ms: A segment is rolled when its first batch is older than this (`segment.ms`).
        segment_index_bytes: Largest size of an offset or time index (`segment.index.bytes`).
        index_interval_bytes: Bytes of log between two index entries (`index.interval.bytes`).
        tail_bytes: How much of the newest data is kept in memory after it was written; ours, not Kafka's. The more,
            the less of what a broker of many logs touches stays in the processor's caches.
    """

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    tail_bytes: int = 32 << 10
