"""Options and formats of the commands that poll repeatedly."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

import typer

from eosctl.commands.options import duration_option
from eosctl.errors import UsageError

#: Number of polls whose values are drawn as sparklines.
KEPT: Final = 120
_SHOWN: Final = ("table", "wide", "json")
Interval = Annotated[int, duration_option("--interval", help="Time between two readings.")]
Count = Annotated[int | None, typer.Option("--count", min=1, help="Number of readings; unlimited by default.")]


def check_format(command: str, output: StrEnum) -> None:
    """Refuse a format that has no frames.

    Raises:
        UsageError: It is neither a screen format nor JSON with one line per poll.
    """
    if output.value not in _SHOWN:
        raise UsageError(f"{command} has no {output.value} output.", "", "Use -o table or -o json.")
