"""Producer snapshots: the producer state of a partition at an offset.

A file `<offset>.snapshot` covers all offsets below its own. It keeps only the last batch of each producer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import google_crc32c

from eosctl.storage.atomic import replace_file
from eosctl.storage.errors import DamagedFile
from eosctl.storage.names import FileState, SegmentFile, Suffix, parse_segment_file, segment_file_name
from eosctl.storage.regular_file import read_regular
from eosctl.wire.errors import WireError

VERSION: Final = 1
_HEADER: Final = struct.Struct(">hIi")
_CRC_START: Final = 6
_COUNT_BYTES: Final = 4
_ENTRY: Final = struct.Struct(">qhiqiqiq")
ENTRY_BYTES: Final = _ENTRY.size
_MAX_SEQUENCE: Final = 0x7FFF_FFFF


class ProducerSnapshotEntry(NamedTuple):
    """A producer's state in a partition, in the field order of the file.

    Attributes:
        producer_id: The producer id.
        producer_epoch: Its latest epoch.
        last_sequence: Sequence of the last record of its last batch, -1 when only a marker is known.
        last_offset: Offset of that record, -1 when only a marker is known.
        offset_delta: Distance of that record from the first of its batch.
        timestamp: Max timestamp of the last batch, or of the last marker (milliseconds since the epoch).
        coordinator_epoch: Epoch of the coordinator that wrote the last marker, -1 before the first.
        current_txn_first_offset: First offset of the open transaction, -1 without one.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int

    @property
    def first_offset(self) -> int:
        """Return the offset of the first record of the last batch, -1 if unknown."""
        return self.last_offset - self.offset_delta if self.last_offset >= 0 else -1

    @property
    def first_sequence(self) -> int:
        """Return the sequence of the first record of the last batch, -1 if unknown."""
        return (self.last_sequence - self.offset_delta) & _MAX_SEQUENCE if self.last_sequence >= 0 else -1


def encode_snapshot(entries: Iterable[ProducerSnapshotEntry]) -> bytes:
    """Encode a snapshot file."""
    packed = [_ENTRY.pack(*entry) for entry in entries]
    checked = len(packed).to_bytes(_COUNT_BYTES, "big") + b"".join(packed)
    return _HEADER.pack(VERSION, google_crc32c.value(checked), len(packed)) + checked[_COUNT_BYTES:]


def decode_snapshot(data: bytes) -> list[ProducerSnapshotEntry]:
    """Decode a snapshot file.

    Raises:
        WireError: The version is unknown, the checksum is wrong, or the size does not match the number of entries. Its
            `field` is `version`, `crc`, or `entries`.
    """
    if len(data) < _HEADER.size:
        raise WireError(f"a snapshot takes {_HEADER.size} bytes, {len(data)} are there", "entries", len(data))
    version, crc, count = _HEADER.unpack_from(data)
    if version != VERSION:
        raise WireError(f"snapshot version {version}, known is {VERSION}", "version", 0)
    size = _HEADER.size + count * ENTRY_BYTES
    if count < 0 or size > len(data):
        raise WireError(f"{count} entries take {size} bytes, {len(data)} are there", "entries", len(data))
    actual = google_crc32c.value(data[_CRC_START:])
    if actual != crc:
        raise WireError(f"checksum 0x{crc:08x}, the content has 0x{actual:08x}", "crc", 2)
    if size != len(data):
        raise WireError(f"{count} entries take {size} bytes, {len(data)} are there", "entries", size)
    return [ProducerSnapshotEntry._make(fields) for fields in _ENTRY.iter_unpack(data[_HEADER.size :])]


def write_snapshot(
    directory: Path, offset: int, entries: Iterable[ProducerSnapshotEntry], *, sync: bool = False
) -> None:
    """Write the snapshot that covers the offsets below an offset."""
    replace_file(directory / segment_file_name(offset, Suffix.PRODUCER_SNAPSHOT), encode_snapshot(entries), sync=sync)


def read_snapshot(path: Path) -> list[ProducerSnapshotEntry]:
    """Read a snapshot file.

    Raises:
        DamagedFile: The snapshot is incomplete or invalid.
        OSError: The file cannot be read.
    """
    try:
        return decode_snapshot(read_regular(path))
    except WireError as error:
        raise DamagedFile(path, str(error), error.offset) from None


def snapshot_offsets(directory: Path) -> list[int]:
    """Return the offsets of a directory's snapshots in ascending order."""
    names = (parse_segment_file(path.name) for path in directory.glob(f"*{Suffix.PRODUCER_SNAPSHOT}"))
    return sorted(name.offset for name in names if name is not None)


def load_latest_snapshot(
    directory: Path, max_offset: int, min_offset: int = 0
) -> tuple[int, list[ProducerSnapshotEntry]] | None:
    """Load the newest valid snapshot within an offset range, as a broker does at start-up.

    Damaged snapshots are deleted on the way, so that the next start skips them.

    Returns:
        The snapshot's offset and entries, or None without a valid snapshot.
    """
    for offset in reversed(snapshot_offsets(directory)):
        if not min_offset <= offset <= max_offset:
            continue
        path = directory / SegmentFile(offset, Suffix.PRODUCER_SNAPSHOT, FileState.LIVE).name
        try:
            return offset, read_snapshot(path)
        except DamagedFile:
            path.unlink(missing_ok=True)
    return None
