"""The options of commands that read logs."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from eosctl.commands.moments import parse_moment_ms
from eosctl.errors import UsageError
from eosctl.model.period import Period
from eosctl.services.log_engine import EngineChoice

READING: Final = "Reading"
Zone = Annotated[
    str | None,
    typer.Option(
        "--zone", metavar="ZONE", help="Zone of stamps without one, e.g. Europe/Berlin.", rich_help_panel=READING
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        metavar="PATTERN",
        help="The log4j or logback pattern of the files, e.g. '%d{ISO8601} %-5p [%t] %c - %m%n'.",
        rich_help_panel=READING,
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Tell of what was from here on: RFC 3339, ms, or -30m; topics are read from a day before.",
        rich_help_panel=READING,
    ),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", help="Up to here; like --from.", rich_help_panel=READING),
]
Engine = Annotated[
    EngineChoice,
    typer.Option(
        "--engine",
        help="Read in this process, or on Spark (needs Java and the spark extra); auto takes Spark from 8 GB on.",
        rich_help_panel=READING,
    ),
]


def period_of(begin: str | None, end: str | None, now_ms: int) -> Period:
    """Return the time that ``--from`` and ``--to`` name.

    Raises:
        UsageError: One of them is no time, or nothing can be between them.
    """
    period = Period(parse_moment_ms(begin, "--from", now_ms), parse_moment_ms(end, "--to", now_ms))
    if period.from_ms is not None and period.until_ms is not None and period.from_ms >= period.until_ms:
        raise UsageError("--from does not lie before --to.", "Nothing can be between them.", "Change one of them.")
    return period
