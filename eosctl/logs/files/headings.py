"""Find the headings of a file's parts: several logs that were posted in one file.

A heading is the one that ``tail`` and ``head`` print for files, or the command that printed a log. It names the program
of the lines below it, up to the next heading or command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from eosctl.logs.files.printed_logs import PROMPT, printed_by

SEVERAL: Final = 2
"""Minimum number of different names for a file of several programs."""
_HEADING: Final = re.compile(rb"^==> (?P<name>\S{1,255}) <==\r?$", re.MULTILINE)
_COMMAND: Final = re.compile(rb"^[^\n]{0,300} logs [^\n]{1,300}$", re.MULTILINE)
_LINE: Final = re.compile(rb"^[^\n]{1,600}", re.MULTILINE)
_ENDINGS: Final = frozenset({".log", ".out", ".txt"})


def headings_of(text: bytes) -> str:
    r"""Return a line for each heading of a whole file: its offset, and the name; empty for a file of one program.

    The name of a command that prints no log, or those of several programs, is empty.

    >>> headings_of(b"==> a.log <==\nx\n==> b.log <==\n")
    '0 a\n16 b'
    """
    found = [(one.start(), _program(one["name"].decode(errors="replace"))) for one in _HEADING.finditer(text)]
    if not found and _COMMAND.search(text):
        found = list(_commands(text))
    is_of_several = len({name for _, name in found if name}) >= SEVERAL
    return "\n".join(f"{offset} {name}" for offset, name in found) if is_of_several else ""


def _commands(text: bytes) -> Iterator[tuple[int, str]]:
    for one in _LINE.finditer(text):
        line = one[0].decode(errors="replace")
        if PROMPT.match(line):
            printed = tuple(printed_by(line))
            yield one.start(), printed[0] if len(printed) == 1 else ""


def _program(name: str) -> str:
    """Return the program of a heading: a pod, or a file without its folder and ending.

    >>> _program("pod/pay-7d9f-x2k"), _program("/var/log/pay.log")
    ('pay-7d9f-x2k', 'pay')
    """
    path = PurePath(name)
    return path.stem if path.suffix in _ENDINGS else path.name
