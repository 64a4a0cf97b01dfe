"""Remove the wrappers that carriers of logs put around each line.

The lines of a wrapped file, or of a part of it, are peeled and split by stream or service, and each of these is
scanned like a separate file. Every peeled line keeps its position in the file. Wrappers can be nested: then a
wrapper's name consists of several, the outermost first, with ``INSIDE`` between them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.logs.carriers.carriers import Inner, read_carried
from eosctl.logs.carriers.colors import has_colors, without_colors
from eosctl.logs.carriers.containers import (
    COMPOSE_ITSELF,
    SAME,
    unwrap_compose,
    unwrap_cri,
    unwrap_docker,
    unwrap_kubectl,
    unwrap_prefix,
    unwrap_stern,
)
from eosctl.logs.carriers.documents import Piece, pieces_of
from eosctl.logs.carriers.exports import JOURNAL, JSON, TABLE, export_pieces
from eosctl.logs.carriers.misread import MISREAD
from eosctl.logs.carriers.otlp import OTLP
from eosctl.logs.carriers.prefixes import (
    LABELED,
    MARKED,
    NAME_SERVICES,
    NAMED,
    NULS,
    PREFIXES,
    QUOTED,
    ROW,
    STAMPED,
    TAILED,
    indentation_of,
    is_fence,
    unindent,
    within_fences,
    without_commands,
    without_nuls,
)
from eosctl.logs.carriers.shapes import CAPTURED, has_captured_output, shapes_of, unwrap_captured, unwrap_shaped
from eosctl.logs.layouts import is_continuation
from eosctl.logs.levels import level_of_priority, with_priority

_SYSLOG: Final = re.compile(
    rb"(?:<(?P<priority>\d{1,3})>)?(?:1 )?"
    rb"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) "
    rb"(?!\| |\d{4}[-/]\d\d[-/]\d\d )(?P<host>\S+) "
    rb"(?:(?P<unit>[^\s:\[]+)(?:\[\d+\])?:|(?P<name>[^\s:\[]+) [\w.-]+ [\w.-]+ (?:-|\[[^\n]*?\])) ?(?P<text>.*)"
)


class Peeled(NamedTuple):
    """A part of a wrapped file.

    Attributes:
        name: The stream or service; empty if the file has only one.
        host: The machine that the wrapper names; empty if it names none.
        text: The lines without their wrapper.
        starts: Where each line starts in ``text``.
        origins: Where each line starts in the file.
        lasts: Where the last part of each line starts in the file; carriers cut long lines.
        numbers: The number of each line in the file, from 0.
        stamps: The time of each line according to the wrapper; empty if it has none.
        joints: Where a later part of a line starts, in ``text`` and in the file.
    """

    name: str
    host: str
    text: bytes
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    lasts: tuple[int, ...]
    numbers: tuple[int, ...]
    stamps: tuple[str, ...]
    joints: tuple[tuple[int, int], ...] = ()

    def origin(self, offset: int) -> tuple[int, int, str]:
        """Return offset, line number (from 0), and timestamp in the file of the line at ``offset`` of the text."""
        index = bisect_right(self.starts, offset) - 1
        return self.origins[index], self.numbers[index], self.stamps[index]


Unwrap = Callable[[bytes], Inner | None]
"""Returns a line without its wrapper; None if it is not wrapped."""


def _syslog(line: bytes) -> Inner | None:
    found = _SYSLOG.match(line)
    if found is None:
        return None
    unit = (found["unit"] or found["name"]).decode("utf-8", "replace")
    host = found["host"].decode("utf-8", "replace")
    text = with_priority(found["text"].replace(b"#011", b"\t"), level_of_priority(found["priority"]))
    return Inner(unit, text, stamp=found["stamp"].decode(), host="" if host == "-" else host)


def _ansi(line: bytes) -> Inner:
    return Inner("", line)


SYSLOG: Final = "syslog"
"""The wrapper whose header is a record's own header if the service writes none."""
_PLAIN: Final[dict[str, Unwrap]] = {"ansi": _ansi, NULS: without_nuls, CAPTURED: unwrap_captured}


_WRAPPERS: Final[tuple[tuple[str, Unwrap], ...]] = (
    ("cri", unwrap_cri),
    ("docker", unwrap_docker),
    ("carrier", read_carried),
    ("kubectl", unwrap_kubectl),
    (SYSLOG, _syslog),
    ("compose", unwrap_compose),
    ("kubectl-prefix", unwrap_prefix),
    ("stern", unwrap_stern),
    *PREFIXES,
)
_EARLY_STAMP: Final = re.compile(rb".{0,16}?(?:20|\d\d:\d\d:\d\d)")
"""The form of a record's timestamp, which follows the level at the latest."""
_STAMP: Final = re.compile(
    rb"[^\w\n]{0,2}(?:[A-Z]{4,8}\]?:? {1,4}\[?)?(?:(?:19|20)\d\d[-/.]?\d\d[-/.]?\d\d|\d\d[-/. ]\w{2,3}[-/. ]"
    rb"|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:|%[0-7]\|\d{10}\.\d{3}\|)"
)
"""The timestamp at the beginning of a record."""
_OF_TOOLS: Final = frozenset(name for name, _ in PREFIXES)
_NEEDS_STAMPS: Final = {
    "kubectl": 4,
    "stern": 500,
    "carrier": 1000,
    **dict.fromkeys(_OF_TOOLS, 20),
    **dict.fromkeys((NAMED, TAILED, STAMPED, MARKED), 3),
}
"""Wrappers that ordinary words may look like: one in this many of their lines must start like a record."""
_OF_PROSE: Final = frozenset({QUOTED, ROW, "grep", "numbered"})
"""Wrappers in mail, Markdown, and copies of a terminal, where other text is around the lines."""
_ONCE: Final = frozenset({"compose", "kubectl-prefix", "logcli", "heroku", LABELED})
"""Wrappers that ordinary words do not look like, so that some tools' first lines of records are enough."""
_AMID_OTHERS: Final = _OF_PROSE | _ONCE | {MISREAD}
"""Wrappers that need not be around nine lines in ten."""
_CONTINUES: Final = (b"\t", b"    ")
INSIDE: Final = "+"
SPAN_BYTES: Final = 256 * 1024
"""The maximum distance in the file between the lines of a record; streams take turns."""
_DEEPEST: Final = 3
_SAMPLE_BYTES: Final = 65_536
DOCUMENT: Final = "json-document"
"""The wrapper of records that are values of one document, or span several lines; see ``documents``."""
EXPORTS: Final = frozenset({JOURNAL, JSON, TABLE, OTLP})
_READ_LATER: Final = EXPORTS | {"carrier"}
"""Wrappers whose stamps are not always those of the moment at which a line was written: collectors read files later."""
_OF_FILES: Final = frozenset({DOCUMENT, *EXPORTS, NULS})
"""Wrappers around records of several lines, and one that makes a line of any length."""
_NAMES_SERVICES: Final = frozenset(
    {"compose", SYSLOG, "kubectl-prefix", "stern", "carrier", CAPTURED, DOCUMENT, *EXPORTS, *NAME_SERVICES}
)


def detect_wrapper(sample: bytes, known: str = "") -> str:
    """Return the wrapper of nine lines in ten, ``ansi`` for colored text, or an empty string.

    Args:
        sample: The first part of a file.
        known: The outermost wrapper if it is already known, such as that of a document or an export.
    """
    found = [known or _outer_wrapper(sample)]
    while found[-1] not in ("", "ansi") and len(found) < _DEEPEST:
        parts = sorted(peel(sample, INSIDE.join(found)), key=lambda part: -len(part.text))
        inner = (_outer_wrapper(part.text[:_SAMPLE_BYTES]) for part in parts)
        # Colors are removed from each part anyway.
        found.append(next((name for name in inner if name not in ("", "ansi")), ""))
    return INSIDE.join(name for name in found if name)


def _outer_wrapper(sample: bytes) -> str:
    every = [without_colors(line) for line in sample.split(b"\n")[:500] if line.strip()]
    lines = without_commands(within_fences(every))
    if not lines:
        return ""
    for name, unwrap in _WRAPPERS:
        begins_wrapped = name not in _ONCE or unwrap(lines[0]) is not None
        unwrapped = _unwrapped(lines, unwrap, needs_most=name not in _AMID_OTHERS or not begins_wrapped)
        hits = [one for one in unwrapped if one is not None]
        # Ordinary text may contain a pipe, but not a wrapper's timestamp before another one. Settings and stack
        # traces, which are indented, may be most of a program's first output.
        starts = [hit for hit in hits if hit.text[:1] not in (b" ", b"\t")] or hits
        begins = _is_stamped if name in _OF_TOOLS else _begins_record
        stamped = sum(begins(hit.text) for hit in starts)
        is_outside = name not in _NEEDS_STAMPS or stamped * _NEEDS_STAMPS[name] > len(starts)
        # A program stamps its records once; only a carrier adds a second timestamp.
        is_outside |= name == "kubectl" and any(hit.text.startswith(_CONTINUES) for hit in hits)
        is_outside &= any(hit.stream not in (COMPOSE_ITSELF, SAME) for hit in hits)
        if is_outside and (len(hits) * 10 >= len(lines) * 9 or _is_amid_others(name, lines, unwrapped)):
            return name
    if has_captured_output(lines):
        return CAPTURED
    if indent := indentation_of(lines, _is_stamped):
        return indent
    return shapes_of(lines) or ("ansi" if has_colors(sample) else "")


def _unwrapped(lines: Sequence[bytes], unwrap: Unwrap, *, needs_most: bool) -> list[Inner | None]:
    """Remove a wrapper from each line, or, if nine in ten must have it, until that is impossible."""
    unwrapped: list[Inner | None] = []
    lacking = 0
    for line in lines:
        inner = unwrap(line)
        unwrapped.append(inner)
        lacking += inner is None
        if needs_most and lacking * 10 > len(lines):
            break
    return unwrapped


def _is_amid_others(name: str, lines: Sequence[bytes], unwrapped: Sequence[Inner | None]) -> bool:
    """Return whether a wrapper need not be around all lines, as the others are traces or the text of a mail."""
    if name not in _AMID_OTHERS or len(unwrapped) < len(lines):
        return False
    if name == MISREAD:
        return True
    around = [line for line, inner in zip(lines, unwrapped, strict=True) if inner is None]
    if any(map(_is_stamped, around)):
        return False
    if name in _OF_PROSE:
        return len(around) * 2 <= len(lines)
    # Some tools print the prefix before the first line of a record only, and terminals wrap long lines.
    begun = sum(inner is not None and _begins_record(inner.text) for inner in unwrapped)
    first = unwrapped[0]
    is_begun = first is not None and _begins_record(first.text)
    return is_begun and sum(not is_continuation(line) for line in around) <= 2 * begun


def _begins_record(text: bytes, depth: int = _DEEPEST - 1) -> bool:
    """Return whether a text begins like a record, possibly after the names of services."""
    if _EARLY_STAMP.match(text) or text[:1] == b"{":
        return True
    below = (unwrap(text) for unwrap in (unwrap_prefix, unwrap_compose, unwrap_stern)) if depth else ()
    return any(inner is not None and _begins_record(inner.text, depth - 1) for inner in below)


def _is_stamped(text: bytes) -> bool:
    return _STAMP.match(text) is not None or text[:2] == b'{"'


def is_of_lines(wrapper: str) -> bool:
    """Return whether each line of a wrapped file can be unwrapped alone; true for a file without a wrapper."""
    return _OF_FILES.isdisjoint(wrapper.split(INSIDE))


def stamps_as_written(wrapper: str) -> bool:
    """Return whether a wrapper stamps lines as they are written, so that its stamps show the zone of theirs."""
    return _READ_LATER.isdisjoint(wrapper.split(INSIDE))


def names_services(wrapper: str) -> bool:
    """Return whether a wrapper's streams are services, not the standard output and error of one service."""
    return any(name in _NAMES_SERVICES or unwrap_shaped(name) is not None for name in wrapper.split(INSIDE))


def peel(data: bytes, wrapper: str) -> Iterator[Peeled]:
    """Remove a wrapper, and split the lines by stream and machine.

    Args:
        data: The whole file, or whole lines of it.
        wrapper: A name that ``detect_wrapper`` returned, or ``DOCUMENT``.
    """
    outer, _, inner = wrapper.partition(INSIDE)
    if outer == DOCUMENT:
        parts = _peel_pieces(pieces_of(data))
    elif outer in EXPORTS:
        parts = _peel_pieces(export_pieces(data, outer))
    else:
        parts = _peel_lines(data, outer)
    if not inner:
        yield from parts
        return
    for part in parts:
        for below in peel(part.text, inner):
            places = [part.origin(origin) for origin in below.origins]
            name = below.name if names_services(inner) else ""
            yield Peeled(
                name=name or (part.name if names_services(outer) else ""),
                host=below.host or part.host,
                text=below.text,
                starts=below.starts,
                origins=tuple(offset for offset, _, _ in places),
                lasts=tuple(part.lasts[bisect_right(part.starts, last) - 1] for last in below.lasts),
                numbers=tuple(number for _, number, _ in places),
                stamps=tuple(own or stamp for own, (_, _, stamp) in zip(below.stamps, places, strict=True)),
            )


def _peel_lines(data: bytes, wrapper: str) -> Iterator[Peeled]:
    unwrap: Unwrap = unindent(wrapper) or unwrap_shaped(wrapper) or _PLAIN.get(wrapper) or dict(_WRAPPERS)[wrapper]
    parts: dict[tuple[str, str, str], _Part] = defaultdict(_Part)
    last, offset = ("", "", ""), 0
    is_colored = has_colors(data)
    for number, line in enumerate(data.split(b"\n")):
        inner = unwrap(without_colors(line) if is_colored else line)
        if inner is None and is_fence(line):
            last = "", "", ""
        if inner is None or inner.stream == SAME:
            inner = Inner(last[0], line if inner is None else inner.text, host=last[1], path=last[2])
        last = inner.stream, inner.host, inner.path
        parts[last].add(inner, offset, number)
        offset += len(line) + 1
    yield from _peeled_parts(parts, is_colored=wrapper != "ansi")


def _peeled_parts(parts: Mapping[tuple[str, str, str], _Part], *, is_colored: bool) -> Iterator[Peeled]:
    for (stream, host, _), part in parts.items():
        if is_colored and has_colors(part.text):
            yield _plain(stream, host, part)
        else:
            yield part.peeled(stream, host, bytes(part.text), part.starts)


def _peel_pieces(pieces: Iterator[Piece]) -> Iterator[Peeled]:
    parts: dict[tuple[str, str, str], _Part] = defaultdict(_Part)
    for piece in pieces:
        # Text that is not JSON is written so that the scanner counts it as an unreadable record.
        text = f'{{"{" ".join(piece.text.split())}}}' if piece.values is None else json.dumps(piece.values)
        line = text.encode("utf-8", "surrogateescape")
        inner = read_carried(line) or Inner("", line)
        parts[inner.stream, inner.host, inner.path].add(inner._replace(whole=True), piece.offset, piece.line)
    yield from _peeled_parts(parts, is_colored=True)


class _Part:
    """The lines of one stream while they are collected."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.starts: list[int] = []
        self.origins: list[int] = []
        self.lasts: list[int] = []
        self.numbers: list[int] = []
        self.stamps: list[str] = []
        self.joints: list[tuple[int, int]] = []
        self._open = False

    def add(self, inner: Inner, origin: int, number: int) -> None:
        if self._open and origin - self.lasts[-1] > SPAN_BYTES:
            self.text += b"\n"
            self._open = False
        if self._open:
            self.lasts[-1] = origin
            self.joints.append((len(self.text), origin))
        else:
            self.starts.append(len(self.text))
            self.origins.append(origin)
            self.lasts.append(origin)
            self.numbers.append(number)
            self.stamps.append(inner.stamp)
        self.text += inner.text
        if inner.whole:
            self.text += b"\n"
        self._open = not inner.whole

    def peeled(self, stream: str, host: str, text: bytes, starts: Sequence[int]) -> Peeled:
        return Peeled(
            name=stream,
            host=host,
            text=text,
            starts=tuple(starts),
            origins=tuple(self.origins),
            lasts=tuple(self.lasts),
            numbers=tuple(self.numbers),
            stamps=tuple(self.stamps),
            joints=tuple(self.joints),
        )


def _plain(stream: str, host: str, part: _Part) -> Peeled:
    """Remove colors from peeled lines, which moves their starts."""
    lines = [without_colors(line) for line in bytes(part.text).split(b"\n")]
    starts, offset = [], 0
    for line in lines[: len(part.starts)]:
        starts.append(offset)
        offset += len(line) + 1
    plain = part.peeled(stream, host, b"\n".join(lines), starts)
    return plain._replace(joints=tuple(_plain_joint(part, starts, *joint) for joint in part.joints))


def _plain_joint(part: _Part, starts: Sequence[int], offset: int, origin: int) -> tuple[int, int]:
    line = bisect_right(part.starts, offset) - 1
    return starts[line] + len(without_colors(bytes(part.text[part.starts[line] : offset]))), origin
