"""INI files, as Python programs read them: sections of settings, and defaults that hold in all of them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, ParseError

_HEADER: Final = re.compile(r"\[([^\]]+)\]")
_KEY: Final = re.compile(r"([^\s=:#;\[][^=:]*?)\s*[=:]")
_ROOT: Final = "(root)"
_DEFAULTS: Final = ("DEFAULT", "default")
"""What the library shares among sections, and what Confluent's own examples name so."""


class IniError(ParseError):
    """A file is not an INI file."""


def parse_ini(text: str) -> Branch:
    """Parse a file into a branch a section, with the defaults in each; defaults alone are the whole file's settings.

    Of a key that comes twice the last one counts; programs other than Python's have such files.

    Raises:
        IniError: It is malformed.
    """
    parser = _parser()
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        if _KEY.match(error.line) is None:
            raise IniError(error.lineno, "neither a section nor NAME = VALUE") from error
        parser = _with_root(text)
    except configparser.ParsingError as error:
        raise IniError(error.errors[0][0] if error.errors else 1, "neither a section nor NAME = VALUE") from error
    lines = dict(_lines(text))
    sections = {
        name: {key: Leaf(_unquoted(value), lines.get((name, key), 1)) for key, value in parser.items(name)}
        for name in parser.sections()
    }
    shared = {key: leaf for name in _DEFAULTS for key, leaf in sections.get(name, {}).items()}
    entries: list[tuple[str, Node]] = [
        (name, Branch(tuple({**shared, **own}.items()), lines.get((name, ""), 1)))
        for name, own in sections.items()
        if name not in (*_DEFAULTS, _ROOT)
    ]
    entries += sections.get(_ROOT, {}).items()
    return Branch(tuple(entries or shared.items()), 1)


def _parser() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(default_section="", allow_no_value=True, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    return parser


def _unquoted(value: str | None) -> str | None:
    """Return a value without the quotes around the whole of it, which the readers of Go, PHP, and others take off."""
    is_quoted = value is not None and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if value is not None and is_quoted and value[0] not in value[1:-1] else value


def _with_root(text: str) -> configparser.RawConfigParser:
    """Parse a file with settings before its first section, which Python refuses and other programs read."""
    parser = _parser()
    try:
        parser.read_string(f"[{_ROOT}]\n{text}")
    except configparser.ParsingError as error:
        line = error.errors[0][0] - 1 if error.errors else 1
        raise IniError(line, "neither a section nor NAME = VALUE") from error
    return parser


def _lines(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    section = _ROOT
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            section = header[1]
            yield (section, ""), number
        elif key := _KEY.match(line):
            yield (section, key[1]), number
