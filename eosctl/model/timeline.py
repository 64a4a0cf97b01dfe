"""An incident as lanes over time: the events of each broker, producer, and consumer."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition


class LaneKind(StrEnum):
    """The type of a lane; lanes are shown in this order."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    BROKER = "broker"


class Tone(StrEnum):
    """The meaning of a mark, shown as its color."""

    COMMIT = "commit"
    ABORT = "abort"
    OPEN = "open"
    HANGING = "hanging"
    TAKEOVER = "takeover"
    PLAIN = "plain"
    WARNING = "warning"


class Mark(msgspec.Struct, frozen=True):
    """An event of a lane: at a time, or from `at_ms` to `until_ms` (None: a single time).

    `log` (`topic-partition`) and `offset` are its position in a log, empty and -1 without one. `shown_at_ms` is its
    place among others if `at_ms` contradicts the order of its log.
    """

    at_ms: int
    until_ms: int | None
    label: str
    tone: Tone
    source: str
    log: str = ""
    offset: int = -1
    shown_at_ms: int | None = None

    @property
    def order(self) -> tuple[int, int, str, int]:
        """Return the sort key: start and end, and the offset within a log."""
        begin = self.at_ms if self.shown_at_ms is None else self.shown_at_ms
        end = begin if self.until_ms is None or self.log else self.until_ms
        return begin, end, self.log, self.offset


class Lane(msgspec.Struct, frozen=True):
    """An actor with its marks, in time order."""

    kind: LaneKind
    name: str
    marks: tuple[Mark, ...]


class Timeline(msgspec.Struct, frozen=True):
    """Lanes of a time range. `notes` describe what could not be read or was omitted."""

    subject: str
    from_ms: int
    until_ms: int
    lanes: tuple[Lane, ...]
    notes: tuple[str, ...] = ()


class BatchFact(msgspec.Struct, frozen=True):
    """A batch of a partition: who wrote it, and where it lies. `committed` is None unless it is a marker.

    `at_ms` is the newest timestamp of its records: the producer's clock, unless the topic has LogAppendTime; a marker's
    is the broker's.
    """

    partition: TopicPartition
    base_offset: int
    last_offset: int
    record_count: int
    at_ms: int
    producer_id: int
    producer_epoch: int
    leader_epoch: int
    committed: bool | None = None
    is_transactional: bool = False
