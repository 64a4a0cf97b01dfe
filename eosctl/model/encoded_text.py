"""Read text through the escapes of URLs, HTML, and JSON, and know where each character comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

# Characters that look like a blank or like nothing: a name that holds one is a name.
_BLANK: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\udca0]")
_INVISIBLE: Final = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
# Colors between a name and its value, as loggers write them to a terminal: \\x1b[36mpassword\\x1b[0m=x
_COLOR: Final = re.compile(r"\x1b\[[0-9;]{0,20}m")
# Letters and signs of ASCII in the width of Chinese ones
_WIDE: Final = re.compile("[\uff01-\uff5e]")
_WIDE_DISTANCE: Final = 0xFF01 - 0x21
_UNUSUAL: Final = re.compile(f"{_BLANK.pattern}|{_INVISIBLE.pattern}|{_COLOR.pattern}|{_WIDE.pattern}")
# password%3Dx, password\u003dx (Gson), &quot;password&quot;:&quot;x&quot;. Digits are alike, so that texts that differ
# in digits only are read in the same way: an escape of digits alone may be a quote or a sign.
_ESCAPE: Final = re.compile(
    r"%(?P<percent>[\d][\da-f])|\\+(?:u\d\d|x)(?P<backslash>[\d][\da-f])"
    r"|&(?P<entity>quot|apos|equals|colon|lt|gt|#\d{2,3}|#x\d[\da-f]);",
    re.ASCII | re.IGNORECASE,
)
_BY_LETTER: Final = {"a": ":", "b": "[", "c": "<", "d": "=", "e": ">", "f": "/"}
_ENTITIES: Final = {"quot": '"', "apos": "'", "equals": "=", "colon": ":", "lt": "<", "gt": ">"}
# Escapes of a string of JSON, Java, and of values in properties files.
_IN_STRING: Final = re.compile(r"\\(?:u(?P<code>[\dA-Fa-f]{4})|(?P<sign>[^u\s]))", re.ASCII)
# Letters alone, where a string goes further behind an escaped quote
_LETTER: Final = re.compile(r"\\u(00[46][1-9A-Fa-f]|00[57][0-9Aa]|0[1-9A-Fa-f][\dA-Fa-f]{2}|[1-9A-Fa-f][\dA-Fa-f]{3})")
_SIGNS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
#: JSON in a string of JSON: how often.
_NESTED_STRINGS: Final = 3
_OF_DIGITS: Final = ('"', "=", "&")


class Reading:
    """A text as it reads once escapes are replaced.

    Attributes:
        text: The characters.
        starts: Where each character starts in the original; one more entry holds the length of the original.
    """

    __slots__ = ("starts", "text")

    def __init__(self, original: str, hidden: re.Pattern[str], shown: Callable[[re.Match[str]], str]) -> None:
        pieces: list[str] = []
        starts: list[int] = []
        position = 0
        for found in hidden.finditer(original):
            character = shown(found)
            pieces += (original[position : found.start()], character)
            starts += range(position, found.start())
            starts += [found.start()] * len(character)
            position = found.end()
        self.text = "".join([*pieces, original[position:]])
        self.starts = [*starts, *range(position, len(original) + 1)]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the text stands for."""
        return self.starts[start], self.starts[end]

    def then(self, further: Reading) -> Reading:
        """Return a further reading of this reading's text as one of the original."""
        further.starts = [self.starts[start] for start in further.starts]
        return further


def readings(text: str) -> Iterator[Reading]:
    """Yield the further ways to read a text: without invisible characters and colors, and with its escapes replaced.

    Nothing is yielded for a text that reads in one way only. The work is linear in the length of the text.
    """
    if (not text.isascii() or "\x1b" in text) and _UNUSUAL.search(text) is not None:
        yield _without_unusual(text)
    if "\\" in text:
        yield from _of_strings(text)
    if _ESCAPE.search(text) is not None:
        for sign in _OF_DIGITS:
            yield Reading(text, _ESCAPE, partial(_character, sign))


def _of_strings(text: str) -> Iterator[Reading]:
    """Yield a text without the escapes of strings, of strings within them, and so on, and without those of letters."""
    reading: Reading | None = None
    for _ in range(_NESTED_STRINGS):
        if "\\u" in text:
            letters = Reading(text, _LETTER, lambda found: chr(int(found[1], 16)))
            yield from _with_usual(letters if reading is None else reading.then(letters))
        if not _holds_string(text):
            return
        inner = unescaped(text)
        reading = inner if reading is None else reading.then(inner)
        text = reading.text
        yield from _with_usual(reading)


def _with_usual(reading: Reading) -> Iterator[Reading]:
    yield reading
    if (not reading.text.isascii() or "\x1b" in reading.text) and _UNUSUAL.search(reading.text) is not None:
        yield reading.then(_without_unusual(reading.text))


def _holds_string(text: str) -> bool:
    """Return whether a text holds a string whose escapes hide lines, letters, or what is read across quotes."""
    is_nested = "\\\\|" in text or "\\\\'" in text or '\\"\\"' in text
    return is_nested or "\\n" in text or "\\u" in text or ('\\"' in text and ("<" in text or "[\\" in text))


def _without_unusual(text: str) -> Reading:
    return Reading(text, _UNUSUAL, _usual)


def _usual(found: re.Match[str]) -> str:
    if "\uff01" <= found[0] <= "\uff5e":
        return chr(ord(found[0]) - _WIDE_DISTANCE)
    return " " if _BLANK.match(found[0]) else ""


def unescaped(text: str) -> Reading:
    """Return a text as it reads once the escapes of a string of JSON are replaced."""
    return Reading(text, _IN_STRING, _in_string)


def _in_string(escape: re.Match[str]) -> str:
    return chr(int(escape["code"], 16)) if escape["code"] else _SIGNS.get(escape["sign"], escape["sign"])


def _character(of_digits: str, escape: re.Match[str]) -> str:
    code = (escape["percent"] or escape["backslash"] or escape["entity"]).lower()
    return _ENTITIES.get(code) or _BY_LETTER.get(code.removesuffix(";")[-1], of_digits)
