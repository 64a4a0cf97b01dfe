"""Find passwords, tokens, and keys in the columns of tables whose header names them.

Tables are those of databases, Kafka's tools, spreadsheets, and Markdown: cells between bars, tabs, semicolons, or
commas, or in columns of blanks. Each line is read once: the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.model.named_secrets import holds_name, is_secret_name

_Span = tuple[int, int]

_LONGEST_HEADER: Final = 1024
_MOST_CELLS: Final = 64
# A quoted cell may hold the separator; a cell of Markdown holds a bar behind a backslash.
_CELLS: Final = {
    "bar": re.compile(r"(?:[^|│┃║\\]|\\.?)*"),
    "\t": re.compile(r'[ ]*"(?:[^"]|"")*"[^\t]*|[^\t]*'),
    ";": re.compile(r'[ \t]*"(?:[^"]|"")*"[^;]*|[^;]*'),
    ",": re.compile(r'[ \t]*"(?:[^"]|"")*"[^,]*|[^,]*'),
}
_AROUND: Final = " \t\"'`*"
# The name of a column: up to three words.
_COLUMN: Final = re.compile(r"[^\W\d][\w.()#/-]{0,39}(?:[ ][\w()#/-]{1,20}){0,2}")
_PLAIN_COLUMN: Final = re.compile(r"[^\W\d][\w()#/-]{0,39}(?:[ ][\w()#/-]{1,20}){0,2}")
_LAST_WORD: Final = re.compile(r"[\w.-]{1,40}\Z")
_IDENTIFIER: Final = re.compile(r"(?:token|secret|key)s?[ _-]?(?:id|name|type)s?\Z")
_NAMES: Final = frozenset({"name", "key", "setting", "property", "config", "parameter", "variable", "variable_name"})
_VALUES: Final = frozenset({"value", "val", "variable_value", "current value", "setting value"})
_RULE: Final = re.compile(r"[-=+:|│┃║─═╬┼╪├┤┌┐└┘┬┴ \t]{2,}")
# A record of a log, which a table of blanks or commas does not hold.
_RECORD: Final = re.compile(r"[\[{]?\"?\d{4}[-/]\d\d[-/]\d\d[T ]")
_TOKEN: Final = re.compile(r"\S+")
_WORDS: Final = re.compile(r"\S+(?:[ ]\S+)*")
_AT_LINE_END: Final = re.compile(r"[\r\n]*\Z")


class Columns(NamedTuple):
    """Where the cells of a table hold secrets.

    Attributes:
        separator: What stands between cells: bar, tab, semicolon, comma, or a blank for aligned columns.
        starts: Where each column starts.
        secret: Numbers of the columns with secrets, from 0.
        named: Number of the column with names of settings, and that of their values; or None.
        in_record: Whether the header stands in a record of a log, so that each row may do so, too.
    """

    separator: str
    starts: tuple[int, ...]
    secret: tuple[int, ...]
    named: tuple[int, int] | None = None
    in_record: bool = False

    def spans(self, line: str) -> tuple[_Span, ...] | None:
        """Return start and end of each secret in the next line; None if the table ends before it.

        >>> columns_of("user,password").spans("me,changeit")
        ((3, 11),)
        """
        line = line[: _line_end(line)]
        is_record = _RECORD.match(line) is not None
        if not line.strip() or (self.separator == " " and is_record):
            return None
        if _RULE.fullmatch(line):
            return ()
        if self.separator == " ":
            return self._aligned(line)
        cells = _cells(line, self.separator)
        further = len(cells) - len(self.starts)
        if further < 0 or (further and self.separator in ",;" and is_record and not self.in_record):
            return None
        if further and is_record and self.separator in ",;":
            cells, further = cells[further:], 0
        found = [_stripped(line, cells[column][0], cells[column + further][1]) for column in self.secret]
        if self.named is not None:
            name, value = self.named
            start, end = _stripped(line, *cells[name])
            if is_secret_name(line[start:end].strip(_AROUND)):
                found.append(_stripped(line, cells[value][0], cells[value + further][1]))
        return tuple(span for span in found if span[0] < span[1])

    def _aligned(self, line: str) -> tuple[_Span, ...] | None:
        words = [found.span() for found in _TOKEN.finditer(line)]
        if len(words) < min(2, len(self.starts)):
            return None
        cells = [found.span() for found in _WORDS.finditer(line)]
        if len(cells) == len(self.starts):
            return tuple(cells[column] for column in self.secret)
        found: list[_Span] = []
        for column in self.secret:
            is_last = column + 1 == len(self.starts)
            after = len(line) if is_last else self.starts[column + 1]
            found += (one for one in words if one[1] > self.starts[column] and one[0] < after)
            if column < len(words):  # Long values move what follows to the right.
                found.append((words[column][0], words[-1][1] if is_last else words[column][1]))
        return tuple(sorted(found))


def columns_of(line: str) -> Columns | None:
    """Return the columns with secrets of the table that starts with a line; None if it starts none."""
    if len(line) > _LONGEST_HEADER:
        return None
    line = line[: _line_end(line)]
    lower = line.lower()
    if not holds_name(lower) and "value" not in lower:
        return None
    for separator in _CELLS:
        cells = _cells(line, separator)
        if 1 < len(cells) <= _MOST_CELLS and (found := _separated(line, lower, separator, cells)) is not None:
            return found
    return _in_blanks(line)


def column_spans(text: str) -> Iterator[_Span]:
    """Yield start and end of each secret in the columns of the tables in a text."""
    columns: Columns | None = None
    position = 0
    for line in text.splitlines(keepends=True) if "\n" in text else ():
        found = None if columns is None else columns.spans(line)
        if found is None:
            columns = columns_of(line)
        for start, end in found or ():
            yield position + start, position + end
        position += len(line)


def _separated(line: str, lower: str, separator: str, cells: list[_Span]) -> Columns | None:
    names = [lower[start:end].strip(_AROUND) for start, end in cells]
    in_record = separator != "bar" and not _COLUMN.fullmatch(names[0])
    if in_record and separator in ",;" and (blank := line.rfind(" ")) > 0:
        # Before the header stand a time, with a comma, and a level.
        cells = [(max(start, blank + 1), end) for start, end in cells if end > blank]
        names = [lower[start:end].strip(_AROUND) for start, end in cells]
    elif in_record or separator == "bar":
        found = _LAST_WORD.search(names[0])
        names[0] = found[0] if found and in_record else ""
    shown = names[1:-1] if separator == "bar" and not names[-1] else names[separator == "bar" :]
    is_prose = separator == "," and ", " in line and not all(map(_LAST_WORD.fullmatch, shown))
    if is_prose or len(cells) < 2 or not shown or not all(map(_COLUMN.fullmatch, shown)):
        return None
    secret = tuple(column for column, name in enumerate(names) if _is_secret(name))
    named = _named(names)
    if not secret and named is None:
        return None
    return Columns(separator, tuple(start for start, _ in cells), secret, named, in_record)


def _in_blanks(line: str) -> Columns | None:
    found = [one.span() for one in _WORDS.finditer(line)][: _MOST_CELLS + 1]
    if not 1 < len(found) <= _MOST_CELLS:
        return None
    names = [line[start:end] for start, end in found]
    if len(found) > 2 and not _PLAIN_COLUMN.fullmatch(names[0]) and (last := _LAST_WORD.search(names[0])):
        names[0], found[0] = last[0], (found[0][0] + last.start(), found[0][1])
        if not all(map(str.isupper, names)):
            return None
    if len(found) < 3 and not all(map(str.isupper, names)):
        return None
    secret = tuple(column for column, name in enumerate(names) if _is_secret(name.lower()))
    if not secret or not all(map(_PLAIN_COLUMN.fullmatch, names)):
        return None
    # The rows below a time and a level start at the margin.
    return Columns(" ", tuple(start - found[0][0] for start, _ in found), secret)


def _is_secret(name: str) -> bool:
    return bool(name) and is_secret_name(name.replace(" ", "_")) and _IDENTIFIER.search(name) is None


def _named(names: list[str]) -> tuple[int, int] | None:
    name = next((column for column, one in enumerate(names) if one in _NAMES), None)
    value = next((column for column, one in enumerate(names) if one in _VALUES), None)
    return None if name is None or value is None else (name, value)


def _cells(line: str, separator: str) -> list[_Span]:
    cells, start = [], 0
    while True:
        found = _CELLS[separator].match(line, start)
        end = start if found is None else found.end()
        cells.append((start, end))
        if end >= len(line) or len(cells) > _MOST_CELLS:
            return cells
        start = end + 1


def _stripped(line: str, start: int, end: int) -> _Span:
    text = line[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _line_end(line: str) -> int:
    found = _AT_LINE_END.search(line)
    return len(line) if found is None else found.start()
