"""What the commands that look again and again have in common: options, formats, and where their frames go."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Final

import typer

from eosctl.commands.invocation import write_result
from eosctl.commands.options import parse_duration_ms
from eosctl.errors import UsageError

#: Looks of which the courses of values are drawn.
KEPT: Final = 120
LEAST_ROWS: Final = 3
_SHOWN: Final = ("table", "wide", "json")
Interval = Annotated[
    int, typer.Option("--interval", metavar="DURATION", parser=parse_duration_ms, help="Time between two looks.")
]
Count = Annotated[
    int | None, typer.Option("--count", min=1, help="End after this many looks; default: until interrupted.")
]


def check_format(command: str, output: StrEnum) -> None:
    """Refuse a format that has no frames.

    Raises:
        UsageError: It is neither for a screen nor a line of JSON a look.
    """
    if output.value not in _SHOWN:
        raise UsageError(f"{command} has no {output.value} output.", "", "Use -o table or -o json.")


@contextmanager
def frames(output: StrEnum) -> Iterator[Callable[[str], None]]:
    """Show frames: on a terminal each over the one before, of which the last stays; else one below the other."""
    if output.value == "json" or not sys.stdout.isatty():
        yield write_result
        return
    from eosctl.render.transactions.watch import live_screen

    last = ""
    with live_screen() as draw:

        def show(frame: str) -> None:
            nonlocal last
            last = frame
            draw(frame)

        yield show
    write_result(last)


def row_count(head_lines: int, without_terminal: int) -> int:
    """Return how many rows a frame may have below its head; on no terminal as many as are told here."""
    if not sys.stdout.isatty():
        return without_terminal
    return max(LEAST_ROWS, shutil.get_terminal_size().lines - head_lines)
