"""Snapshots of the metadata log (KIP-630): files that replace the log below an offset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.sandbox.metadata.records import ReplayedBatch, replay_batches
from eosctl.storage.errors import DamagedFile
from eosctl.wire.errors import WireError
from eosctl.wire.internal.control_records import decode_control_value
from eosctl.wire.messages.internal.control.snapshot_header_record import SnapshotHeaderRecord
from eosctl.wire.records.batch import decode_records, iter_headers
from eosctl.wire.records.control import ControlType

_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint", re.ASCII)
_HEADER_BYTES: Final = 4096  # Upper bound of its first batch, which has one small record.
PART: Final = ".part"  # Suffix of a snapshot that is being written (Kafka's Snapshots.PARTIAL_SUFFIX) ...
DELETED: Final = ".deleted"  # ... and of one to be deleted.


class MetadataSnapshot(NamedTuple):
    """A `.checkpoint` file: the content of the log below `end_offset`; `epoch` is that of its last record."""

    path: Path
    end_offset: int
    epoch: int

    @property
    def name(self) -> str:
        """Return the snapshot id as Kafka logs it."""
        return self.path.stem

    @property
    def size_bytes(self) -> int:
        """Return the size of the file."""
        return self.path.stat().st_size

    def batch(self) -> ReplayedBatch:
        """Return the content as one batch; its records have the last offset that the snapshot covers.

        Raises:
            OSError: It cannot be read.
            WireError: It is damaged.
        """
        last_offset = self.end_offset - 1
        parts = list(replay_batches(self.path.read_bytes()))
        records = [record for part in parts for record in part.records]
        is_whole = all(part.is_whole for part in parts)
        return ReplayedBatch(last_offset, last_offset, self.epoch, records, is_whole=is_whole)

    def last_log_ms(self) -> int:
        """Return the latest timestamp of the covered log (ms since the epoch), from the header.

        Raises:
            DamagedFile: It does not start with a header.
        """
        with self.path.open("rb") as file:
            data = file.read(_HEADER_BYTES)
        try:
            position, header = next(iter_headers(data))
            value = decode_control_value(
                ControlType.SNAPSHOT_HEADER, decode_records(data, header, position)[0].value or b""
            )
        except (StopIteration, IndexError, WireError) as error:
            raise DamagedFile(self.path, f"it does not begin with the header of a snapshot: {error}") from error
        assert isinstance(value, SnapshotHeaderRecord)
        return value.last_contained_log_timestamp


def write_snapshot(directory: Path, end_offset: int, epoch: int, data: bytes) -> MetadataSnapshot:
    """Write a snapshot atomically and make it read-only, as Kafka does.

    Raises:
        OSError: It cannot be written.
    """
    path = directory / f"{end_offset:020d}-{epoch:010d}.checkpoint"
    part = path.with_name(path.name + PART)
    part.unlink(missing_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    part.write_bytes(data)
    part.chmod(0o400)
    part.replace(path)
    return MetadataSnapshot(path, end_offset, epoch)


def find_snapshots(directory: Path, log_start_offset: int) -> list[MetadataSnapshot]:
    """Return the snapshots next to a log, oldest first; remove the files of interrupted writes and deletions.

    Raises:
        DamagedFile: The start of the log was removed and no snapshot covers it.
    """
    found: list[MetadataSnapshot] = []
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.name.endswith((f".checkpoint{PART}", f".checkpoint{DELETED}")):
            path.unlink()
        elif match := _NAME.fullmatch(path.name):
            found.append(MetadataSnapshot(path, int(match[1]), int(match[2])))
    useful = sorted((one for one in found if one.end_offset >= log_start_offset), key=lambda one: one.end_offset)
    if log_start_offset and not useful:
        raise DamagedFile(directory, f"the metadata log begins at offset {log_start_offset} and no snapshot is there")
    return useful
