"""What carries logs puts something in front of each line; this takes it off again.

A wrapped file is read as a whole: its lines are peeled, parted by stream or service, and each part is scanned like a
file of its own. Every peeled line remembers where it stood.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

_CRI: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP]) ?(.*)")
_COMPOSE: Final = re.compile(rb"([\w.-]+) +\| ?(.*)")
_KUBECTL: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z) (.*)")
_ANSI: Final = re.compile(rb"(?:\x1b|\^\[)\[[0-9;]*[A-Za-z]")


class Peeled(NamedTuple):
    """A part of a wrapped file.

    Attributes:
        name: The stream or service; empty when the file has one.
        text: The lines without their wrapper.
        starts: Where each line starts in ``text``.
        origins: Where the same line starts in the file.
        numbers: The number of the same line in the file, from 0.
    """

    name: str
    text: bytes
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    numbers: tuple[int, ...]

    def origin(self, offset: int) -> tuple[int, int]:
        """Return offset and line number (from 0) in the file of the line that starts at ``offset`` of the text."""
        index = bisect_right(self.starts, offset) - 1
        return self.origins[index], self.numbers[index]


Unwrap = Callable[[bytes], "tuple[str, bytes, bool] | None"]
"""Line to (stream, inner text, whether the line is whole); None when it is not wrapped."""


def _cri(line: bytes) -> tuple[str, bytes, bool] | None:
    found = _CRI.match(line)
    return (found[2].decode(), found[4], found[3] == b"F") if found else None


def _docker(line: bytes) -> tuple[str, bytes, bool] | None:
    if not line.startswith(b'{"log":'):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    inner = str(entry["log"]).encode()
    return str(entry.get("stream", "")), inner.rstrip(b"\r\n"), inner.endswith(b"\n")


def _compose(line: bytes) -> tuple[str, bytes, bool] | None:
    found = _COMPOSE.match(line)
    return (found[1].decode(), found[2], True) if found else None


def _kubectl(line: bytes) -> tuple[str, bytes, bool] | None:
    found = _KUBECTL.match(line)
    return ("", found[2], True) if found and not _CRI.match(line) else None


def _ansi(line: bytes) -> tuple[str, bytes, bool]:
    return "", _ANSI.sub(b"", line), True


_WRAPPERS: Final[tuple[tuple[str, Unwrap], ...]] = (
    ("cri", _cri),
    ("docker", _docker),
    ("kubectl", _kubectl),
    ("compose", _compose),
)


def detect_wrapper(sample: bytes) -> str:
    """Return the wrapper that nine lines of ten carry, ``ansi`` for coloured text, or an empty string."""
    lines = [line for line in sample.split(b"\n")[:500] if line.strip()]
    if not lines:
        return ""
    for name, unwrap in _WRAPPERS:
        hits = [unwrapped for line in lines if (unwrapped := unwrap(line)) is not None]
        # A pipe can stand in any first words; a wrapper's own stamp before another stamp cannot.
        inner_stamped = name != "kubectl" or sum(b"20" in inner[:8] for _, inner, _ in hits) * 4 > len(hits)
        if len(hits) * 10 >= len(lines) * 9 and inner_stamped:
            return name
    return "ansi" if _ANSI.search(sample) else ""


def peel(data: bytes, wrapper: str) -> Iterator[Peeled]:
    """Take a wrapper off and part the lines by stream.

    Args:
        data: The whole file.
        wrapper: A name that ``detect_wrapper`` returned.
    """
    unwrap: Unwrap = _ansi if wrapper == "ansi" else dict(_WRAPPERS)[wrapper]
    parts: dict[str, _Part] = defaultdict(_Part)
    last, offset = "", 0
    for number, line in enumerate(data.split(b"\n")):
        stream, inner, whole = unwrap(line) or (last, line, True)
        parts[stream].add(inner, whole, offset, number)
        last, offset = stream, offset + len(line) + 1
    for stream, part in parts.items():
        coloured = _ANSI.sub(b"", part.text) if wrapper != "ansi" and _ANSI.search(part.text) else None
        if coloured is None:
            yield Peeled(stream, bytes(part.text), tuple(part.starts), tuple(part.origins), tuple(part.numbers))
        else:
            yield _plain(stream, part)


class _Part:
    """Lines of one stream while they are gathered."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.starts: list[int] = []
        self.origins: list[int] = []
        self.numbers: list[int] = []
        self._open = False

    def add(self, inner: bytes, whole: bool, origin: int, number: int) -> None:
        if not self._open:
            self.starts.append(len(self.text))
            self.origins.append(origin)
            self.numbers.append(number)
        self.text += inner
        if whole:
            self.text += b"\n"
        self._open = not whole


def _plain(stream: str, part: _Part) -> Peeled:
    """Take colours out of peeled lines, which moves where they start."""
    lines = [_ANSI.sub(b"", line) for line in bytes(part.text).split(b"\n")]
    starts, offset = [], 0
    for line in lines[: len(part.starts)]:
        starts.append(offset)
        offset += len(line) + 1
    return Peeled(stream, b"\n".join(lines), tuple(starts), tuple(part.origins), tuple(part.numbers))
