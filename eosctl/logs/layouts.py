"""Detect the layouts of a file's log records.

A layout is the pattern of a header line. An event extends from one header to the next, so stack traces and other
further lines belong to it. A file may mix layouts (an application's own and its client library's): detection picks the
smallest set that matches a sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from eosctl.logs.layout_catalog import LAYOUTS, Layout

_ANYTHING: Final = "(?:[^\\n]*)"
_EMBEDDED: Final = ("rdkafka", "librdkafka-program", "jvm-uncaught", "describe-topic")
"""Layouts that may occur in any file: the output of a library, the JVM, or a tool on a terminal, which indents it."""

GENERAL: Final = ("level-in-brackets", "dated", "levelled", "undated", "level-alone", "dated-above")
"""Layouts that match too much to be tried before the others."""

TABLES: Final = frozenset({"open-producers", "find-hanging", "describe-transaction"})
"""Rows of Kafka's tools. Their records mean something by their shape alone."""

_WHOLE: Final = "json"
"""The layout whose records end with their line, so that the text below one is not a part of it."""
_TEXT: Final = Layout("text", r"(?P<message>[^\s{][^\n]*)")
"""Lines that a program prints next to its structured records."""

_SAMPLE_LINES: Final = 1500

_CONTINUATION: Final = re.compile(
    rb"\s|Caused by: |Suppressed: |Wrapped by: |\.\.\. \d+|Traceback \(|\*|! ?|$|"
    rb"[a-z][\w$]*(?:\.[\w$]+)+(?:Exception|Error)\b|"
    # A line of a trace behind the sign of a quotation or a frame, and one that lost its indentation.
    rb"[|>][ \t]{0,8}(?:Caused by: |\.\.\. \d+ more|--- End of )|(?:[|>][ \t]{0,8})?at [\w$.<>`/@-]{3,300}[\[(]"
)
_BELOW: Final = r"(?P<message>\r?$)"
"""The end of a layout whose header line has no message: the next line has it."""


_SPACE: Final = re.compile(r"(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|\\[sS]|\\.")
_ALL_SPACE: Final = r"\s\x0b"
_SPACES: Final = {r"\s": f"[{_ALL_SPACE}]", r"\S": f"[^{_ALL_SPACE}]"}


class Verdict(NamedTuple):
    """The result of detection.

    Attributes:
        layouts: The layouts, always including those of ``_EMBEDDED``.
        line_count: Number of lines in the sample that should be headers.
        unmatched_count: Number of these lines that no chosen layout matches.
    """

    layouts: tuple[Layout, ...]
    line_count: int
    unmatched_count: int

    @property
    def name(self) -> str:
        """The names of the layouts in the sample."""
        shown = [layout.name for layout in self.layouts if layout.name not in _EMBEDDED]
        return "+".join(shown) or "none"

    @property
    def has_headers(self) -> bool:
        """Return whether a layout that is not embedded was found; without one, every line is a record."""
        return any(layout.name not in _EMBEDDED for layout in self.layouts)

    def header(self) -> re.Pattern[bytes]:
        """Compile the pattern of a header line: one alternative per layout, with groups numbered by the layout."""
        return compile_header(self.layouts)


def detect_layouts(sample: bytes, choices: Sequence[Layout] = LAYOUTS) -> Verdict:
    """Choose the layouts of a sample.

    Args:
        sample: The first part of a file; the last line may be cut.
        choices: The layouts to choose from, the most specific first.
    """
    lines = list(_own_lines(sample.split(b"\n")[:_SAMPLE_LINES], choices))
    embedded = tuple(layout for layout in choices if layout.name in _EMBEDDED)
    patterns = [compile_line(layout) for layout in embedded]
    remaining = [line for line in lines if not any(pattern.match(line) for pattern in patterns)]
    chosen: list[Layout] = []
    for tier in (_specific(choices), _general(choices)):
        while remaining:
            best, hits = _best_layout(tier, remaining)
            if best is None or (chosen and sum(hits) < len(lines) / 200):
                break
            chosen.append(best)
            remaining = [line for line, hit in zip(remaining, hits, strict=True) if not hit]
    if remaining and [layout.name for layout in chosen] == [_WHOLE]:
        chosen.append(_TEXT)
    chosen.sort(key=lambda layout: choices.index(layout) if layout in choices else len(choices))
    ordered = tuple(layout for layout in embedded if layout not in chosen) + tuple(chosen)
    return Verdict(ordered, len(lines), len(remaining))


def _own_lines(lines: Iterable[bytes], choices: Sequence[Layout]) -> Iterator[bytes]:
    """Yield the lines that should be headers: neither further lines of a record nor messages below their header."""
    headers = [compile_line(layout) for layout in choices if layout.pattern.endswith(_BELOW)]
    is_below = False
    for line in lines:
        if not is_below and not _CONTINUATION.match(line):
            yield line
        is_below = not is_below and any(header.match(line) for header in headers)


def _best_layout(tier: Sequence[Layout], lines: Sequence[bytes]) -> tuple[Layout | None, list[bool]]:
    """Return the first layout of those that match the most lines, and which lines it matches; None if none matches."""
    best, most, hits = None, 0, [False] * len(lines)
    for layout in tier:
        pattern = compile_line(layout)
        found = [pattern.match(line) is not None for line in lines]
        if sum(found) > most:
            best, most, hits = layout, sum(found), found
        if most == len(lines):
            # Later layouts cannot match more, and most files have only one layout.
            break
    return best, hits


def is_continuation(line: bytes) -> bool:
    """Return whether a line has the form of a further line of a record, such as one of a stack trace."""
    return _CONTINUATION.match(line) is not None


def is_of_layout(line: bytes) -> bool:
    """Return whether a line is a header of a specific layout, or of librdkafka."""
    return any(
        compile_line(layout).match(line)
        for layout in LAYOUTS
        if layout.name not in GENERAL and layout.name not in TABLES
    )


@cache
def compile_line(layout: Layout) -> re.Pattern[bytes]:
    """Compile one layout's pattern for a line that starts where matching starts."""
    return re.compile(layout.pattern.encode(), re.MULTILINE)


@cache
def compile_text_line(layout: Layout) -> re.Pattern[str]:
    """Compile the pattern for decoded lines of ASCII characters, so that their parts need no decoding."""
    return re.compile(layout.pattern, re.MULTILINE | re.ASCII)


def compile_header(layouts: Sequence[Layout]) -> re.Pattern[bytes]:
    """Compile a pattern that finds header lines of any of the layouts; ``lastgroup`` names the layout: ``layout_3``."""
    bodies = (
        f"(?P<layout_{number}>(?:\\xef\\xbb\\xbf)?{_anonymous(layout.pattern)})"
        for number, layout in enumerate(layouts)
    )
    return re.compile(rf"^(?:{'|'.join(bodies)})".encode("latin-1"), re.MULTILINE)


def header_expressions(layouts: Sequence[Layout]) -> tuple[str, ...]:
    """Return, for each layout, an expression that recognizes a header in a single line, including its line break.

    It matches only the start of the line if the rest can be any text.
    """
    bodies = (
        _with_all_space(_anonymous(layout.pattern)).removesuffix(_ANYTHING).replace(r"\r?$", r"\r?(?:\n|\z)")
        for layout in layouts
    )
    return tuple(rf"\A(?:\xef\xbb\xbf)?(?:{body})" for body in bodies)


def _with_all_space(pattern: str) -> str:
    """Return a pattern that treats a vertical tab as white space, which RE2 does not."""
    return _SPACE.sub(
        lambda found: found[0].replace(r"\s", _ALL_SPACE) if found["set"] else _SPACES.get(found[0], found[0]), pattern
    )


def _anonymous(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def _specific(layouts: Sequence[Layout]) -> tuple[Layout, ...]:
    return tuple(layout for layout in layouts if layout.name not in (*_EMBEDDED, *GENERAL))


def _general(layouts: Sequence[Layout]) -> tuple[Layout, ...]:
    return tuple(layout for layout in layouts if layout.name in GENERAL)
