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
_UNUSUAL: Final = re.compile(f"{_BLANK.pattern}|{_INVISIBLE.pattern}|{_COLOR.pattern}")
# password%3Dx, password\u003dx (Gson), &quot;password&quot;:&quot;x&quot;. Digits are alike, so that texts that differ
# in digits only are read in the same way: an escape of digits alone may be a quote or a sign.
_ESCAPE: Final = re.compile(
    r"%(?P<percent>[\d][\da-f])|\\+(?:u\d\d|x)(?P<backslash>[\d][\da-f])"
    r"|&(?P<entity>quot|apos|equals|colon|lt|gt|#\d{2,3}|#x\d[\da-f]);",
    re.ASCII | re.IGNORECASE,
)
_BY_LETTER: Final = {"a": ":", "b": "[", "c": "<", "d": "=", "e": ">", "f": "/"}
_ENTITIES: Final = {"quot": '"', "apos": "'", "equals": "=", "colon": ":", "lt": "<", "gt": ">"}
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


def readings(text: str) -> Iterator[Reading]:
    """Yield the further ways to read a text: without invisible characters and colors, and with its escapes replaced.

    Nothing is yielded for a text that reads in one way only. The work is linear in the length of the text.
    """
    if (not text.isascii() or "\x1b" in text) and _UNUSUAL.search(text) is not None:
        yield Reading(text, _UNUSUAL, lambda found: " " if _BLANK.match(found[0]) else "")
    if _ESCAPE.search(text) is not None:
        for sign in _OF_DIGITS:
            yield Reading(text, _ESCAPE, partial(_character, sign))


def _character(of_digits: str, escape: re.Match[str]) -> str:
    code = (escape["percent"] or escape["backslash"] or escape["entity"]).lower()
    return _ENTITIES.get(code) or _BY_LETTER.get(code.removesuffix(";")[-1], of_digits)
