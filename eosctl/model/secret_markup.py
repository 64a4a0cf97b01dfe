"""Read HTML as the text that a browser shows, with double lines between cells: its tables hold secrets, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.encoded_text import Reading

_INLINE: Final = "b|i|u|em|strong|code|span|font|small|kbd|tt|a|label|pre|p|div|li|ul|ol|dl|dt|dd|h\\d|wbr|br|option"
_TABLE: Final = "table|thead|tbody|tr|th|td"
_TAG: Final = rf"</?(?:{_INLINE}|{_TABLE})(?:\s[^<>]{{0,1024}})?/?>"
# Tags with nothing between them but blanks and the colon of a label.
_TAGS: Final = re.compile(rf"{_TAG}(?:\s{{0,80}}:?\s{{0,80}}{_TAG}){{0,16}}", re.ASCII | re.IGNORECASE)
_ROW: Final = re.compile(r"</?tr\b", re.ASCII | re.IGNORECASE)
# A cell, a line break, or an element behind another one
_CELL: Final = re.compile(r"</?t[dh]\b|<br\b|</\w{1,16}>\s{0,80}:?\s{0,80}<[a-z]", re.ASCII | re.IGNORECASE)
_INPUT: Final = re.compile(r"<input\b[^<>]{0,1024}>?", re.ASCII | re.IGNORECASE)
_VALUE: Final = re.compile(r"\bvalue\s{0,8}=\s{0,8}(?:\"([^\"]*)|'([^']*)|([^\s\"'<>]+))", re.ASCII | re.IGNORECASE)
_PASSWORD: Final = re.compile(r"password|passwd|secret|token", re.ASCII | re.IGNORECASE)


def shown_text(text: str) -> Reading | None:
    """Return HTML as it reads without its tags; None if a text has none.

    >>> shown_text("<td>password</td><td>x</td>").text
    ' ║ password ║ x ║ '
    """
    return Reading(text, _TAGS, _shown) if _TAGS.search(text) is not None else None


def _shown(tags: re.Match[str]) -> str:
    if _ROW.search(tags[0]) is not None:
        return " ║\n║ "
    return " ║ " if _CELL.search(tags[0]) is not None else ""


def input_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the values of fields for passwords.

    >>> list(input_spans('<input value="x" type="password">'))
    [(14, 15)]
    """
    for field in _INPUT.finditer(text) if "<" in text else ():
        if _PASSWORD.search(field[0]) is not None:
            for value in _VALUE.finditer(text, *field.span()):
                yield value.span(value.lastindex or 0)
