"""Read the logs of a bundle as `logs report` reads them: by content, not by name.

An ending never decides what a file holds. What is not text once it is unpacked and decoded is refused, because
secrets cannot be found in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.files.content import (
    MAX_INFLATED_BYTES,
    Margins,
    codec_of,
    first_inflated,
    inflated_windows,
    is_streamed,
    read_content,
    read_head,
    recoded,
    recoding_of,
)
from eosctl.logs.files.inputs import opened_inputs
from eosctl.logs.files.sources import KAFKA_DATA, archive_in, find_files, leads_out, list_files

_STEP_BYTES: Final = 1 << 22
_HEAD_BYTES: Final = 1 << 18
_WIDEST: Final = 4
# A truncated file begins with NULs, and a power loss leaves blocks of them between lines.
_NULS: Final = re.compile(rb"\0{8,}")
_CONTROLS: Final = bytes(byte for byte in range(32) if byte not in b"\b\t\n\v\f\r\x1b")
_CONTROL: Final = re.compile(b"[" + re.escape(_CONTROLS) + b"]")
_LEAST_PER_CONTROL: Final = 50
"""One byte in so many may be a control character that text does not have."""
_CHECKED_BYTES: Final = 4_096
# How Python represents a byte of a file's name that is not UTF-8.
_FOREIGN_BYTE: Final = re.compile("[\udc80-\udcff]")


class NotText(Exception):  # noqa: N818 - a reason, not a defect
    """A file cannot be read as text; the message is the reason."""


class LogText(NamedTuple):
    """The end of a log as lines of text.

    Attributes:
        data: Lines in UTF-8, or in another encoding that extends ASCII.
        is_cut: Whether there is more before them, so that the first one may be a part of a line.
        gap: What is not there and why; empty if nothing is missing.
    """

    data: bytes
    is_cut: bool
    gap: str


class LogFile(NamedTuple):
    """A log to read.

    Attributes:
        path: Where it is; a temporary file if it comes from an archive.
        name: The file as the user named it, in UTF-8.
        reason: Why it is not read; empty if it is.
    """

    path: Path
    name: str
    reason: str = ""


@contextmanager
def log_files(paths: Iterable[Path]) -> Iterator[Iterator[LogFile]]:
    """Yield the files below paths and within archives; temporary copies exist while the ``with`` block runs.

    A link below a folder that leads out of the paths is not followed: a program that writes to the folder would choose
    what leaves the machine.
    """
    given = tuple(paths)
    with opened_inputs(given) as opened:

        def found() -> Iterator[LogFile]:
            links = {link: str(Path(link).resolve()) for link in _links_out_of(given)}
            for link, target in links.items():
                yield LogFile(Path(link), printable(link), f"a link to {printable(target)}; to bundle that, name it")
            yield from (LogFile(Path(one.name), printable(one.name), one.reason) for one in opened.unread)
            for path, reason in list_files(opened.paths):
                name = opened.name_of(str(path))
                # An archive and what it contains have the link's name, too.
                is_linked = any(name == link or name.startswith(f"{link}/") for link in links)
                if str(path) not in opened.archives and not is_linked:
                    yield LogFile(path, printable(name), reason)

        yield found()


def _links_out_of(paths: tuple[Path, ...]) -> Iterator[str]:
    """Yield the files below folders that are links to files outside of all of the paths."""
    for file in find_files(path for path in paths if path.is_dir()):
        if file not in paths and file.is_symlink() and file.exists() and leads_out(file, paths):
            yield str(file)


def printable(name: str) -> str:
    """Return a file's name as UTF-8 can hold it: a byte that is not UTF-8 becomes `%` and its number, as in URLs."""
    return _FOREIGN_BYTE.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", name)


def read_log_text(path: Path, most_bytes: int) -> LogText:
    """Read the end of a log after decompression, as text.

    Args:
        path: The file.
        most_bytes: Number of bytes from its end to read.

    Raises:
        NotText: The file is an archive within an archive, or is not text.
        OSError: The file cannot be read.
    """
    if KAFKA_DATA.fullmatch(path.name):
        raise NotText("Kafka's data, not a log")
    head = read_head(path, _HEAD_BYTES)
    codec = codec_of(head)
    data, is_cut, error = _inflated(path, codec, most_bytes) if codec else _plain(path, most_bytes)
    if codec:
        head = first_inflated(path, _HEAD_BYTES)
    if inner := archive_in(head) or (codec_of(head) if codec else ""):
        raise NotText(f"{inner} data in it cannot be read; unpack it first")
    if error and not data:
        raise NotText(f"it cannot be unpacked: {error}")
    if recoding := recoding_of(head):
        data = recoded(data, recoding)
    data = _NULS.sub(b"", data)
    text = _text_part(data)
    if data and not text:
        raise NotText("it is not text, so secrets cannot be found in it")
    gaps = (
        f"only its last {most_bytes >> 20} MiB are here" if is_cut else "",
        f"it is damaged: {error}" if error else "",
        f"{len(data) - len(text):,} bytes at its end are not text" if len(text) < len(data) else "",
    )
    return LogText(text.replace(b"\0", b""), is_cut, "; ".join(filter(None, gaps)))


def _plain(path: Path, most_bytes: int) -> tuple[bytes, bool, str]:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - most_bytes)
        file.seek(start - start % _WIDEST)
        return file.read(size - start + _WIDEST), start > 0, ""


def _inflated(path: Path, codec: str, most_bytes: int) -> tuple[bytes, bool, str]:
    if not is_streamed(read_head(path, 16)):
        content = read_content(path)
        data = bytes(content.data)
        start = max(0, len(data) - most_bytes) // _WIDEST * _WIDEST
        return data[start:], start > 0, content.error
    tail, position, error = bytearray(), 0, ""
    for window in inflated_windows(path, _STEP_BYTES, Margins(0, 0)):
        tail += window.data
        position, error = window.base + len(window.data), window.error
        del tail[: max(0, (len(tail) - most_bytes) // _WIDEST * _WIDEST)]
        if position > MAX_INFLATED_BYTES:
            error = f"read up to byte {position:,}"
            break
    return bytes(tail), position > len(tail), error


def _text_part(data: bytes) -> bytes:
    """Return the lines at the beginning, up to the first one with the control characters of binary data."""
    for start in range(0, len(data), _CHECKED_BYTES):
        part = data[start : start + _CHECKED_BYTES]
        if (len(part) - len(part.translate(None, _CONTROLS))) * _LEAST_PER_CONTROL > len(part):
            first = _CONTROL.search(data, max(0, start - _CHECKED_BYTES))
            return data[: data.rfind(b"\n", 0, start if first is None else first.start()) + 1]
    return data
