"""Evidence bundles as zip files. They may come from other machines, so all content is validated."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import msgspec

from eosctl.collect.bundles.snapshot_text import decode_snapshot, encode_snapshot
from eosctl.errors import ConfigFileError, write_failed
from eosctl.input_file import open_input
from eosctl.model.bundle import BUNDLE_SCHEMA, BUNDLE_SCHEMA_VERSION, BundleManifest, BundlePart, MissingPart
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import count_text
from eosctl.whole_file import result_file

MANIFEST: Final = "manifest.json"
SNAPSHOT: Final = "snapshot.json"
MAX_MEMBERS: Final = 20_000
MAX_MANIFEST_BYTES: Final = 16 << 20
MAX_SNAPSHOT_BYTES: Final = 512 << 20
MAX_TOTAL_BYTES: Final = 8 << 30
# Deflate achieves at most about 1,030 to 1; the text of snapshots and logs stays far below.
MAX_RATIO: Final = 400
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


class Part(NamedTuple):
    """A file to add to a bundle, in chunks."""

    name: str
    kind: str
    redaction: str
    pieces: Iterator[bytes]


def write_bundle(
    path: Path,
    snapshot: ClusterSnapshot,
    parts: Iterable[Part],
    missing: Iterable[MissingPart],
    version: str,
) -> BundleManifest:
    """Write a bundle atomically, readable only by its owner.

    Args:
        path: The file.
        snapshot: The evidence; it is part of every bundle.
        parts: Additional files, read one after the other.
        missing: Missing content with reasons. Consumed after the parts, so that reading these may add to it.
        version: The version of eosctl.

    Raises:
        ConfigFileError: The file cannot be written, or is not a result of eosctl.
        EosctlError: The disk is full.
    """
    whole = Part(SNAPSHOT, "snapshot", "secrets of settings hidden", iter([encode_snapshot(snapshot)]))
    try:
        with (
            result_file(path, b"", is_private=True) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            written = [_write(archive, whole), *(_write(archive, part) for part in parts)]
            manifest = BundleManifest(
                snapshot.captured_at_ms, version, snapshot.cluster_id, tuple(written), tuple(missing)
            )
            archive.writestr(zipfile.ZipInfo(MANIFEST, _EPOCH), msgspec.json.format(msgspec.json.encode(manifest)))
    except OSError as error:
        raise write_failed(path, error, "Choose another path.", ConfigFileError) from error
    return manifest


def _write(archive: zipfile.ZipFile, part: Part) -> BundlePart:
    digest, size_bytes = hashlib.sha256(), 0
    info = zipfile.ZipInfo(part.name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(info, "w", force_zip64=True) as member:
        for piece in part.pieces:
            digest.update(piece)
            size_bytes += len(piece)
            member.write(piece)
    return BundlePart(part.name, part.kind, size_bytes, digest.hexdigest(), part.redaction)


def is_bundle(path: Path) -> bool:
    """Return whether a file starts with a zip signature."""
    try:
        if not path.is_file():
            return False  # What is read from a pipe is gone.
        with open_input(path) as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def read_manifest(path: Path) -> BundleManifest:
    """Read a bundle's manifest.

    Raises:
        ConfigFileError: The file is not a bundle, or is damaged or malicious.
    """
    with _opened(path) as archive:
        return _manifest(archive, path)


def read_snapshot(path: Path) -> ClusterSnapshot:
    """Read the snapshot of a bundle and verify its digest from the manifest.

    Raises:
        ConfigFileError: The file is not a bundle, or is damaged or malicious.
    """
    with _opened(path) as archive:
        manifest = _manifest(archive, path)
        promised = next((part for part in manifest.parts if part.name == SNAPSHOT), None)
        data = _read(archive, path, SNAPSHOT, MAX_SNAPSHOT_BYTES)
        if promised is None or hashlib.sha256(data).hexdigest() != promised.sha256:
            raise _refused(path, "Its snapshot is not the one that its manifest describes.")
        return decode_snapshot(data, f"{path}:{SNAPSHOT}")


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with open_input(path) as file, zipfile.ZipFile(file) as archive:
            _check(archive, path)
            yield archive
    except OSError as error:
        raise ConfigFileError(f"Cannot read {path}.", error.strerror or str(error), "Check the path.") from error
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        # RuntimeError: an encrypted member. _read catches zlib's own error, which is not a subclass of ValueError.
        raise _refused(path, f"It is not a readable zip file: {error}.") from error


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    """Reject names outside of the folder, links, and excessive sizes, which a valid bundle never contains."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise _refused(path, f"It holds {count_text(len(members), 'file')}; a bundle holds {MAX_MEMBERS:,} at most.")
    seen: set[str] = set()
    for member in members:
        name = PurePosixPath(member.filename)
        if name.is_absolute() or ".." in name.parts or "\\" in member.filename or ":" in member.filename.split("/")[0]:
            raise _refused(path, f"The name {member.filename!r} leads out of the bundle.")
        if (member.external_attr >> 28) == 0o12:
            raise _refused(path, f"{member.filename!r} is a link.")
        if member.filename in seen:
            raise _refused(path, f"{member.filename!r} is there twice.")
        seen.add(member.filename)
        if member.file_size > MAX_RATIO * max(member.compress_size, 1_024):
            raise _refused(
                path, f"{member.filename!r} would grow from {member.compress_size:,} to {member.file_size:,}."
            )
    if sum(member.file_size for member in members) > MAX_TOTAL_BYTES:
        raise _refused(path, f"Its files would take more than {MAX_TOTAL_BYTES >> 30} GiB.")


def _manifest(archive: zipfile.ZipFile, path: Path) -> BundleManifest:
    data = _read(archive, path, MANIFEST, MAX_MANIFEST_BYTES)
    try:
        manifest = msgspec.json.decode(data, type=BundleManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refused(path, f"Its manifest is damaged: {error}.") from error
    if manifest.schema != BUNDLE_SCHEMA:
        raise _refused(path, f"It has the schema {manifest.schema!r}, not {BUNDLE_SCHEMA!r}.")
    if manifest.schema_version != BUNDLE_SCHEMA_VERSION:
        raise ConfigFileError(
            f"{path} has schema version {manifest.schema_version}; this eosctl reads {BUNDLE_SCHEMA_VERSION}.",
            f"It was written by eosctl {manifest.eosctl_version}.",
            "Read it with that release, or capture it again.",
        )
    return manifest


def _read(archive: zipfile.ZipFile, path: Path, name: str, max_bytes: int) -> bytes:
    import zlib

    if name not in archive.namelist():
        raise _refused(path, f"It holds no {name}.")
    try:
        with archive.open(name) as member:
            # The size in the directory may be wrong; the decompressed size counts.
            data = member.read(max_bytes + 1)
    except zlib.error as error:
        raise _refused(path, f"{name} is damaged: {error}.") from error
    if len(data) > max_bytes:
        raise _refused(path, f"{name} is larger than {max_bytes >> 20} MiB.")
    return data


def _refused(path: Path, why: str) -> ConfigFileError:
    return ConfigFileError(
        f"{path} is not an evidence bundle that can be read.", why, "Capture one with: eosctl snapshot capture FILE"
    )
