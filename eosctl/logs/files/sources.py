"""Which files to read, and what each of them is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.documents import holds_records
from eosctl.logs.carriers.exports import export_of
from eosctl.logs.carriers.prefixes import NULS
from eosctl.logs.carriers.wrappers import DOCUMENT, INSIDE, detect_wrapper, peel
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.content import (
    codec_of,
    first_inflated,
    first_text,
    read_head,
    recoded,
    recoding_of,
)
from eosctl.logs.files.hosts import host_of_path
from eosctl.logs.layouts import LAYOUTS, Layout, Verdict, detect_layouts

SAMPLE_BYTES: Final = 262_144
HEAD_BYTES: Final = 256
BEGINNING_BYTES: Final = 2_048

_NOT_LOGS: Final = frozenset(
    [
        ".md",
        ".html",
        ".tsv",
        ".csv",
        ".yaml",
        ".yml",
        ".toml",
        ".properties",
        ".py",
        ".jar",
        ".class",
        ".png",
        ".parquet",
        ".index",
        ".timeindex",
        ".snapshot",
    ]
)
_ARCHIVES: Final = ((b"PK\x03\x04", "zip"), (b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!\x1a\x07", "rar"))
_TAR_BYTES: Final = 512
_NULS_IN_TEXT: Final = re.compile(rb"(?<=\n)\0{8,}(?=[\x20-\x7e]{8})")
_TABLES: Final = frozenset({".csv", ".tsv"})
_KAFKA_DATA: Final = re.compile(
    r"\d{20}\.log(?:\.deleted|\.cleaned|\.swap)?|leader-epoch-checkpoint|partition\.metadata|quorum-state"
    r"|(?:recovery-point|log-start|replication|cleaner)-offset-checkpoint|\d{20}-\d{10}\.checkpoint"
)
"""Files of a broker's data directories, by the names that Kafka gives them."""


class SourceFile(NamedTuple):
    """A file that is to be scanned.

    Attributes:
        name: The file as the caller named it.
        application: Who wrote it, as far as the name tells.
        host: The machine it was written on, as far as the path tells; empty when it does not.
        verdict: Its layouts.
        wrapper: What stands in front of each line; empty for nothing.
        size_bytes: Its size on disk.
        splittable: Whether parts of it can be read on their own.
        modified_ms: When it was last written, ms since the epoch.
        zone: The zone of stamps without an offset; None when nobody said.
        head: Its first bytes when it was looked at, which tell it from another one in its place.
        beginning: Its first records as text.
    """

    name: str
    application: str
    host: str
    verdict: Verdict
    wrapper: str
    size_bytes: int
    splittable: bool
    modified_ms: int
    zone: tzinfo | None
    head: bytes
    beginning: str = ""


class Unread(NamedTuple):
    """A file that is not scanned, why, and whether it should have been: files that hold no log should not."""

    name: str
    reason: str
    is_failure: bool


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files to look at: files as they are, directories down to their last folder, in order of their names.

    A file that has several names comes once. Folders that cannot be listed and links that lead nowhere come too, so
    that they are told of.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for file in _files_below(path) if path.is_dir() else (path,):
            try:
                status = file.stat()
            except OSError:
                yield file
                continue
            identity = status.st_dev, status.st_ino
            if identity not in seen:
                seen.add(identity)
                yield file


def _files_below(folder: Path) -> list[Path]:
    closed: list[Path] = []

    def remember(error: OSError) -> None:
        closed.append(Path(error.filename))

    names = (Path(root, name) for root, _, files in os.walk(folder, onerror=remember) for name in files)
    files = (
        file
        for file in names
        if (file.suffix.lower() not in _NOT_LOGS or _is_exported(file))
        and not file.name.startswith(".")
        and (file.is_file() or (file.is_symlink() and not file.exists()))
    )
    return sorted((*files, *closed))


def archive_of(path: Path) -> str:
    """Name the kind of archive that a file is: ``tar``, compressed or not, ``zip``, ``7z``, ``rar``; empty for none.

    Raises:
        OSError: The file cannot be read.
    """
    head = read_head(path, _TAR_BYTES)
    return archive_in(first_inflated(path, _TAR_BYTES) if codec_of(head) in ("gzip", "bzip2", "xz") else head)


def archive_in(head: bytes) -> str:
    """Name the kind of archive by its first bytes, after decompression."""
    if head[257:262] == b"ustar":
        return "tar"
    return next((kind for magic, kind in _ARCHIVES if head.startswith(magic)), "")


def _is_exported(file: Path) -> bool:
    """Whether a table holds log records."""
    if file.suffix.lower() not in _TABLES:
        return False
    try:
        return bool(export_of(read_head(file, BEGINNING_BYTES)))
    except OSError:
        return False


def inspect_file(path: Path, zone: tzinfo | None = None, layouts: tuple[Layout, ...] = ()) -> SourceFile | Unread:
    """Find out what a file is from its name and its first part.

    Args:
        path: The file.
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
    """
    if _KAFKA_DATA.fullmatch(path.name):
        return Unread(str(path), "Kafka's data, not a log", False)
    try:
        status = path.stat()
        if path.is_dir():
            os.scandir(path).close()
        head = read_head(path, SAMPLE_BYTES)
    except OSError as error:
        return Unread(str(path), error.strerror or str(error), True)
    compressed, recoding, outermost = bool(codec_of(head)), recoding_of(head), ""
    sample = first_inflated(path, SAMPLE_BYTES) if compressed else head
    if archive := archive_in(sample):
        return Unread(str(path), f"a {archive} archive: unpack it first", True)
    if recoding:
        sample = recoded(sample, recoding)
    elif sample.startswith(b"\0"):
        # copytruncate: the program went on at its old place in the emptied file.
        sample = read_head(path, SAMPLE_BYTES, first_text(path))
        outermost = NULS
    elif b"\0" in sample and _NULS_IN_TEXT.search(sample):
        # A machine that lost power leaves blocks of NULs between lines.
        sample, outermost = _NULS_IN_TEXT.sub(b"\n", sample), NULS
    export = "" if outermost else export_of(sample)
    is_document = not export and holds_records(sample)
    if _is_document(sample) and not is_document and not export:
        return Unread(str(path), "a JSON document, not a log", False)
    if not recoding and (_is_binary(sample) or (outermost and not sample)):
        return Unread(str(path), "a binary file, not a log", False)
    wrapper, verdict = shape_of(sample, export or (DOCUMENT if is_document else ""), (*layouts, *LAYOUTS))
    wrapper = INSIDE.join(part for part in (outermost, wrapper) if part)
    return SourceFile(
        name=str(path),
        application=application_of(path),
        host=host_of_path(path),
        verdict=verdict,
        wrapper=wrapper,
        size_bytes=status.st_size,
        splittable=not compressed and not recoding and not wrapper,
        modified_ms=status.st_mtime_ns // 1_000_000,
        zone=zone,
        head=head[:HEAD_BYTES],
        beginning=sample[:BEGINNING_BYTES].decode("utf-8", "replace"),
    )


@lru_cache(maxsize=16)
def shape_of(sample: bytes, wrapper: str, layouts: tuple[Layout, ...]) -> tuple[str, Verdict]:
    """Find wrapper and layouts of a sample; remembered, as a log that is followed is looked at again and again."""
    wrapper = detect_wrapper(sample, wrapper)
    verdict = _verdict(sample, wrapper, layouts)
    around, _, innermost = wrapper.rpartition(INSIDE)
    if innermost == "syslog" and verdict.unmatched_count * 2 > verdict.line_count:
        # The lines carry nothing but the message: then syslog's own header is the record's.
        return around, _verdict(sample, around, layouts)
    return wrapper, verdict


def _verdict(sample: bytes, wrapper: str, layouts: tuple[Layout, ...]) -> Verdict:
    inner = b"\n".join(part.text for part in peel(sample, wrapper)) if wrapper else sample
    return detect_layouts(inner, layouts)


def _is_document(sample: bytes) -> bool:
    """Whether a file is one JSON value over many lines."""
    first, _, rest = sample.lstrip().partition(b"\n")
    return first.strip() in (b"{", b"[") and rest.lstrip()[:1] in (b'"', b"{", b"}", b"]")


def _is_binary(sample: bytes) -> bool:
    return sample.count(b"\0") * 10 > len(sample)
