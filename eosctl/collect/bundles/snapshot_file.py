"""Snapshot files: JSON, gzip-compressed JSON, or an evidence bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eosctl.collect.bundles.bundle import MAX_SNAPSHOT_BYTES, is_bundle, read_snapshot
from eosctl.collect.bundles.snapshot_text import decode_snapshot, encode_snapshot, snapshot_json_schema
from eosctl.errors import ConfigFileError, write_failed
from eosctl.input_file import read_input
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.whole_file import result_file

_GZIP: Final = b"\x1f\x8b"

__all__ = ["decode_snapshot", "encode_snapshot", "load_snapshot", "save_snapshot", "snapshot_json_schema"]


def load_snapshot(path: Path) -> ClusterSnapshot:
    """Read a snapshot file, compressed or not, or the snapshot in an evidence bundle.

    Raises:
        ConfigFileError: The file cannot be read or is not a snapshot.
    """
    if is_bundle(path):
        return read_snapshot(path)
    try:
        data = read_input(path, MAX_SNAPSHOT_BYTES)
    except OSError as error:
        raise ConfigFileError(f"Cannot read {path}.", error.strerror or str(error), "Check the path.") from error
    return decode_snapshot(_decompress(data, path) if data.startswith(_GZIP) else data, str(path))


def _decompress(data: bytes, path: Path) -> bytes:
    import zlib

    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        text = unpacker.decompress(data, MAX_SNAPSHOT_BYTES)
    except zlib.error as error:
        raise ConfigFileError(f"Cannot read {path}.", f"It is damaged: {error}.", "Copy the file again.") from error
    if not unpacker.eof:
        why = f"It is larger than {MAX_SNAPSHOT_BYTES >> 20} MiB." if unpacker.unconsumed_tail else "It is truncated."
        raise ConfigFileError(f"Cannot read {path}.", why, "Copy the file again.")
    return text


def save_snapshot(snapshot: ClusterSnapshot, path: Path) -> None:
    """Write a snapshot file atomically.

    Raises:
        ConfigFileError: The file cannot be written, or is not a result of eosctl.
        EosctlError: The disk is full.
    """
    content = encode_snapshot(snapshot)
    try:
        with result_file(path, content, is_private=True) as file:
            file.write(content)
    except OSError as error:
        raise write_failed(path, error, "Choose another path.", ConfigFileError) from error
