"""``eosctl config diff|render``: what two files mean, and vetted configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.commands.options import OutputFile, ResultOptions
from eosctl.render.configuration.difference import render_differences
from eosctl.render.page import Grid, render_page
from eosctl.services.callbacks import Callbacks
from eosctl.services.compare_configuration import Side, compare_files, list_vetted, render_vetted


def diff(
    invocation: Invocation,
    left: Annotated[Path, typer.Argument(metavar="A", help="First configuration file.", exists=True, dir_okay=False)],
    right: Annotated[Path, typer.Argument(metavar="B", help="Second configuration file.", exists=True, dir_okay=False)],
    left_version: Annotated[
        str | None, typer.Option("--from-version", metavar="VERSION", help="Release of A: Kafka's or librdkafka's.")
    ] = None,
    right_version: Annotated[str | None, typer.Option("--to-version", metavar="VERSION", help="Release of B.")] = None,
    *,
    result: ResultOptions,
) -> None:
    """Compare the effective settings of two files.

    Defaults are resolved first, each by the file's own release, so the result shows what changes in effect.

    Examples:
        eosctl config diff staging.properties production.properties
        eosctl config diff old.properties new.properties --from-version 3.9 --to-version 4.3
    """
    found = compare_files(Side(left, left_version), Side(right, right_version), Callbacks(invocation.now_ms, note))
    text = render_differences(found, invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def render(
    profile: Annotated[
        str | None, typer.Argument(metavar="[PROFILE]", help="Name; all are listed by default.", show_default=False)
    ] = None,
    security: Annotated[
        str | None,
        typer.Option(
            "--security",
            metavar="KIND",
            help="Settings to add: tls, mtls, sasl-scram, or sasl-oauth.",
            show_default=False,
        ),
    ] = None,
    output_file: OutputFile = None,
) -> None:
    """Print a vetted configuration, or list the templates.

    Each setting comes with the reason for it.

    Examples:
        eosctl config render
        eosctl config render consumer-read-committed
        eosctl config render producer-transactional --security sasl-scram
    """
    if profile is not None:
        write_result(render_vetted(profile, security), output_file)
        return
    rows = tuple((one.name, one.file, one.intent) for one in list_vetted())
    write_result(render_page([Grid(rows, ("PROFILE", "FILE", "INTENT"))]), output_file)
