"""Find what programs wrote below the prefixes of each line of a log, so that secrets of several lines are found in it.

Carriers and loggers put a prefix before each line, or a line into a string of JSON. The bodies of successive lines of
a stream are read as one text: a heredoc, a table, a block of YAML, a name and its value in two records.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.model.encoded_text import unescaped
from eosctl.model.named_secrets import holds_name
from eosctl.model.redaction import masked, merged, spans_over_lines
from eosctl.model.secret_columns import Columns, columns_of

_OWN_CHARS: Final = 1 << 17
_CONTEXT_CHARS: Final = 1 << 14
_LONGEST_LINE: Final = 1 << 20
"""Longer lines are left to who masks lines: joined with others they would take 90 times their size of memory."""
_DEEPEST: Final = 3
_TIME: Final = (
    r"(?:\d{4}[-/.]\d\d[-/.]\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[ ]?[+-]\d\d:?\d\d)?)?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|[A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ]\d\d:\d\d:\d\d)"
)
_LEVEL: Final = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|SEVERE)\b:?"
_BRACKET: Final = r"\[[^\]\n\"]{0,150}\]"
_UNIT: Final = r"[ ][\w.-]{1,80}[ ][\w./-]{1,80}\[\d{1,9}\]:"
_FIRST: Final = rf"(?:[\[(]?{_TIME}[\])]?(?:{_UNIT})?|{_LEVEL}|{_BRACKET}(?=[ ]{{1,2}}{_LEVEL}))"
_FURTHER: Final = (
    rf"(?:[ ]{{1,4}}(?:{_TIME}|{_LEVEL}|{_BRACKET}|\d{{1,9}}[ ]---|---?(?=[ ]))"
    r"|[ ]{1,2}(?:[\w$]{1,80}\.){1,12}[A-Z][\w$]{0,80}[ ]{0,40}[:-](?=[ ]))"
)
_PREFIX: Final = re.compile(
    r"(?:(?P<stream>[\w./-]{1,80})[ ]{0,40}\|[ ]|(?P<pod>\[pod/[^\]\s]{1,200}\])[ ]?|<\d{1,3}>\d?[ ]?)?"
    rf"(?:{_FIRST}(?:[ ]std(?:out|err)[ ][FP](?=[ ]|\Z)|{_FURTHER}{{0,12}})[ ]?)?",
    re.ASCII,
)
_LOGGER: Final = re.compile(r"[ \t]\([\w.$]{1,200}\)\s*\Z", re.ASCII)
_LONGEST_LOGGER: Final = 210
_CARRIED: Final = re.compile(
    r'"(?:log|message|msg|MESSAGE|line|_raw|textPayload|LogMessage|LogEntry|@message|text)"\s{0,8}:\s{0,8}'
    r'"((?:[^"\\]|\\.)*+)"'
)


class _Body(NamedTuple):
    """The body of a line.

    Attributes:
        stream: The program or container; empty if the line names none.
        text: What it wrote, with escapes of JSON replaced.
        starts: Where each character starts in the line, and where the last one ends.
        is_whole: Whether its line ends here; carriers cut long lines.
    """

    stream: str
    text: str
    starts: Sequence[int]
    is_whole: bool = True


def body_of(line: str) -> _Body:
    """Return the body of a line, whose line break does not belong to it."""
    bare = line.rstrip("\r\n")
    body = _Body("", bare, range(len(bare) + 1))
    for _ in range(_DEEPEST):
        peeled = _of_json(body) or _of_prefix(body)
        if peeled is None:
            break
        body = peeled
    end = len(body.text)
    logger = _LOGGER.search(body.text, max(0, end - _LONGEST_LOGGER))
    return body if logger is None else body._replace(text=body.text[: logger.start()])


def _of_json(body: _Body) -> _Body | None:
    if not body.text.startswith("{") or (carried := _CARRIED.search(body.text)) is None:
        return None
    inner = unescaped(carried[1])
    first = carried.start(1)
    starts = [body.starts[first + start] for start in inner.starts]
    is_cut = '"stream"' in body.text and not inner.text.endswith("\n")
    text = inner.text.rstrip("\r\n")
    return _Body(body.stream, text, starts, is_whole=body.is_whole and not is_cut)


def _of_prefix(body: _Body) -> _Body | None:
    found = _PREFIX.match(body.text)
    if found is None or not found.end():
        return None
    if found["stream"] and (body.stream or holds_name(found["stream"].lower())):
        return None  # a row of a table
    stream = found["stream"] or found["pod"] or body.stream
    is_cut = found[0].endswith((" P ", " P"))
    return _Body(stream, body.text[found.end() :], body.starts[found.end() :], is_whole=not is_cut)


def masked_bodies(data: bytes) -> Iterator[bytes]:
    """Yield the lines of a log with the secrets masked that are found in the bodies of successive lines.

    Args:
        data: Lines in UTF-8, or in another encoding that extends ASCII.
    """
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    columns: dict[str, Columns | None] = {}
    first = 0
    while first < len(lines):
        last = _reach(lines, first, _OWN_CHARS)
        before, behind = _reach_back(lines, first), _reach(lines, last, _CONTEXT_CHARS)
        bodies = [body_of(line if len(line) <= _LONGEST_LINE else "") for line in lines[before:behind]]
        found = _spans_of_streams(bodies)
        for number in range(first, last):
            body, line = bodies[number - before], lines[number]
            spans = [*found.get(number - before, ()), *_of_columns(columns, body)]
            shown = masked(line, merged(sorted(spans))) if spans else line
            yield shown.encode("utf-8", "surrogateescape")
        first = last


def _reach(lines: Sequence[str], first: int, chars: int) -> int:
    """Return the number of the line behind those from a first one on that have so many characters, at least one."""
    last = first
    while last < len(lines) and chars > 0:
        chars -= len(lines[last])
        last += 1
    return last


def _reach_back(lines: Sequence[str], last: int) -> int:
    chars = _CONTEXT_CHARS
    while last and chars > len(lines[last - 1]):
        last -= 1
        chars -= len(lines[last])
    return last


def _spans_of_streams(bodies: Sequence[_Body]) -> dict[int, list[tuple[int, int]]]:
    """Return the secrets in the joined bodies of each stream: by the number of the body, start and end in its line."""
    streams: dict[str, list[int]] = {}
    for number, body in enumerate(bodies):
        streams.setdefault(body.stream, []).append(number)
    found: dict[int, list[tuple[int, int]]] = {}
    for numbers in streams.values():
        pieces, places, length = [], [], 0
        for number in numbers:
            places.append(length)
            pieces.append(bodies[number].text + ("\n" if bodies[number].is_whole else ""))
            length += len(pieces[-1])
        for start, end in spans_over_lines("".join(pieces)):
            for index in range(bisect_right(places, start) - 1, len(places)):
                if places[index] >= end:
                    break
                body = bodies[numbers[index]]
                low, high = max(start - places[index], 0), min(end - places[index], len(body.text))
                if low < high:
                    found.setdefault(numbers[index], []).append((body.starts[low], body.starts[high]))
    return found


def _of_columns(columns: dict[str, Columns | None], body: _Body) -> Iterator[tuple[int, int]]:
    """Yield the secrets of a body that is the next row of a table of its stream."""
    current = columns.get(body.stream)
    spans = None if current is None else current.spans(body.text)
    if spans is None:
        columns[body.stream] = columns_of(body.text)
    for start, end in spans or ():
        yield body.starts[start], body.starts[end]
