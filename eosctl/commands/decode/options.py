"""The options that the decoders share, and the values in them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer

from eosctl.command_line.invocation import remember_output
from eosctl.commands.options import FILTER, OUTPUT
from eosctl.errors import UsageError
from eosctl.model.log_bounds import EVERYTHING, Bounds
from eosctl.render.decode.formats import BytesForm, DecodeFormat, KafkaDialect

_filter = partial(typer.Option, rich_help_panel=FILTER)

_output = partial(typer.Option, rich_help_panel=OUTPUT)

Files = Annotated[
    list[str], typer.Argument(metavar="FILE|DIR|PATTERN...", help="Files to decode; - is standard input.")
]
Form = Annotated[
    DecodeFormat, _output("--output", "-o", "--format", callback=remember_output, help="Format of the lines.")
]
Dialect = Annotated[KafkaDialect, _output("--kafka-version", help="Release of the dump tool that -o kafka imitates.")]
Keys = Annotated[BytesForm, _output("--keys", help="Representation of keys.")]
Values = Annotated[BytesForm, _output("--values", help="Representation of values.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first damage.")]
ProducerIds = Annotated[list[int] | None, _filter("--producer-id", help="Producer id to show; repeatable.")]
Offsets = Annotated[str | None, _filter("--offset", metavar="A:B", help="Offset range, both ends included.")]
Times = Annotated[
    str | None,
    _filter("--time", metavar="A:B", help="Time range: A:B in ms since the epoch, or A..B in RFC 3339."),
]
BaseOffset = Annotated[
    int | None, typer.Option("--base-offset", help="First offset of the segment, if the file name does not contain it.")
]


def parse_bounds(text: str | None, option: str) -> Bounds:
    """Parse ``A:B``, ``A:`` or ``:B``; a bare number is both ends.

    Raises:
        UsageError: The text is none of these.
    """
    if text is None:
        return EVERYTHING
    first, colon, last = text.partition(":")
    try:
        low = int(first) if first else None
        high = (int(last) if last else None) if colon else low
    except ValueError:
        raise UsageError(
            f"{text!r} is not a range of {option}.", "", f"Write {option} 100:200, 100: or :200."
        ) from None
    return Bounds(low, high)


def parse_times(text: str | None) -> Bounds:
    """Parse a range of times: milliseconds ``A:B``, or RFC 3339 times ``A..B`` (UTC unless they say otherwise).

    Raises:
        UsageError: The text is neither.
    """
    if text is None or ".." not in text:
        return parse_bounds(text, "--time")
    first, _, last = text.partition("..")
    try:
        return Bounds(_time_ms(first), _time_ms(last))
    except ValueError:
        example = "--time 2026-11-21T09:00:00Z..2026-11-21T10:00:00Z"
        raise UsageError(f"{text!r} is not a time range.", "", f"Write {example}") from None


def _time_ms(text: str) -> int | None:
    if not text.strip():
        return None
    moment = datetime.fromisoformat(text.strip())
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
