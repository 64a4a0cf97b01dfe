"""Unwrap the output of containers and processes that a program, such as a test, writes to its own log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.carriers.carriers import Inner
from eosctl.logs.layouts import is_of_layout

CAPTURED: Final = "captured"
"""The wrapper of a log that contains such output."""
_FEWEST: Final = 2
_OUTPUT: Final = re.compile(rb"((?:[^\n]{8,200}? )?)(?:STDOUT|STDERR|stdout|stderr): ?(.*)", re.DOTALL)
_OWN: Final = re.compile(rb"\[?(?:20\d\d-\d\d-\d\d[T ])?\d\d:\d\d:\d\d")
_CONTAINER: Final = "container"


def has_captured_output(lines: Sequence[bytes]) -> bool:
    """Return whether records of a known layout follow the names of standard streams."""
    found = filter(None, map(_OUTPUT.match, lines))
    return sum(is_of_layout(one[2]) for one in found) >= _FEWEST


def unwrap_captured(line: bytes) -> Inner | None:
    """Return a line of the output, or one of the program itself; None for a further line of either."""
    if found := _OUTPUT.match(line):
        return Inner(_CONTAINER if found[1] else "", found[2])
    return Inner("", line) if _OWN.match(line) else None
