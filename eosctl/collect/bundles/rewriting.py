"""Rewrite the batches of a log without the content that a bundle must not contain; offsets and checksums stay valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from struct import Struct
from typing import Final

from eosctl.analysis.record_redactor import redact_metadata_value
from eosctl.model.bundle import MissingPart
from eosctl.storage.index_file import read_index_file
from eosctl.storage.offset_index import ENTRY_BYTES
from eosctl.storage.scan import LogBatch, LogDamage, scan_log
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import encode_retained
from eosctl.wire.records.control import decode_control
from eosctl.wire.records.record import Record

_ENTRY: Final = Struct(">ii")
Positions = dict[int, int]
"""Start positions of the batches in the rewritten log, by their positions in the original."""


def stripped_batches(path: Path, missing: list[MissingPart], positions: Positions) -> Iterator[bytes]:
    """Yield the batches of a topic's log with empty records. Offsets, epochs, sequences, times, and markers stay.

    Args:
        path: The `.log` file.
        missing: Receives the omitted content: ranges without a batch, and batches that cannot be decoded.
        positions: Receives the start positions of the batches.

    Raises:
        OSError: The file cannot be read.
    """

    def strip(batch: LogBatch) -> bytes:
        records = [record._replace(key=None, value=b"", headers=()) for record in batch.records()]
        return encode_retained(batch.header, records)

    return _rewritten(path, missing, positions, strip)


def masked_batches(path: Path, missing: list[MissingPart], positions: Positions) -> Iterator[bytes]:
    """Yield the batches of a segment or snapshot of the metadata log with masked secrets.

    Batches without secrets stay unchanged. Records that cannot be decoded are removed from their batch.

    Args:
        path: The `.log` or `.checkpoint` file.
        missing: Receives the omitted content, including records.
        positions: Receives the start positions of the batches.

    Raises:
        OSError: The file cannot be read.
    """

    def mask(batch: LogBatch) -> bytes:
        records = batch.records()
        kept = [masked for record in records if (masked := _masked(record, path, missing)) is not None]
        return _as_it_is(batch) if kept == records else encode_retained(batch.header, kept)

    return _rewritten(path, missing, positions, mask)


def _masked(record: Record, path: Path, missing: list[MissingPart]) -> Record | None:
    try:
        if record.key is not None or record.value is None or record.headers:
            raise WireError("a record of the metadata log has a value, and neither key nor headers", "record", 0)
        return record._replace(value=redact_metadata_value(record.value))
    except WireError as error:
        missing.append(MissingPart(f"{path} at offset {record.offset}", f"the record cannot be decoded: {error.what}"))
        return None


def moved_index(path: Path, positions: Positions) -> bytes:
    """Return an offset index for the rewritten log.

    Entries that did not point to a batch, and bytes after the entries, stay unchanged.

    Raises:
        OSError: The file cannot be read.
    """
    data = path.read_bytes()
    size = len(read_index_file(path, ENTRY_BYTES).entries)
    moved = [(offset, positions.get(position, position)) for offset, position in _ENTRY.iter_unpack(data[:size])]
    return b"".join([*(_ENTRY.pack(*entry) for entry in moved), data[size:]])


def _rewritten(
    path: Path, missing: list[MissingPart], positions: Positions, rewrite: Callable[[LogBatch], bytes]
) -> Iterator[bytes]:
    position = 0
    for item in scan_log(path):
        if isinstance(item, LogDamage):
            missing.append(MissingPart(f"{path} from byte {item.position}", f"no batch is there: {item.what}"))
            continue
        try:
            if not item.crc_valid:
                raise WireError("its checksum is wrong", "crc", item.position)
            batch = _control(item) if item.header.is_control else rewrite(item)
        except (WireError, ValueError, OverflowError) as error:
            what = error.what if isinstance(error, WireError) else str(error)
            missing.append(MissingPart(f"{path} at byte {item.position}", f"the batch cannot be rewritten: {what}"))
        else:
            positions[item.position] = position
            position += len(batch)
            yield batch


def _control(batch: LogBatch) -> bytes:
    """Return a control batch unchanged: only brokers write its records, and none contains a secret.

    Raises:
        WireError: It contains something else.
    """
    for record in batch.records():
        decode_control(record)
    return _as_it_is(batch)


def _as_it_is(batch: LogBatch) -> bytes:
    return batch.buffer[batch.buffer_position : batch.buffer_position + batch.header.size_bytes]
