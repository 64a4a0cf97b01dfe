"""INI files, as Python programs read them: sections of settings, and defaults that hold in all of them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from typing import Final

from eosctl.settings.tree import Branch, Leaf, Node

_HEADER: Final = re.compile(r"\[([^\]]+)\]")
_KEY: Final = re.compile(r"([^\s=:#;\[][^=:]*?)\s*[=:]")
_DEFAULTS: Final = ("DEFAULT", "default")
"""What the library shares among sections, and what Confluent's own examples name so."""


class IniError(Exception):
    """A file that is not an INI file.

    Attributes:
        line: Where.
        reason: What is wrong there.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def parse_ini(text: str) -> Branch:
    """Parse a file into a branch a section, with the defaults in each; defaults alone are the whole file's settings.

    Of a key that comes twice the last one counts; programs other than Python's have such files.

    Raises:
        IniError: It is malformed.
    """
    parser = configparser.RawConfigParser(default_section="", allow_no_value=True, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        raise IniError(error.lineno, "a setting stands before the first [section]") from error
    except configparser.ParsingError as error:
        raise IniError(error.errors[0][0] if error.errors else 1, "neither a section nor NAME = VALUE") from error
    lines = dict(_lines(text))
    sections = {
        name: {key: Leaf(value, lines.get((name, key), 1)) for key, value in parser.items(name)}
        for name in parser.sections()
    }
    shared = {key: leaf for name in _DEFAULTS for key, leaf in sections.get(name, {}).items()}
    entries: list[tuple[str, Node]] = [
        (name, Branch(tuple({**shared, **own}.items()), lines.get((name, ""), 1)))
        for name, own in sections.items()
        if name not in _DEFAULTS
    ]
    return Branch(tuple(entries or shared.items()), 1)


def _lines(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            section = header[1]
            yield (section, ""), number
        elif key := _KEY.match(line):
            yield (section, key[1]), number
