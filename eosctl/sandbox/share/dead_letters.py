"""Records that a share group gives up, and their copies in its dead-letter topic (KIP-1191, 4.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from eosctl.sandbox.share.in_flight import InFlightRecord, RecordState
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Headers, Record, encode_record

BATCH_OVERHEAD: Final = 61


class Cause(StrEnum):
    """Why a record is given up, in Kafka's words."""

    CLIENT_REJECT = "Offset rejected by client."
    DELIVERY_COUNT_EXCEEDED = "Offset delivery count exceeded the threshold."


class DeadLetters(NamedTuple):
    """Consecutive offsets of a share-partition that were delivered equally often and are given up for one cause."""

    first_offset: int
    last_offset: int
    delivery_count: int
    cause: Cause


class Origin(NamedTuple):
    """The share-partition that gives records up."""

    group_id: str
    topic: str
    partition: int


class Source(NamedTuple):
    """The content of an original record."""

    key: bytes | None
    value: bytes | None


class Round(NamedTuple):
    """A batch for the dead-letter topic, and the last offset that it covers."""

    batch: bytes
    last_offset: int


def find_dead_letters(
    records: Iterable[tuple[int, InFlightRecord]], rejected: Collection[int], max_delivery_count: int | None = None
) -> list[DeadLetters]:
    """Return the records that wait for the dead-letter topic.

    Args:
        records: Records by offset.
        rejected: The offsets that a member rejected.
        max_delivery_count: After a failover, when rejections are not known: records below this count were rejected.
    """
    found: list[DeadLetters] = []
    for offset, record in records:
        if record.state is not RecordState.ARCHIVING or record.rollback is not None:
            continue
        is_below = max_delivery_count is not None and record.delivery_count < max_delivery_count
        cause = Cause.CLIENT_REJECT if offset in rejected or is_below else Cause.DELIVERY_COUNT_EXCEEDED
        last = found[-1] if found else None
        if last is not None and (last.last_offset + 1, *last[2:]) == (offset, record.delivery_count, cause):
            found[-1] = last._replace(last_offset=offset)
        else:
            found.append(DeadLetters(offset, offset, record.delivery_count, cause))
    return found


def encode_round(
    origin: Origin, letters: DeadLetters, start: int, sources: Mapping[int, Source], now_ms: int, max_bytes: int
) -> Round:
    """Encode the dead letters from `start` on that fit into one batch of the topic, at least one."""
    records: list[Record] = []
    size = BATCH_OVERHEAD
    for offset in range(start, letters.last_offset + 1):
        source = sources.get(offset, Source(None, None))
        record = Record(len(records), now_ms, source.key, source.value, _headers(origin, letters, offset))
        size += len(encode_record(record, len(records), 0))
        if records and size > max_bytes:
            break
        records.append(record)
    return Round(encode_batch(records), start + len(records) - 1)


def _headers(origin: Origin, letters: DeadLetters, offset: int) -> Headers:
    values: Sequence[tuple[str, object]] = (
        ("topic", origin.topic),
        ("partition", origin.partition),
        ("offset", offset),
        ("group", origin.group_id),
        ("delivery.count", letters.delivery_count),
        ("message", letters.cause.value),
    )
    return tuple((f"__dlq.errors.{name}", str(value).encode()) for name, value in values)


class DeadLetterTopic(NamedTuple):
    """What decides whether a topic may receive the dead letters of a group."""

    name: str
    prefix: str
    exists: bool
    is_enabled: bool
    is_created: bool

    def problem(self, group_id: str) -> str | None:
        """Return why the topic may not receive dead letters, in Kafka's words; None if it may."""
        about = f"share group: {group_id}, topic: {self.name}"
        if not self.name:
            return f"DLQ topic is not configured for share group {group_id}."
        if self.name.startswith("__"):
            return f"Configured DLQ topic name in share group: {group_id} cannot start with __, topic: {self.name}."
        if self.exists and not self.is_enabled:
            return f"DLQ is not enabled on configured DLQ topic for {about}."
        if not self.exists and not self.is_created:
            return f"DLQ topic does not exist and auto create is disabled on cluster for {about}."
        if not self.name.startswith(self.prefix):
            text = "Configured DLQ topic name does not comply with the DLQ topic prefix in"
            return f"{text} {about}, prefix: {self.prefix}."
        return None
