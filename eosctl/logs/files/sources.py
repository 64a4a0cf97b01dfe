"""Find the files to read, and inspect each of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path, PurePath
from stat import S_ISDIR
from typing import Final, NamedTuple

from eosctl.logs.carriers.documents import holds_records
from eosctl.logs.carriers.exports import export_of
from eosctl.logs.carriers.prefixes import NULS
from eosctl.logs.carriers.wrappers import DOCUMENT, INSIDE, SYSLOG, detect_wrapper, is_of_lines, peel
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.content import (
    codec_of,
    first_inflated,
    first_text,
    inflated_text,
    read_head,
    recoded,
    recoding_of,
)
from eosctl.logs.files.headings import headings_of
from eosctl.logs.files.hosts import host_of_path
from eosctl.logs.layout_catalog import LAYOUTS, Layout
from eosctl.logs.layouts import Verdict, detect_layouts, is_of_layout

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
_NOTES: Final = frozenset({".html", ".md", ".yaml", ".yml"})
"""Endings of settings and documents, and of tickets and notes with records in them."""
_NOTE_BYTES: Final = 65_536
"""A ticket has prose in front of the first record that it quotes."""
_MAYBE_RECORD: Final = re.compile(rb"^[^\n]{0,120}(?:\d\d:\d\d:\d\d|%\d\|\d{10}\.)[^\n]*", re.MULTILINE)
_TRACE: Final = re.compile(rb"^[ \t]*at [\w.$/@]{1,300}\([^)\n]{1,120}\)\r?$", re.MULTILINE)
"""A line of a Java stack trace, which many tickets quote without any stamp."""
OTHER_NAME: Final = "its name ends like that of another kind of file; to read it anyway, name the file itself"
NO_RECORDS: Final = "a table without log records"
LINKED_FOLDER: Final = "a link to another folder; to read that, name it"
KAFKA_DATA: Final = re.compile(
    r"\d{20}\.log(?:\.deleted|\.cleaned|\.swap)?|leader-epoch-checkpoint|partition\.metadata|quorum-state"
    r"|(?:recovery-point|log-start|replication|cleaner)-offset-checkpoint|\d{20}-\d{10}\.checkpoint"
)
"""Files of a broker's data directories, by Kafka's names."""


class SourceFile(NamedTuple):
    """A file to scan.

    Attributes:
        name: The file as the caller named it.
        application: The program that wrote it, according to the name.
        host: The machine on which it was written, according to the path; empty if the path names none.
        verdict: Its layouts.
        wrapper: The wrapper of each line; empty without one.
        size_bytes: Its size on disk.
        splittable: Whether its parts can be read independently.
        modified_ms: When it was last written, ms since the epoch.
        zone: The time zone of timestamps without an offset; None if not specified.
        head: Its first bytes at inspection, which distinguish it from a replacement.
        beginning: Its first records as text.
        headings: The headings of its parts, see ``headings_of``; empty for one program, or a long file.
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
    headings: str = ""


class Unread(NamedTuple):
    """A file that is not scanned, the reason, and whether this is a failure: for files other than logs it is not."""

    name: str
    reason: str
    is_failure: bool


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files to inspect: files, and all files below directories with names of logs, ordered by name.

    A file with several names is yielded once. Unreadable folders and broken links are yielded, too, so that they are
    reported.
    """
    return (file for file, reason in list_files(paths) if not reason)


def list_files(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the same files and those of other names below directories, each with the reason why it is not a log."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for file in _files_below(path) if path.is_dir() else (path,):
            try:
                status = file.stat()
            except OSError:
                yield file, ""
                continue
            if S_ISDIR(status.st_mode):  # A link, or a folder that cannot be listed.
                reason = LINKED_FOLDER if file != path and file.is_symlink() else ""
            else:
                reason = "" if file == path else reason_against(file)
            identity = status.st_dev, status.st_ino
            if reason:
                yield file, reason
            elif identity not in seen:
                seen.add(identity)
                yield file, ""


def _files_below(folder: Path) -> list[Path]:
    closed: list[Path] = []

    def remember(error: OSError) -> None:
        closed.append(Path(error.filename))

    names: list[Path] = []
    for root, folders, files in os.walk(folder, onerror=remember):
        names += (Path(root, name) for name in files)
        names += (link for name in folders if (link := Path(root, name)).is_symlink() and leads_out(link, [folder]))
    # Pipes and devices are left out; every folder here is a link.
    found = (
        file
        for file in names
        if not file.name.startswith(".") and (file.is_file() or file.is_dir() or _is_broken(file))
    )
    return sorted((*found, *closed))


def leads_out(file: Path, places: Iterable[Path]) -> bool:
    """Return whether the target of a link is neither one of some files and folders nor below them."""
    target = file.resolve()
    return not any(target.is_relative_to(place.resolve()) for place in places)


def _is_broken(file: Path) -> bool:
    """Return whether a file is a link that leads nowhere, under the name of a log."""
    return file.is_symlink() and not file.exists() and is_named_like_log(file)


def reason_against(file: Path) -> str:
    """Return why a file in a directory or an archive is not read because of its name; empty if it is."""
    if is_named_like_log(file):
        return ""
    if is_named_like_table(file):
        return "" if is_exported(file) else NO_RECORDS
    return "" if file.suffix.lower() in _NOTES and _holds_records(file) else OTHER_NAME


def _holds_records(file: Path) -> bool:
    """Return whether a file has a record or a stack trace, or most lines of its beginning are records in a wrapper."""
    try:
        head = read_head(file, _NOTE_BYTES)
    except OSError:
        return False
    if _TRACE.search(head) or any(is_of_layout(line[0]) for line in _MAYBE_RECORD.finditer(head)):
        return True
    _, verdict = shape_of(head[:BEGINNING_BYTES], "", LAYOUTS)
    return verdict.has_headers and verdict.line_count > 0 and not _is_mostly_unmatched(verdict)


def archive_of(path: Path) -> str:
    """Return the kind of an archive: ``tar``, compressed or not, ``zip``, ``7z``, ``rar``; empty if it is not one.

    Raises:
        OSError: The file cannot be read.
    """
    head = read_head(path, _TAR_BYTES)
    return archive_in(first_inflated(path, _TAR_BYTES) if codec_of(head) in ("gzip", "bzip2", "xz") else head)


def archive_in(head: bytes) -> str:
    """Return the kind of an archive according to its first bytes after decompression."""
    if head[257:262] == b"ustar":
        return "tar"
    return next((kind for magic, kind in _ARCHIVES if head.startswith(magic)), "")


def is_named_like_log(file: PurePath) -> bool:
    """Return whether the name of a file in a directory allows a log."""
    return file.suffix.lower() not in _NOT_LOGS


def may_hold_records(file: PurePath) -> bool:
    """Return whether a file in a directory must be opened to know whether it is read (``reason_against``)."""
    return is_named_like_log(file) or is_named_like_table(file) or file.suffix.lower() in _NOTES


def is_named_like_table(file: PurePath) -> bool:
    """Return whether the name of a file allows an export of log records."""
    return file.suffix.lower() in _TABLES


def is_exported(file: Path) -> bool:
    """Whether a table holds log records."""
    if not is_named_like_table(file):
        return False
    try:
        return bool(export_of(read_head(file, BEGINNING_BYTES)))
    except OSError:
        return False


def inspect_file(path: Path, zone: tzinfo | None = None, layouts: tuple[Layout, ...] = ()) -> SourceFile | Unread:
    """Recognize a file by its name and its first part.

    Args:
        path: The file.
        zone: The time zone of timestamps without an offset.
        layouts: Layouts that take precedence over the built-in ones.
    """
    if KAFKA_DATA.fullmatch(path.name):
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
        # copytruncate: the program continued at its old position in the truncated file.
        sample = inflated_text(path, SAMPLE_BYTES) if compressed else read_head(path, SAMPLE_BYTES, first_text(path))
        outermost = NULS
    elif b"\0" in sample and _NULS_IN_TEXT.search(sample):
        # A power loss leaves blocks of NULs between lines.
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
        splittable=not compressed and not recoding and is_of_lines(wrapper),
        modified_ms=status.st_mtime_ns // 1_000_000,
        zone=zone,
        head=head[:HEAD_BYTES],
        beginning=sample[:BEGINNING_BYTES].decode("utf-8", "replace"),
        headings=headings_of(sample) if len(sample) < SAMPLE_BYTES and not (outermost or recoding) else "",
    )


@lru_cache(maxsize=16)
def shape_of(sample: bytes, wrapper: str, layouts: tuple[Layout, ...]) -> tuple[str, Verdict]:
    """Detect the wrapper and the layouts of a sample; cached, because a followed log is inspected repeatedly."""
    wrapper = detect_wrapper(sample, wrapper)
    verdict = _verdict(sample, wrapper, layouts)
    around, _, innermost = wrapper.rpartition(INSIDE)
    if innermost == SYSLOG and _is_mostly_unmatched(verdict):
        services = (detect_layouts(part.text, layouts) for part in peel(sample, wrapper))
        if all(one.line_count and _is_mostly_unmatched(one) for one in services):
            # The lines contain only the message, so syslog's header is the record's.
            return around, _verdict(sample, around, layouts)
        # Each line of the other services is a record with syslog's header.
        verdict = verdict._replace(unmatched_count=0)
    return wrapper, verdict


def _is_mostly_unmatched(verdict: Verdict) -> bool:
    return verdict.unmatched_count * 2 > verdict.line_count


def _verdict(sample: bytes, wrapper: str, layouts: tuple[Layout, ...]) -> Verdict:
    inner = b"\n".join(part.text for part in peel(sample, wrapper)) if wrapper else sample
    return detect_layouts(inner, layouts)


def _is_document(sample: bytes) -> bool:
    """Return whether a file is one JSON value over many lines."""
    first, _, rest = sample.lstrip().partition(b"\n")
    return first.strip() in (b"{", b"[") and rest.lstrip()[:1] in (b'"', b"{", b"}", b"]")


def _is_binary(sample: bytes) -> bool:
    return sample.count(b"\0") * 10 > len(sample)
