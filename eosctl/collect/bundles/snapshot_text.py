"""Snapshots as JSON: header fields, and the structure of the model."""

from __future__ import annotations

from typing import Any

import msgspec

from eosctl.collect.bundles.state_names import with_state_names
from eosctl.errors import ConfigFileError
from eosctl.model.snapshot import SNAPSHOT_SCHEMA, SNAPSHOT_SCHEMA_VERSION, ClusterSnapshot


class _SnapshotFile(msgspec.Struct, frozen=True):
    """The file's envelope."""

    schema: str
    schema_version: int
    snapshot: ClusterSnapshot


class _Header(msgspec.Struct, frozen=True):
    """The part of the envelope that determines whether this version can read the rest."""

    schema: str
    schema_version: int


def encode_snapshot(snapshot: ClusterSnapshot) -> bytes:
    """Return the snapshot as indented JSON bytes with a final newline."""
    envelope = _SnapshotFile(SNAPSHOT_SCHEMA, SNAPSHOT_SCHEMA_VERSION, snapshot)
    return msgspec.json.format(msgspec.json.encode(envelope, order="deterministic"), indent=1) + b"\n"


def decode_snapshot(data: bytes, name: str = "the snapshot") -> ClusterSnapshot:
    """Parse a snapshot.

    Args:
        data: The file's bytes.
        name: Its name in errors.

    Raises:
        ConfigFileError: The data is not JSON, not a snapshot, or has an unknown schema version.
    """
    try:
        header = msgspec.json.decode(data, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigFileError(
            f"{name} is not an eosctl snapshot.", str(error), "Save one with: eosctl doctor --save-snapshot FILE"
        ) from error
    if header.schema != SNAPSHOT_SCHEMA:
        raise ConfigFileError(
            f"{name} has the schema {header.schema!r}, not {SNAPSHOT_SCHEMA!r}.",
            "It is another kind of file.",
            "Save a snapshot with: eosctl doctor --save-snapshot FILE",
        )
    if header.schema_version != SNAPSHOT_SCHEMA_VERSION:
        raise ConfigFileError(
            f"{name} has schema version {header.schema_version}; this eosctl reads {SNAPSHOT_SCHEMA_VERSION}.",
            "It was written by another release of eosctl.",
            "Read it with that release, or capture it again.",
        )
    try:
        return with_state_names(msgspec.json.decode(data, type=_SnapshotFile).snapshot)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ConfigFileError(f"{name} is damaged.", str(error), "Capture it again.") from error


def snapshot_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a snapshot file."""
    return msgspec.json.schema(_SnapshotFile)
