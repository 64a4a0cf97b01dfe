"""The options of commands that read logs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_moment_ms
from eosctl.commands.options import CommandConfig, Overrides, Profile
from eosctl.errors import UsageError
from eosctl.model.period import Period
from eosctl.services.connection import Connection
from eosctl.services.log_engine import EngineChoice
from eosctl.services.log_places import connection_of
from eosctl.services.query_logs import SparkNeeds

READING: Final = "Reading"
reading_option = partial(typer.Option, rich_help_panel=READING)
Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Log files, archives, directories, or - for standard input.")
]
Places = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...", help="Log files, archives, directories, kafka://HOST:PORT/TOPIC, or - for standard input."
    ),
]
Zone = Annotated[
    str | None,
    reading_option("--zone", metavar="ZONE", help="Time zone of timestamps without one, e.g. Europe/Berlin."),
]
Pattern = Annotated[
    str | None,
    reading_option(
        "--pattern",
        metavar="PATTERN",
        help="log4j or logback pattern of the files, e.g. '%d{ISO8601} %-5p [%t] %c - %m%n'.",
    ),
]
Engine = Annotated[
    EngineChoice,
    reading_option(
        "--engine",
        help="Engine that reads: this process, or Spark (needs Java and the spark extra). auto uses Spark from 8 GB.",
    ),
]
Topics = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="NAME", help="Topic to read, in addition to the internal ones; repeatable."),
]
BusinessKey = Annotated[
    str | None,
    typer.Option(
        "--business-key",
        metavar="KEY",
        help="Identity of a record, to find duplicates: key, header:NAME, or value:FIELD (of JSON).",
    ),
]
CLUSTER: Final = "Cluster"
cluster_option = partial(typer.Option, rich_help_panel=CLUSTER)
_CONF: Final = cluster_option("--conf", metavar="NAME=VALUE", help="Spark setting; repeatable.")
_JARS: Final = cluster_option("--jars", metavar="FILE", help="Jar that the job needs; repeatable.")
_PACKAGES: Final = cluster_option(
    "--packages", metavar="GROUP:ARTIFACT:VERSION", help="Package that Spark's resolver fetches; repeatable."
)
Settings = Annotated[tuple[str, ...], _CONF]
Jars = Annotated[tuple[str, ...], _JARS]
Packages = Annotated[tuple[str, ...], _PACKAGES]
SparkOptions = Annotated[SparkNeeds, options(settings=_CONF, jars=_JARS, packages=_PACKAGES)]


class ReadingOptions(NamedTuple):
    """The options that say how logs are read."""

    zone: Zone = None
    pattern: Pattern = None
    engine: Engine = EngineChoice.AUTO


class PeriodOptions(NamedTuple):
    """The options that say which time matters."""

    begin: Annotated[
        str | None,
        reading_option(
            "--from", metavar="TIME", help="Start of the time range: RFC 3339, epoch milliseconds, or relative (-30m)."
        ),
    ] = None
    end: Annotated[
        str | None, reading_option("--to", metavar="TIME", help="End of the time range, in the same form.")
    ] = None

    def period(self, now_ms: int) -> Period:
        """Return the time that the options name.

        Raises:
            UsageError: One of them is not a time, or the range is empty.
        """
        period = Period(parse_moment_ms(self.begin, "--from", now_ms), parse_moment_ms(self.end, "--to", now_ms))
        if period.from_ms is not None and period.until_ms is not None and period.from_ms >= period.until_ms:
            raise UsageError("--from does not lie before --to.", "Nothing can be between them.", "Change one of them.")
        return period


class TopicsOptions(NamedTuple):
    """The options that say how topics of logs are reached."""

    command_config: CommandConfig = None
    overrides: Overrides = ()
    profile: Profile = None

    def connection(self, paths: Sequence[str | Path]) -> Connection:
        """Return how the topics among paths are reached.

        Raises:
            UsageError: The paths name no cluster.
        """
        return connection_of(paths, *self)
