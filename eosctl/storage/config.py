"""The settings of one log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LogConfig:
    """Settings for rolling and indexing a partition's log. Names and defaults are those of Kafka's topic settings.

    Attributes:
        segment_bytes: A segment is rolled before it would grow past this (`segment.bytes`).
        segment_ms: A segment is rolled when its first batch is older than this (`segment.ms`).
        segment_index_bytes: Largest size of an offset or time index (`segment.index.bytes`).
        index_interval_bytes: Bytes of log between two index entries (`index.interval.bytes`).
        tail_bytes: How many bytes of the newest data stay in memory after they are written. Not a Kafka setting. A
            large value evicts other logs from the processor's caches.
    """

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    tail_bytes: int = 32 << 10
