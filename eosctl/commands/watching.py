"""What the commands that look again and again have in common: options and formats."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

import typer

from eosctl.commands.options import parse_duration_ms
from eosctl.errors import UsageError

#: Looks of which the courses of values are drawn.
KEPT: Final = 120
_SHOWN: Final = ("table", "wide", "json")
Interval = Annotated[
    int, typer.Option("--interval", metavar="DURATION", parser=parse_duration_ms, help="Time between two readings.")
]
Count = Annotated[int | None, typer.Option("--count", min=1, help="Number of readings; unlimited by default.")]


def check_format(command: str, output: StrEnum) -> None:
    """Refuse a format that has no frames.

    Raises:
        UsageError: It is neither for a screen nor a line of JSON a look.
    """
    if output.value not in _SHOWN:
        raise UsageError(f"{command} has no {output.value} output.", "", "Use -o table or -o json.")
