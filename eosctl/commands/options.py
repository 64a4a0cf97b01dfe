"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.command_line.invocation import remember_cluster, remember_output
from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_duration_ms
from eosctl.errors import UsageError
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

CONNECTION: Final = "Connection"
_connection = partial(typer.Option, rich_help_panel=CONNECTION)
_cluster = partial(_connection, callback=remember_cluster)
OUTPUT: Final = "Output"
output_option = partial(typer.Option, rich_help_panel=OUTPUT)
_format = partial(output_option, "--output", "-o", callback=remember_output, help="Format of the result.")
FILTER: Final = "Filter"
filter_option = partial(typer.Option, rich_help_panel=FILTER)
duration_option = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)

DEFAULT_SECOND_LOOK: Final = 500

CommandConfig = Annotated[
    Path | None,
    _cluster("--command-config", metavar="FILE", help="Java client.properties file. [env: EOSCTL_COMMAND_CONFIG]"),
]
Overrides = Annotated[tuple[str, ...], _connection("-X", metavar="KEY=VALUE", help="Client setting; repeatable.")]
Profile = Annotated[
    str | None, _cluster("--profile", metavar="NAME", help="Profile from the profiles file. [env: EOSCTL_PROFILE]")
]
ConnectionOptions = Annotated[
    Connection,
    options(
        bootstrap=_cluster(
            "--bootstrap-server", "-b", metavar="HOST:PORT", help="Brokers to contact. [env: EOSCTL_BOOTSTRAP_SERVERS]"
        ),
        command_config=CommandConfig,
        overrides=Overrides,
        profile=Profile,
        timeout_ms=duration_option(
            "--timeout", help="Maximum time for the whole command, e.g. 30s.", rich_help_panel=CONNECTION
        ),
        requests_per_second=_connection("--requests-per-second", min=1, metavar="N", help="Maximum for each broker."),
    ),
]
SecondLookAfter = Annotated[
    int,
    duration_option(
        "--second-look-after", help="Time between the two readings of open transactions.", rich_help_panel=CONNECTION
    ),
]
SnapshotFile = Annotated[
    Path | None, _connection("--snapshot", metavar="FILE", help="Saved snapshot to read instead of a cluster.")
]
Output = Annotated[OutputFormat, _format()]
FindingOutput = Annotated[FindingFormat, _format()]
Header = Annotated[
    bool | None,
    output_option("--header/--no-header", help="Header line with column names in tsv and csv; csv has one by default."),
]
OutputFile = Annotated[
    Path | None, output_option("--output-file", metavar="FILE", help="File to write the result to as well.")
]
ReportFile = Annotated[Path | None, output_option("--report", metavar="FILE", help="Report to write as well.")]
InternalPartitions = Annotated[
    int, typer.Option("--partitions", min=1, help="Number of partitions of the internal topic.")
]


class ClusterOptions(NamedTuple):
    """The options that name a cluster."""

    connection: ConnectionOptions


class EvidenceOptions(NamedTuple):
    """The options that name a cluster, or a snapshot of one."""

    cluster: ClusterOptions
    snapshot: SnapshotFile = None


class LooksOptions(NamedTuple):
    """The options that name a cluster, or a snapshot of one, with the pause between two readings at transactions."""

    cluster: ClusterOptions
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK
    snapshot: SnapshotFile = None


LanguageOption = Annotated[str, typer.Option("--lang", metavar="CODE", help="Language of the short answer, e.g. zh.")]


class ResultOptions(NamedTuple):
    """The options for the format and the file of a result."""

    output: Output = OutputFormat.TABLE
    output_file: OutputFile = None


SOURCES: Final = "Further evidence"
source_option = partial(typer.Option, rich_help_panel=SOURCES)
MetricUrls = Annotated[
    tuple[str, ...],
    source_option(
        "--metrics",
        "--jmx",
        metavar="URL",
        help="Metrics endpoint: http://HOST:PORT/metrics, http://HOST:PORT/jolokia, a Prometheus server, or "
        "jmx://HOST:PORT; repeatable.",
    ),
]
MetricCredentials = Annotated[
    Path | None,
    source_option(
        "--credentials",
        metavar="FILE",
        help="Properties file with username= and password=, or token=, for --metrics.",
        exists=True,
    ),
]
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
