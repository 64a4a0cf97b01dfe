"""The options that the decoders share."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import remember_output
from eosctl.commands.options import filter_option, output_option
from eosctl.render.decode.formats import BytesForm, DecodeFormat, KafkaDialect

Files = Annotated[
    list[str], typer.Argument(metavar="FILE|DIR|PATTERN...", help="Files to decode; - is standard input.")
]
Form = Annotated[
    DecodeFormat, output_option("--output", "-o", "--format", callback=remember_output, help="Format of the lines.")
]
Dialect = Annotated[
    KafkaDialect, output_option("--kafka-version", help="Release of the dump tool that -o kafka imitates.")
]
Keys = Annotated[BytesForm, output_option("--keys", help="Representation of keys.")]
Values = Annotated[BytesForm, output_option("--values", help="Representation of values.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first damage.")]
ProducerIds = Annotated[list[int] | None, filter_option("--producer-id", help="Producer id to show; repeatable.")]
Offsets = Annotated[str | None, filter_option("--offset", metavar="A:B", help="Offset range, both ends included.")]
Times = Annotated[
    str | None,
    filter_option("--time", metavar="A:B", help="Time range: A:B in ms since the epoch, or A..B in RFC 3339."),
]
BaseOffset = Annotated[
    int | None, typer.Option("--base-offset", help="First offset of the segment, if the file name does not contain it.")
]
