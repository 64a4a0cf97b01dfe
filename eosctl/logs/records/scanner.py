"""Read records from bytes so that every division of a file into splits gives the same events.

An event belongs to the split in which its header line starts. A reader searches headers from the start of its split,
reads its last event to the end even beyond the split, and stops at the first header at or after the split's end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Final

from eosctl.logs.carriers.structured import Entry, parse_pairs, read_entry
from eosctl.logs.layout_catalog import NUMBERED, PRIORITIZED
from eosctl.logs.layouts import GENERAL, TABLES, Verdict, compile_line, compile_text_line
from eosctl.logs.levels import NO_LEVEL, SYSLOG, find_level, known_level, level_of
from eosctl.logs.records.forms import MARK_BYTES, MAX_KEY_BYTES, Forms, key_of
from eosctl.logs.records.joined import unfold
from eosctl.logs.records.record import SHELL, Buffer, Record

MAX_EVENT_BYTES: Final = 256 * 1024
"""A longer event is truncated; stack traces are far shorter."""

_LOGGER_AT_END: Final = re.compile(r" \(([\w.$]+)(?::\d+)?\)(?: \[([^\]]*)\])?\s*$")
_LOGGER_AT_START: Final = re.compile(
    r"(?:\[([^\]\n]{1,80})\] +)?\[?((?:[\w$-]+\.)+[\w$-]+)(?<!Exception)(?<!Error)(?::\d+)?\]?"
    r"(?: +[\[(](?!(?:Group|Transaction)\w+ |Controller |stream-)([^\])\n=]{1,80})[\])](?: *(?:--?>?|:))?"
    r"| +(?:--?>?|:)|:|(?= +\[)) +(?=\S)"
)
"""A logger with a thread before or after it, before a message that may begin with its subject."""
_PROSE: Final = re.compile(r"(?:[a-z]|\bI/O) $")
_KLOG_LEVELS: Final = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
_JUL: Final = re.compile(r"([^\W\d_]{2,20}): ([^\n]*)\n?")
"""The second line of a record of java.util.logging."""
OWN_RECORD: Final = re.compile(rb"^(?![ \t]|Caused by|\.\.\. |Traceback|at [\w.$/<>]+\()[^\n]*\S", re.MULTILINE)
"""A line that is a separate record if no layout is known."""

_THROWN: Final = re.compile(rb"(?:[a-z][\w$]*\.){2,}[\w$]+(?:Exception|Error)\b")
"""A line that begins with an exception; it belongs to the line above it, if that is a record of another kind."""
CUT_TRACE: Final = re.compile(
    rb"^(?:[ \t]+|[ \t]*(?:Caused by|Suppressed): )(?:[\w$]+\.)+[\w$]+(?:Exception|Error)\b", re.MULTILINE
)
"""A trace that was pasted with indentation, or from one of its causes on."""
_POD: Final = re.compile(rb"^ +[Rr]eason: +OOMKilled\b", re.MULTILINE)
"""The end of a container in a description of a pod; all lines are indented if only a part of it was pasted."""
_POD_ENDED: Final = re.compile(
    r'^ +(?:Finished: +(?:[A-Z][a-z]{2}, )?|finishedAt: "?)([\w,:+ -]{19,40}?)"?\r?$', re.MULTILINE
)
_LEVEL_WORD: Final = re.compile(r"(FATAL|ERROR|WARN|INFO|DEBUG|TRACE) +(?=\S)")
_KAFKA_LOGGERS: Final = ("kafka.", "org.apache.kafka.", "state.change.logger")
"""Loggers of Kafka's own layout, whose lines are often pasted without their time."""
_STAMPED: Final = frozenset("[0123456789")
"""The first character of a message that is a complete line with its own timestamp."""
_RDKAFKA_START: Final = ord("%")
_PROMPT: Final = b"\n$ "
"""The prompt of a shell in pasted output: what the command behind it prints is not a part of the record above."""


def scan_records(
    data: Buffer, verdict: Verdict, start: int = 0, end: int | None = None, forms: Forms | None = None
) -> Iterator[Record]:
    """Yield the records whose header starts in ``[start, end)``.

    Args:
        data: The whole file, in memory or mapped.
        verdict: The file's layouts.
        start: First byte of the split.
        end: First byte after it; None means the end of the data.
        forms: The cache of forms. Irrelevant records are counted but not parsed, except for the first and the last
            record, which show the time.
    """
    stop = len(data) if end is None else min(end, len(data))
    if start >= stop:
        return
    lines = _LineCounter(data, start)
    if not verdict.has_headers:
        yield from _scan_lines(data, verdict, start, stop, lines)
        return
    reader = HeaderReader(verdict, forms)
    headers = reader.pattern.finditer(data, start)
    found = next(headers, None)
    if start == 0 and (found is None or found.start() > 0):
        first_end = len(data) if found is None else found.start()
        if bytes(data[: min(first_end, 65536)]).strip():
            yield read_headerless(data, 0, first_end, 0)
    passed_count, is_first = 0, True
    while found is not None and found.start() < stop:
        following = next(headers, None)
        event_end = len(data) if following is None else following.start()
        is_last = following is None or event_end >= stop
        offset = found.start()
        key = reader.key(data, offset, event_end)
        if not is_first and not is_last and reader.forms.is_irrelevant(key):
            passed_count += 1
        else:
            form = reader.forms.get(key)
            line = lines.at(offset)
            if form is None:
                prompt = data.find(_PROMPT, offset, event_end) + 1
                yield reader.record(data, found, prompt or event_end, line, b"" if prompt else key, passed_count)
                if prompt:
                    yield read_headerless(data, prompt, event_end, lines.at(prompt))._replace(application=SHELL)
            else:
                yield form.read(data, offset, line, passed_count)
            passed_count = 0
        found, is_first = following, False


def _scan_lines(data: Buffer, verdict: Verdict, start: int, stop: int, lines: _LineCounter) -> Iterator[Record]:
    """Yield one record for each line that is not a continuation, if no layout is known."""
    headers = (one for one in OWN_RECORD.finditer(data, start) if not _is_thrown_by_above(data, one))
    known = verdict.header() if verdict.layouts else None
    parsers = HeaderReader(verdict)
    found = next(headers, None)
    if found is None and start == 0 and (CUT_TRACE.search(data) or _POD.search(data)):
        yield read_headerless(data, 0, len(data), 0)
    while found is not None and found.start() < stop:
        following = next(headers, None)
        event_end = len(data) if following is None else following.start()
        header = known.match(data, found.start()) if known else None
        if header is not None:
            yield parsers.record(data, header, event_end, lines.at(found.start()))
        else:
            yield read_headerless(data, found.start(), event_end, lines.at(found.start()))
        found = following


def _is_thrown_by_above(data: Buffer, found: re.Match[bytes]) -> bool:
    """Return whether a line is the exception of the record whose first line is directly above it."""
    start = found.start()
    if start == 0 or _THROWN.match(data, start) is None:
        return False
    above = bytes(data[max(0, start - MAX_EVENT_BYTES) : start - 1]).rpartition(b"\n")[2]
    return OWN_RECORD.match(above) is not None and _THROWN.match(above) is None


class _LineCounter:
    """Counts lines from one position to the next."""

    def __init__(self, data: Buffer, start: int) -> None:
        self._data = data
        self._position = start
        self._count = 0

    def at(self, position: int) -> int:
        self._count += self._data[self._position : position].count(b"\n")
        self._position = position
        return self._count


class HeaderReader:
    """Parses a header by the layout that it matched.

    Attributes:
        pattern: A pattern that finds the headers of all layouts.
        forms: The cache of forms.
    """

    def __init__(self, verdict: Verdict, forms: Forms | None = None) -> None:
        self.pattern = verdict.header()
        self.forms = forms or Forms()
        self._layouts = verdict.layouts
        self._mark = blake2b(repr(verdict.layouts).encode(), digest_size=MARK_BYTES).digest()
        self._patterns = tuple(compile_line(layout) for layout in verdict.layouts)
        self._texts = tuple(compile_text_line(layout) for layout in verdict.layouts)
        self._has_numbers = any(layout.name in (NUMBERED, PRIORITIZED) for layout in verdict.layouts)

    def key(self, data: Buffer, offset: int, end: int) -> bytes:
        """Return the key of a record's form, see ``key_of``."""
        # librdkafka's records begin like this, and their level is a digit.
        if end - offset > MAX_KEY_BYTES or data[offset] == _RDKAFKA_START or self._has_numbers:
            return b""
        return key_of(data[offset:end], self._mark)

    def record(
        self, data: Buffer, found: re.Match[bytes], end: int, line: int, key: bytes = b"", passed_count: int = 0
    ) -> Record:
        """Parse the record from a header to its end."""
        offset = found.start()
        index = int(str(found.lastgroup).removeprefix("layout_"))
        layout = self._layouts[index]
        truncated = end - offset > MAX_EVENT_BYTES
        raw = bytes(data[offset : min(end, offset + MAX_EVENT_BYTES)])
        raw = raw.removeprefix(b"\xef\xbb\xbf")
        head, _, tail = raw.partition(b"\n")
        text, undecodable = _decode(tail) if tail else ("", False)
        groups, undecodable = self._groups(index, head), undecodable or not (head.isascii() or _is_utf8(head))
        if "json" in groups or "pairs" in groups:
            bare = Record(
                offset, line, "", "", "", "", "", "", text, truncated, undecodable, key=key, passed_count=passed_count
            )
            return (
                _of_json(head, bare) if "json" in groups else _of_entry(read_entry(parse_pairs(groups["pairs"])), bare)
            )
        message, text = unfold(groups.get("message", "").rstrip("\r"), text)
        # A tool's table has no logger; the name of its layout identifies the columns for the catalog.
        logger = groups.get("logger", "") or (layout.name if layout.name in TABLES else "")
        thread = groups.get("thread", "").strip()
        if layout.trailing:
            message, logger, thread = _take_logger(message, thread)
        elif layout.name in GENERAL:
            if layout.name == "dated" and groups.get("level"):
                message = _with_prose(message, groups, _decode(head)[0])
            message, logger, thread = _take_first_logger(message)
        level, time = groups.get("level", "").upper(), groups.get("time", "")
        if layout.name == "rdkafka":
            level, logger = SYSLOG[int(level)], groups["facility"]
            message = f"[{groups['client']}] {message}"
        elif layout.name == PRIORITIZED:
            level = find_level(message).level or SYSLOG[int(level) % len(SYSLOG)]
        elif layout.name == "klog":
            level = _KLOG_LEVELS[level]
        elif layout.name == "jul":
            level, message, text = _take_jul(text)
        elif layout.name in ("dotnet", "dated-above") and not message.strip():
            message, _, text = text.lstrip().partition("\n")
        level = level_of(level)
        if not level:
            found_level = find_level(message)
            level, message = found_level.level, message[found_level.length :]
            key = b"" if found_level.is_number else key
        application = groups.get("application", "").strip()
        parts = (time, level, thread, logger, application, message)
        host = groups.get("host", "")
        return Record(offset, line, *parts, text, truncated, undecodable, True, key, passed_count, host)

    def _groups(self, index: int, head: bytes) -> dict[str, str]:
        """Return the named parts of a header line; empty where the pattern does not match it."""
        if head.isascii() and b"\0" not in head:
            read = self._texts[index].match(head.decode())
            return {} if read is None else read.groupdict("")
        parsed = self._patterns[index].match(head)
        return {} if parsed is None else {name: _decode(part)[0] for name, part in parsed.groupdict(b"").items()}


def _take_logger(message: str, thread: str) -> tuple[str, str, str]:
    found = _LOGGER_AT_END.search(message)
    if found is None:
        return message, "", thread
    return message[: found.start()], found[1], found[2] or thread


def _take_first_logger(message: str) -> tuple[str, str, str]:
    found = _LOGGER_AT_START.match(message)
    return (message, "", "") if found is None else (message[found.end() :], found[2], found[1] or found[3] or "")


def _with_prose(message: str, groups: Mapping[str, str], head: str) -> str:
    """Return a message together with the words before its level, if the level is a word of a sentence."""
    level, behind = groups["level"], head.partition(groups["time"])[2]
    before = behind[: behind.find(level)]
    if not level.islower() or (message.strip() and not _PROSE.search(before)):
        return message
    return behind.lstrip(" \t|]:-").rstrip("\r")


def _take_jul(text: str) -> tuple[str, str, str]:
    """Return level, message, and further text of a record that has them in its second line."""
    found = _JUL.match(text)
    level = "" if found is None or (found[1].isascii() and not found[1].isupper()) else known_level(found[1])
    return (level, found[2].rstrip("\r"), text[found.end() :]) if found and level else ("", "", text)


def read_headerless(data: Buffer, start: int, end: int, line: int) -> Record:
    """Return a record for text without a header."""
    raw = bytes(data[start : min(end, start + MAX_EVENT_BYTES)])
    text, undecodable = _decode(raw.removeprefix(b"\xef\xbb\xbf"))
    head, _, tail = text.partition("\n")
    head, tail = unfold(head.rstrip("\r"), tail)
    truncated = end - start > MAX_EVENT_BYTES
    ended = _POD_ENDED.search(tail) if "OOMKilled" in tail else None
    own = find_level(head)
    level, head = "" if own.is_bare else own.level, head[own.length :]
    message, logger, thread = _take_logger(head, "")
    if logger.startswith(_KAFKA_LOGGERS):
        found = _LEVEL_WORD.match(message)
        level, message = (found[1], message[found.end() :]) if found else (level, message)
    else:
        message, logger, thread = head, "", ""
    time = ended[1] if ended else ""
    parts = (time, level_of(level), thread, logger, "", message)
    return Record(start, line, *parts, tail, truncated, undecodable, False)


def _of_json(head: bytes, bare: Record) -> Record:
    try:
        values = json.loads(head.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return bare._replace(message=_decode(head)[0], undecodable=True, matched=False)
    return _of_entry(read_entry(values if isinstance(values, dict) else {}), bare)


def _of_entry(entry: Entry, bare: Record) -> Record:
    message, more = unfold(entry.message)
    found = find_level(message) if not entry.level or message[:1] in _STAMPED else NO_LEVEL
    # A collector gives a line the level of its stream; the line's own one is that of its program.
    is_own = bool(found.level) and (not entry.level or (found.is_of_line and not found.is_number))
    message = message[found.length :]
    return bare._replace(
        time=entry.time,
        level=found.level if is_own else entry.level,
        thread=entry.thread,
        logger=entry.logger,
        application=entry.application,
        message=message,
        rest="\n".join(part for part in (more, entry.rest, bare.rest) if part.strip()),
        host=entry.host,
        # A single digit distinguishes errors from other records.
        key=b"" if (found.is_number if is_own else entry.is_level_number) else bare.key,
    )


def _decode(raw: bytes) -> tuple[str, bool]:
    try:
        return raw.decode().replace("\0", ""), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").replace("\0", ""), True


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
