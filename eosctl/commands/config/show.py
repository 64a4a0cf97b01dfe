"""``eosctl config explain|diff|render``: settings, what two files mean, and vetted configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.invocation import Invocation, note, write_result
from eosctl.commands.options import OutputFile, ResultOptions
from eosctl.render.configuration.difference import render_differences
from eosctl.render.configuration.setting import render_setting
from eosctl.render.page import Grid, render_page
from eosctl.services.callbacks import Callbacks
from eosctl.services.compare_configuration import Side, compare_files, explain_setting, find_vetted, list_vetted


def explain(
    invocation: Invocation,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The setting, e.g. transaction.timeout.ms.")],
    result: ResultOptions,
) -> None:
    """Show a setting: where it exists, its default by release, what it does to exactly-once, the rules that read it."""
    text = render_setting(explain_setting(key), invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def diff(
    invocation: Invocation,
    left: Annotated[Path, typer.Argument(metavar="A", help="A configuration file.", exists=True, dir_okay=False)],
    right: Annotated[Path, typer.Argument(metavar="B", help="Another one.", exists=True, dir_okay=False)],
    left_version: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="The release of A: Kafka's, or librdkafka's.")
    ] = None,
    right_version: Annotated[str | None, typer.Option("--to", metavar="VERSION", help="The release of B.")] = None,
    *,
    result: ResultOptions,
) -> None:
    """Compare what two files mean: values with defaults resolved, each by its own release."""
    found = compare_files(Side(left, left_version), Side(right, right_version), Callbacks(invocation.now_ms, note))
    text = render_differences(found, invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def render(
    profile: Annotated[
        str | None, typer.Argument(metavar="[PROFILE]", help="Which; all are listed without.", show_default=False)
    ] = None,
    output_file: OutputFile = None,
) -> None:
    """Print a vetted configuration with the reason for each setting, or list what there is."""
    if profile is not None:
        write_result(find_vetted(profile).text, output_file)
        return
    rows = tuple((one.name, one.file, one.intent) for one in list_vetted())
    write_result(render_page([Grid(rows, ("PROFILE", "FILE", "INTENT"))]), output_file)
