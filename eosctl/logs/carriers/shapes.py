"""Find prefixes that the tools of builds and development print before each line, by their shape.

Each of these tools has a form of its own: the name of a task, a number, a clock, a place in a test. The prefixes of one
file differ in their digits only, and records of a known layout follow them. A program under test may also log the
output of containers and processes next to records of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from eosctl.logs.carriers.carriers import Inner
from eosctl.logs.layouts import is_of_layout

_SHAPED: Final = "prefix"
_BETWEEN: Final = ","
_START: Final = re.compile(
    rb"[\[\"]?(?:20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|(?<!\d[T ])\d\d:\d\d:\d\d[.,]\d{3}"
    rb"|(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b)"
    rb"|\[[^\]\n]{1,60}\] (?:TRACE|DEBUG|INFO|WARN|ERROR) |%[0-7]\|\d{10}\.\d{3}\||\{\"|(?:time|level|ts)="
)
"""The first characters of records: a whole timestamp, a level, a thread before one, librdkafka's, JSON, logfmt."""
_LONGEST: Final = 120
_MOST_SHAPES: Final = 12
_FEWEST_RECORDS: Final = 2
_DIGITS: Final = re.compile(rb"\d+")
_STAMP: Final = re.compile(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_HEADED: Final = re.compile(
    rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,16}[ \t]+\W?(?i:trace|debug|info|warn(?:ing)?|error|d?panic|fatal)\W?"
    rb"[ \t]+\S"
)
"""The header and message of a record, which end with its fields as JSON."""
_TEXT: Final = re.compile(rb"Exception\b|Error\b|Caused by")
"""Words of a record: a writer that lost a line's end put the next record behind it."""
_NAME: Final = re.compile(r"[A-Za-z][\w./@:-]*\w")
_STREAM: Final = re.compile(r"(?i)std(?:out|err)|out|err|log|(?:debug|info|warn(?:ing)?|error|notice|default)")
CAPTURED: Final = "captured"
"""The wrapper of a log that contains such output."""
_OUTPUT: Final = re.compile(rb"((?:[^\n]{8,200}? )?)(?:STDOUT|STDERR|stdout|stderr): ?(.*)", re.DOTALL)
_OWN: Final = re.compile(rb"\[?(?:20\d\d-\d\d-\d\d[T ])?\d\d:\d\d:\d\d")
_CONTAINER: Final = "container"


def shapes_of(lines: Sequence[bytes]) -> str:
    """Return the name of the wrapper of lines that begin with the same text, up to its digits; empty without one.

    Nine lines in ten must have it, also those of stack traces, or half of them if no record is among the others.
    Records of a known layout must follow it, and the whole lines must not have one.
    """
    counts = Counter(shape for line in lines if (shape := _shape(line)))
    if counts.total() < _FEWEST_RECORDS or sum(map(is_of_layout, lines)) * 2 > counts.total():
        return ""
    chosen = [shape for shape, count in counts.most_common(_MOST_SHAPES) if count * 20 >= counts.total()]
    name = f"{_SHAPED}-{_BETWEEN.join(quote(shape, safe='') for shape in sorted(chosen, key=len, reverse=True))}"
    unwrap = _unwrap(name)
    around = [line for line in lines if unwrap(line) is None]
    few = len(around) * 10 <= len(lines)
    return name if few or (len(around) * 2 <= len(lines) and not any(map(_START.match, around))) else ""


def unwrap_shaped(name: str) -> Callable[[bytes], Inner | None] | None:
    """Return the function that removes the prefixes of such a wrapper; None for any other name."""
    return _unwrap(name) if name.startswith(f"{_SHAPED}-") else None


def _shape(line: bytes) -> bytes:
    """Return the shape of the text before the first place in a line where a record of a known layout starts."""
    for found in _START.finditer(line, 1, _LONGEST):
        prefix = line[: found.start()]
        if found[0] == b'{"' and _HEADED.match(prefix):
            return b""
        if prefix.strip() and not _TEXT.search(prefix) and is_of_layout(line[found.start() :]):
            return _DIGITS.sub(b"0", prefix)
    return b""


@cache
def _unwrap(name: str) -> Callable[[bytes], Inner | None]:
    shapes = [unquote_to_bytes(shape) for shape in name.partition("-")[2].split(_BETWEEN)]
    # Tools and editors remove blanks at the ends of lines.
    forms = (rb"\d+".join(map(re.escape, shape.rstrip().split(b"0"))) + _blanks(shape) for shape in shapes)
    prefix = re.compile(b"(" + b"|".join(forms) + b")(.*)", re.DOTALL)
    has_services = len(shapes) > 1

    def unwrap(line: bytes) -> Inner | None:
        found = prefix.match(line)
        if found is None:
            return None
        stamp = _STAMP.search(found[1])
        return Inner(_service(found[1]) if has_services else "", found[2], stamp=stamp[0].decode() if stamp else "")

    return unwrap


def _blanks(shape: bytes) -> bytes:
    blanks = shape[len(shape.rstrip()) :]
    return b"(?:" + re.escape(blanks) + b"|$)" if blanks else b""


def _service(prefix: bytes) -> str:
    """Return the name in a prefix; empty if it names only a stream or a level."""
    names = _NAME.findall(prefix.decode("utf-8", "replace"))
    return next((name for name in names if not _STREAM.fullmatch(name)), "")


def has_captured_output(lines: Sequence[bytes]) -> bool:
    """Return whether records of a known layout follow the names of standard streams."""
    found = filter(None, map(_OUTPUT.match, lines))
    return sum(is_of_layout(one[2]) for one in found) >= _FEWEST_RECORDS


def unwrap_captured(line: bytes) -> Inner | None:
    """Return a line of the output, or one of the program itself; None for a further line of either."""
    if found := _OUTPUT.match(line):
        return Inner(_CONTAINER if found[1] else "", found[2])
    return Inner("", line) if _OWN.match(line) else None
