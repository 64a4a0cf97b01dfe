"""The header of a record batch. A broker reads nothing else of most batches."""

from __future__ import annotations

import struct
from mmap import mmap
from typing import Final

import msgspec
from msgspec.structs import replace

#: The buffer types that batches are read from.
ByteSource = bytes | bytearray | memoryview | mmap

#: Base offset and batch length, the first fields of every magic.
LOG_OVERHEAD_BYTES: Final = 12
#: Position of the magic byte, for every magic.
MAGIC_POSITION: Final = 16
#: Size of a magic 2 header: the records section begins here.
HEADER_BYTES: Final = 61
#: First byte that a magic 2 checksum covers, after base offset, length, and leader epoch.
CRC_START: Final = 21

HEADER: Final = struct.Struct(">qiibIhiqqqhii")

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40

_MAX_SEQUENCE: Final = 0x7FFF_FFFF


class BatchHeader(msgspec.Struct, frozen=True, gc=False):
    """The fields of a batch header in wire order (Kafka's `DefaultRecordBatch`).

    For legacy messages (magic 0 and 1), absent fields are -1, `records_count` is 1, and `base_offset` is the offset in
    front of the message. For a compressed message that is the offset of its last inner message.
    """

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    def placed(self, base_offset: int, partition_leader_epoch: int) -> BatchHeader:
        """Return the header with the offset and leader epoch that the appending leader assigns."""
        return replace(self, base_offset=base_offset, partition_leader_epoch=partition_leader_epoch)

    @property
    def last_offset(self) -> int:
        """Return the offset of the batch's last record at the time of writing; compaction does not lower it."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Return the first offset after the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size_bytes(self) -> int:
        """Return the size of the whole batch in bytes, header included."""
        return LOG_OVERHEAD_BYTES + self.batch_length

    @property
    def codec(self) -> int:
        """Return the codec number; compare it with `Compression`."""
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        """Return whether the records' timestamp is the batch's `max_timestamp`, set by the broker."""
        return self.attributes & LOG_APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        """Return whether the batch belongs to a transaction, as data or as its marker."""
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        """Return whether the batch holds control records."""
        return self.attributes & CONTROL != 0

    @property
    def has_delete_horizon(self) -> bool:
        """Return whether the cleaner has replaced the base timestamp with a delete horizon (KIP-534)."""
        return self.attributes & DELETE_HORIZON != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """Return the time from which the cleaner may drop the batch's tombstones or marker."""
        return self.base_timestamp if self.has_delete_horizon else None

    @property
    def last_sequence(self) -> int:
        """Return the sequence of the last record, -1 without a sequence. Sequences wrap from 2147483647 to 0."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset_delta) & _MAX_SEQUENCE
