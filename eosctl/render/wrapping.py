"""Break prose into lines of a terminal, between words and never inside a command or a name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

# A terminal selection keeps the newlines of the program, so a command with one in it is pasted as two.
_COMMAND: Final = re.compile(r"""[`("']?(?:\$ |eosctl |(?:\S*/)?kafka-[a-z-]+\.sh |spark-submit |kubectl )""")
_WORD: Final = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"'])+|\S+""")
_PLAIN: Final = re.compile(r"[a-z]+")
_SENTENCE_END: Final = (".", ",", ";", ":", ")", "`")
# Names of a command and its subcommands; plain words after these belong to the sentence around the command.
_NAMES: Final = 4
# "kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic T": so many plain words may stand before an option.
_BRIDGED: Final = 2


def wrap(text: str, width: int, *, fold: bool = False) -> list[str]:
    """Break a paragraph into lines.

    Args:
        text: One paragraph. Spaces at its start are the indentation of every line.
        width: Columns of a line. Only a command or a word that is longer makes a longer line.
        fold: Break those, too, where nothing will be copied.
    """
    body = text.lstrip(" ")
    indent = text[: len(text) - len(body)]
    lines: list[str] = []
    line = ""
    for space, token in _folded(body, width - len(indent)) if fold else _tokens(body):
        longer = f"{line}{space}{token}" if line else token
        if line and columns(indent + longer) > width:
            lines.append(indent + line)
            longer = token
        line = longer
    return [*lines, (indent + line).rstrip()]


def longest_token(text: str) -> int:
    """Return the columns of the longest part of a text that is never broken."""
    return max((columns(token) for _, token in _tokens(text)), default=0)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes; Chinese characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def share_columns(widest: Sequence[int], least: Sequence[int], available: int, *, fold: bool = False) -> list[int]:
    """Return the width of each column of a table.

    Args:
        widest: The width at which no cell of a column is broken.
        least: The width below which a column would break a token.
        available: Columns of the terminal, without the gaps.
        fold: Stay within ``available``, even if that breaks a token.
    """
    widths = list(least)
    while fold and sum(widths) > available and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    spare = available - sum(widths)
    while spare > 0 and (wanting := [at for at, width in enumerate(widths) if width < widest[at]]):
        each = max(spare // len(wanting), 1)
        for at in wanting[:spare]:
            added = min(each, widest[at] - widths[at])
            widths[at] += added
            spare -= added
    return widths


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts that stay whole, each with the spaces before it."""
    at = 0
    while at < len(text):
        start = at
        while at < len(text) and text[at].isspace():
            at += 1
        space, begin = text[start:at], at
        if begin == len(text):
            return
        at = _command_end(text, begin) if _COMMAND.match(text, begin) else _word_end(text, begin)
        yield space, text[begin:at]


def _folded(text: str, width: int) -> Iterator[tuple[str, str]]:
    """Yield words, cut into pieces of at most ``width`` columns."""
    for word in text.split():
        space, piece = " ", ""
        for character in word:
            if piece and columns(piece + character) > width:
                yield space, piece
                space, piece = "", ""
            piece += character
        yield space, piece


def _word_end(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace():
        at += 1
    return at


def _command_end(text: str, begin: int) -> int:
    """Return the end of a command: the end of the text or of its sentence, or the start of plain words."""
    if text.startswith("$ ", begin):
        return len(text)
    end = begin
    plain = 0
    after_option = False
    for count, found in enumerate(_WORD.finditer(text, begin)):
        word = found.group()
        is_option = word.startswith("-")
        if count > _NAMES and not after_option and _PLAIN.fullmatch(word):
            plain += 1
        elif is_option or not plain:
            end, plain = found.end(), 0
        if word.endswith(_SENTENCE_END) or plain > _BRIDGED:
            break
        after_option = is_option
    return end
