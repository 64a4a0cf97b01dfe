"""The settings of a topic that affect its logs, read once per change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class TopicConfigSource(Protocol):
    """A source of effective topic settings."""

    def topic_value(self, overrides: Mapping[str, str], name: str) -> str:
        """Return the value of `name` for a topic with these overrides."""


@dataclass(frozen=True)
class TopicSettings:
    """Typed topic settings; names and units are Kafka's."""

    is_compacted: bool = False
    is_deleted: bool = True
    log_append_time: bool = False
    max_message_bytes: int = 1_048_588
    min_insync_replicas: int = 1
    timestamp_before_max_ms: int = 0x7FFF_FFFF_FFFF_FFFF
    timestamp_after_max_ms: int = 3_600_000
    retention_ms: int = 604_800_000
    retention_bytes: int = -1
    segment_bytes: int = 1 << 30
    segment_ms: int = 604_800_000
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    unclean_leader_election: bool = False
    delete_retention_ms: int = 86_400_000
    min_compaction_lag_ms: int = 0
    min_cleanable_dirty_ratio: float = 0.5
    max_compaction_lag_ms: int = 0x7FFF_FFFF_FFFF_FFFF
    file_delete_delay_ms: int = 60_000

    @classmethod
    def of(cls, source: TopicConfigSource, overrides: Mapping[str, str]) -> TopicSettings:
        """Read the settings of a topic with these overrides."""

        def text(name: str) -> str:
            return source.topic_value(overrides, name)

        def number(name: str) -> int:
            return int(text(name))

        policy = text("cleanup.policy")
        return cls(
            is_compacted="compact" in policy,
            is_deleted="delete" in policy,
            log_append_time=text("message.timestamp.type") == "LogAppendTime",
            max_message_bytes=number("max.message.bytes"),
            min_insync_replicas=number("min.insync.replicas"),
            timestamp_before_max_ms=number("message.timestamp.before.max.ms"),
            timestamp_after_max_ms=number("message.timestamp.after.max.ms"),
            retention_ms=number("retention.ms"),
            retention_bytes=number("retention.bytes"),
            segment_bytes=number("segment.bytes"),
            segment_ms=number("segment.ms"),
            segment_index_bytes=number("segment.index.bytes"),
            index_interval_bytes=number("index.interval.bytes"),
            unclean_leader_election=text("unclean.leader.election.enable") == "true",
            delete_retention_ms=number("delete.retention.ms"),
            min_compaction_lag_ms=number("min.compaction.lag.ms"),
            min_cleanable_dirty_ratio=float(text("min.cleanable.dirty.ratio")),
            max_compaction_lag_ms=number("max.compaction.lag.ms"),
            file_delete_delay_ms=number("file.delete.delay.ms"),
        )
