"""Fetch batches from a leader without a group, a session, or waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.client.consumer import THROTTLED, is_throttled, unthrottled
from eosctl.collect.answered import left_out
from eosctl.collect.reader import ReadOnly, attempt, gap_from_code
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import PartitionInfo
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.messages import fetch
from eosctl.wire.records.batch import BatchHeader, check_crc, decode_records, iter_headers
from eosctl.wire.records.record import Record

BYTES_PER_FETCH: Final = 1 << 20
# Version 13 uses topic ids; 12 is the last one with names.
FETCH_BY_NAME: Final = 12
READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1


class FetchedBatch(NamedTuple):
    """A batch in what a leader sent; its first records may lie before `from_offset`, which was requested."""

    header: BatchHeader
    data: bytes
    position: int
    from_offset: int

    def records(self) -> list[Record]:
        """Decode the records from `from_offset` on.

        Raises:
            WireError: A record is damaged.
        """
        decoded = decode_records(self.data, self.header, self.position)
        return [record for record in decoded if record.offset >= self.from_offset]


async def read_batches(
    reader: ReadOnly,
    kind: EvidenceKind,
    info: PartitionInfo,
    offset: int,
    take: Callable[[FetchedBatch], None],
    *,
    most_fetches: int | None = None,
) -> tuple[EvidenceGap, ...]:
    """Read a partition from an offset up to its high watermark.

    Args:
        reader: The read-only client.
        kind: The evidence that the batches are.
        info: The partition with its offsets.
        offset: The first offset.
        take: Called with each batch; a `WireError` of it ends the reading.
        most_fetches: The limit of requests, of 1 MiB each.

    Returns:
        Nothing if everything was read, else the gap.
    """
    end = info.high_watermark or 0
    fetches = 0
    while offset < end:
        if fetches == most_fetches:
            left = f"offsets {offset} to {end - 1} were not read: too many"
            return (EvidenceGap(kind, str(info.partition), GapReason.NOT_COLLECTED, detail=left),)
        data, gaps = await fetch_batches(reader, kind, info, offset)
        fetches += 1
        before = offset
        try:
            for position, header in iter_headers(data):
                take(FetchedBatch(header, data, position, before))
                offset = header.last_offset + 1
        except WireError as error:
            return (EvidenceGap(kind, str(info.partition), GapReason.BROKER_ERROR, detail=str(error)),)
        if offset <= before:
            return gaps or (cut_off(kind, info, before),)
    return ()


def cut_off(kind: EvidenceKind, info: PartitionInfo, offset: int) -> EvidenceGap:
    """Return the gap for a leader that sent nothing from an offset on, although more is there."""
    detail = f"The leader sent no batch from offset {offset} on; the high watermark is {info.high_watermark}."
    return EvidenceGap(kind, str(info.partition), GapReason.BROKER_ERROR, detail=detail, next_step="Try again.")


async def fetch_batches(
    reader: ReadOnly, kind: EvidenceKind, info: PartitionInfo, offset: int
) -> tuple[bytes, tuple[EvidenceGap, ...]]:
    """Return up to 1 MiB of batches from `offset`, or a gap with the reason."""
    answer, gaps = await fetch_partition(reader, kind, info, offset)
    return (b"" if answer is None else bytes(answer.records or b"")), gaps


async def fetch_partition(
    reader: ReadOnly, kind: EvidenceKind, info: PartitionInfo, offset: int, *, isolation_level: int = READ_UNCOMMITTED
) -> tuple[fetch.PartitionData | None, tuple[EvidenceGap, ...]]:
    """Return a partition's response with up to 1 MiB of batches, or a gap with the reason."""
    partition = fetch.FetchPartition(
        partition=info.partition.partition, fetch_offset=offset, partition_max_bytes=BYTES_PER_FETCH
    )
    request = fetch.FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=BYTES_PER_FETCH,
        isolation_level=isolation_level,
        topics=[fetch.FetchTopic(topic=info.partition.topic, partitions=[partition])],
    )
    subject = str(info.partition)
    leader_id = info.leader_id
    if leader_id is None:
        return None, (EvidenceGap(kind, subject, GapReason.NO_LEADER),)
    answer, lost = await attempt(
        kind, subject, lambda: unthrottled(lambda: reader.request(leader_id, ApiKey.FETCH, request, cap=FETCH_BY_NAME))
    )
    if answer is None:
        return None, lost
    if is_throttled(answer):
        next_step = "Raise the quota of this client, or read as another user."
        return None, (EvidenceGap(kind, subject, GapReason.BROKER_ERROR, detail=THROTTLED, next_step=next_step),)
    for topic in answer.responses:
        for part in topic.partitions:
            if (topic.topic, part.partition_index) != info.partition:
                continue
            if part.error_code != ErrorCode.NONE:
                return None, (gap_from_code(kind, subject, part.error_code),)
            return _intact(part, kind, subject)
    if answer.error_code != ErrorCode.NONE:
        return None, (gap_from_code(kind, subject, answer.error_code),)
    return None, (left_out(kind, subject),)


def _intact(
    part: fetch.PartitionData, kind: EvidenceKind, subject: str
) -> tuple[fetch.PartitionData | None, tuple[EvidenceGap, ...]]:
    """Return the response with its batches before the first one that fails its checksum.

    Brokers send what their files have: every reader has to check it. Where the first batch fails, its gap is returned.
    """
    data = bytes(part.records or b"")
    position = 0
    try:
        for position, header in iter_headers(data):
            if check_crc(data, header, position):
                continue
            if position:
                return replace(part, records=data[:position]), ()
            detail = f"The batch at offset {header.base_offset} fails its checksum."
            return None, (gap_from_code(kind, subject, ErrorCode.CORRUPT_MESSAGE, detail),)
    except WireError:
        pass  # the reader, which decodes the headers again, reports it
    return part, ()
