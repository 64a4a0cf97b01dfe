"""The options that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from eosctl.command_line.invocation import remember_output
from eosctl.errors import UsageError
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

CONNECTION: Final = "Connection"
_connection = partial(typer.Option, rich_help_panel=CONNECTION)
OUTPUT: Final = "Output"
_output = partial(typer.Option, rich_help_panel=OUTPUT)
FILTER: Final = "Filter"

#: As typed: what parses the option parses its default too.
DEFAULT_SECOND_LOOK: Final[Any] = "500ms"
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}


def parse_duration_ms(text: str) -> int:
    """Parse ``500ms``, ``30s``, ``15m`` or ``2h``; a bare number is seconds."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(digits) :] or "s"
    if not digits.isdigit() or unit not in _UNITS_MS or int(digits) == 0:
        raise typer.BadParameter(f"{text!r} is not a duration; write 500ms, 30s, 15m or 2h")
    return int(digits) * _UNITS_MS[unit]


def parse_moment_ms(text: str | None, option: str, now_ms: int) -> int | None:
    """Parse ``2026-11-21T09:00:00Z``, milliseconds since the epoch, ``now`` or ``-30m`` (``@-30m``).

    Args:
        text: What was typed; None stays None.
        option: For the error.
        now_ms: What ``now`` means.

    Raises:
        UsageError: It is none of these.
    """
    if text is None:
        return None
    word = text.strip().removeprefix("@")
    try:
        if word == "now":
            return now_ms
        if word.startswith("-"):
            return now_ms - parse_duration_ms(word[1:])
        if word.isdigit():
            return int(word)
        moment = datetime.fromisoformat(word)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError, typer.BadParameter):
        raise UsageError(
            f"{text!r} is not a time for {option}.", "", f"Write {option}=-30m, or {option} 2026-11-21T09:00:00Z"
        ) from None


def parse_listen(text: str) -> tuple[str, int]:
    """Parse ``HOST:PORT``; an IPv6 address stands in brackets.

    Raises:
        UsageError: It is none.
    """
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or (":" in bare) != host.startswith("[") or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(f"{text!r} is not an address to listen on.", "", "Write HOST:PORT, e.g. 127.0.0.1:9308.")
    return bare, int(port)


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
Output = Annotated[OutputFormat, _output("--output", "-o", callback=remember_output, help="Format of the result.")]
FindingOutput = Annotated[
    FindingFormat, _output("--output", "-o", callback=remember_output, help="Format of the result.")
]
Header = Annotated[
    bool | None,
    _output("--header/--no-header", help="Header line with column names in tsv and csv; csv has one by default."),
]
OutputFile = Annotated[
    Path | None, _output("--output-file", metavar="FILE", help="File to write the result to as well.")
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


class ResultOptions(NamedTuple):
    """The options for the format and the file of a result."""

    output: Output = OutputFormat.TABLE
    output_file: OutputFile = None
