"""TOML as a tree: the standard library parses, and the lines of keys are found next to it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, ParseError, Row

_MOST_PARTS: Final = 100
_PART: Final = r"""(?>[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP_KEY: Final = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS}}}")


class TomlError(ParseError):
    """The text is not TOML."""


def parse_toml(text: str) -> Node:
    """Parse a file into one tree.

    Raises:
        TomlError: It is malformed, or a key has more than 100 parts.
    """
    if deep := _DEEP_KEY.search(text):
        # Python's parser takes memory and time for the square of the parts.
        raise TomlError(text.count("\n", 0, deep.start()) + 1, "nested too deeply")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        raise TomlError(int(where[1]) if where else text.count("\n") + 1, str(error).partition(" (")[0]) from error
    except ValueError as error:
        raise TomlError(1, "a number is too long") from error
    return _node(values, "", dict(_lines(text)), 1)


def _node(value: Any, path: str, lines: dict[str, int], line: int) -> Node:
    line = lines.get(path, line)
    if isinstance(value, dict):
        children = ((str(k), _node(v, f"{path}.{k}" if path else str(k), lines, line)) for k, v in value.items())
        return Branch(tuple(children), line)
    if isinstance(value, list):
        members = ((f"{path}[{n}]" if isinstance(child, dict) else path, child) for n, child in enumerate(value))
        return Row(tuple(_node(child, where, lines, line) for where, child in members), line)
    return Leaf(str(value).lower() if isinstance(value, bool) else str(value), line)


_HEADER: Final = re.compile(r"\s*\[(?P<array>\[)?([^\]]+)\]\]?")
_KEY: Final = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield the dotted path of each key with its line; what is written unusually falls back to its table's line.

    Tables of an array have their number in the path: ``outputs.kafka[1].brokers``.
    """
    table = ""
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            name = _dotted(header[2])
            if header["array"]:
                above, _, last = name.rpartition(".")
                path = f"{_numbered(above, counts)}.{last}" if above else last
                counts[path] = counts.get(path, -1) + 1
            table = _numbered(name, counts)
            yield table, number
        elif key := _KEY.match(line):
            yield f"{table}.{_dotted(key[1])}" if table else _dotted(key[1]), number


def _numbered(name: str, counts: Mapping[str, int]) -> str:
    """Return the path of a table, each array in it with the number of its newest table."""
    path = ""
    for part in name.split("."):
        path = f"{path}.{part}" if path else part
        if path in counts:
            path = f"{path}[{counts[path]}]"
    return path


def _dotted(name: str) -> str:
    parts = re.findall(r""""[^"]*"|'[^']*'|[\w-]+""", name)
    return ".".join(part.strip("\"'") for part in parts)
