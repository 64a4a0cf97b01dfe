"""Java properties files, with the line of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.input_file import read_input
from eosctl.model.client_config import Given

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_PLAIN: Final = re.compile(r"[ \t\f]*+(?![ \t\f#!]|$)([^ \t\f=:]*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
"""A property on one line without an escape: the first blank, ``=``, or ``:`` ends its name."""

_NAME_ALONE: Final = re.compile(r"[\w.-]+", re.ASCII)


class MalformedEscape(ValueError):  # noqa: N818 - what is wrong with the text
    """A `\\u` without four hexadecimal digits.

    Attributes:
        line: Where the line starts that holds it.
    """

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def read_properties(path: Path) -> dict[str, Given]:
    """Read a file as Java does: Latin-1 with escapes, the last of several values counts.

    Raises:
        ConfigFileError: The file cannot be read, or an escape in it is malformed.
    """
    try:
        text = read_input(path).decode("latin-1")
    except OSError as error:
        raise ConfigFileError(
            f"{path} cannot be read: {error.strerror or error}.",
            "The path is wrong, or this user may not read the file.",
            "Give the path of a Java properties file, e.g. client.properties.",
        ) from error
    return parse_properties(text, path.name)


def properties_in(text: str, first_line: int = 1) -> Iterator[tuple[str, str, int]]:
    """Yield name, value, and line of each property of a text, in time that is linear in its length.

    Args:
        text: Java properties.
        first_line: The number of the text's first line.

    Raises:
        MalformedEscape: An escape is malformed.
    """
    if "\\" not in text:
        yield from _without_escapes(text, first_line)
        return
    import javaproperties  # loaded late: only runs with escapes or continued lines need it

    lines = list(_logical_lines(text))
    at = 0
    try:
        for element in javaproperties.parse("".join([f"{line}\n" for line, _ in lines])):
            if isinstance(element, javaproperties.KeyValue):
                yield element.key, element.value, first_line + lines[at][1]
            at += element.source.count("\n")
    except javaproperties.InvalidUEscapeError as error:
        raise MalformedEscape(first_line + lines[at][1]) from error


def _without_escapes(text: str, first_line: int) -> Iterator[tuple[str, str, int]]:
    """Yield the properties of a text without a backslash: each is one line, and nothing in it means something else."""
    for number, line in enumerate(_LINE_END.split(text), first_line):
        match = _PLAIN.match(line)
        if match is not None:
            yield match[1], match[2], number


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield lines with their continuations joined, as java.util.Properties.load joins them, and where each starts.

    The library joins each continuation with all before it, which takes quadratic time.
    """
    held: list[str] = []
    start = 0
    for number, natural in enumerate(_LINE_END.split(text)):
        if held:
            natural = natural.lstrip(" \t\f")
        else:
            start = number
        is_comment = not held and natural.lstrip(" \t\f")[:1] in ("#", "!")
        backslashes = len(natural) - len(natural.rstrip("\\"))
        if backslashes % 2 and not is_comment:
            held.append(natural[:-1])
            continue
        yield "".join([*held, natural]), start
        held = []
    if held:
        yield "".join(held), start


def cut_line(text: str) -> int | None:
    """Return the number of the last line if the file ends within it: a name without a sign, or an open continuation.

    A last line without a line end is usual; so only one that cannot be whole is taken for cut.

    >>> cut_line("acks=all\\nenable.i"), cut_line("acks=all\\nretries=3"), cut_line("acks=all\\nenable.i\\n")
    (2, None, None)
    """
    lines = _LINE_END.split(text)
    last = lines[-1]
    name = last.strip(" \t\f")
    if not name or name.startswith(("#", "!", ";", "[")):
        return None
    is_open = (len(last) - len(last.rstrip("\\"))) % 2 == 1
    is_continued = len(lines) > 1 and lines[-2].endswith("\\")
    return len(lines) if is_open or (not is_continued and _NAME_ALONE.fullmatch(name) is not None) else None


def parse_properties(text: str, name: str) -> dict[str, Given]:
    """Parse the text of a properties file; origins are ``name:line``."""
    values: dict[str, Given] = {}
    try:
        for key, value, line in properties_in(text):
            values[key] = Given(value, f"{name}:{line}")
    except MalformedEscape as error:
        raise ConfigFileError(
            f"{name}:{error.line}: malformed \\u escape.",
            "A backslash starts an escape in properties files.",
            "Write a backslash as two backslashes.",
        ) from error
    return values
