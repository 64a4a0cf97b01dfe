"""An incident as lanes over time: what each broker, producer and consumer did, and when."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition


class LaneKind(StrEnum):
    """Whose lane it is; lanes are shown in this order."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    BROKER = "broker"


class Tone(StrEnum):
    """What a mark means: its colour."""

    COMMIT = "commit"
    ABORT = "abort"
    OPEN = "open"
    TAKEOVER = "takeover"
    PLAIN = "plain"
    WARNING = "warning"


class Mark(msgspec.Struct, frozen=True):
    """Something that happened in a lane: at a moment, or from `at_ms` to `until_ms` (None: a moment).

    `log` (`topic-partition`) and `offset` are its place in a log, empty and -1 without one. `shown_at_ms` is where it
    stands among others when `at_ms` contradicts the order of its log.
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
        """Where it stands among others: by its begin and end, and in one log by offset."""
        begin = self.at_ms if self.shown_at_ms is None else self.shown_at_ms
        end = begin if self.until_ms is None or self.log else self.until_ms
        return begin, end, self.log, self.offset


class Lane(msgspec.Struct, frozen=True):
    """One actor with its marks, by time."""

    kind: LaneKind
    name: str
    marks: tuple[Mark, ...]


class Timeline(msgspec.Struct, frozen=True):
    """Lanes between two moments. `notes` say what could not be read or was left out."""

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
