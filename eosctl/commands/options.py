"""The options that several commands share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from eosctl.command_line.invocation import remember_output
from eosctl.command_line.values import parse_duration_ms
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

CONNECTION: Final = "Connection"
_connection = partial(typer.Option, rich_help_panel=CONNECTION)
OUTPUT: Final = "Output"
output_option = partial(typer.Option, rich_help_panel=OUTPUT)
FILTER: Final = "Filter"
filter_option = partial(typer.Option, rich_help_panel=FILTER)
duration_option = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)

#: As typed: what parses the option parses its default too.
DEFAULT_SECOND_LOOK: Final[Any] = "500ms"

Bootstrap = Annotated[
    str | None,
    _connection(
        "--bootstrap-server", "-b", metavar="HOST:PORT", help="Brokers to connect to. [env: EOSCTL_BOOTSTRAP_SERVERS]"
    ),
]
CommandConfig = Annotated[
    Path | None,
    _connection("--command-config", metavar="FILE", help="Java client.properties file. [env: EOSCTL_COMMAND_CONFIG]"),
]
Overrides = Annotated[list[str] | None, _connection("-X", metavar="KEY=VALUE", help="Client setting; repeatable.")]
Profile = Annotated[
    str | None, _connection("--profile", metavar="NAME", help="Profile from the profiles file. [env: EOSCTL_PROFILE]")
]
Timeout = Annotated[
    int | None,
    _connection(
        "--timeout",
        metavar="DURATION",
        parser=parse_duration_ms,
        help="Maximum time for the whole command, e.g. 30s.",
    ),
]
SecondLookAfter = Annotated[
    int,
    _connection(
        "--second-look-after",
        metavar="DURATION",
        parser=parse_duration_ms,
        help="Time between the two readings of open transactions.",
    ),
]
SnapshotFile = Annotated[
    Path | None, _connection("--snapshot", metavar="FILE", help="Saved snapshot to read instead of a cluster.")
]
Output = Annotated[
    OutputFormat, output_option("--output", "-o", callback=remember_output, help="Format of the result.")
]
FindingOutput = Annotated[
    FindingFormat, output_option("--output", "-o", callback=remember_output, help="Format of the result.")
]
Header = Annotated[
    bool | None,
    output_option("--header/--no-header", help="Header line with column names in tsv and csv; csv has one by default."),
]
OutputFile = Annotated[
    Path | None, output_option("--output-file", metavar="FILE", help="File to write the result to as well.")
]
InternalPartitions = Annotated[
    int, typer.Option("--partitions", min=1, help="Number of partitions of the internal topic.")
]


class ClusterOptions(NamedTuple):
    """The options that name a cluster."""

    bootstrap: Bootstrap = None
    command_config: CommandConfig = None
    overrides: Overrides = None
    profile: Profile = None
    timeout: Timeout = None

    @property
    def connection(self) -> Connection:
        """The choice of a cluster."""
        overrides = tuple(self.overrides or ())
        return Connection(self.bootstrap, self.command_config, overrides, self.profile, self.timeout)


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
