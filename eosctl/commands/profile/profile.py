"""``eosctl profile``: named clusters of the user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError, unknown_name
from eosctl.render.formats import OutputFormat

Name = Annotated[str, typer.Argument(metavar="NAME", help="The profile.")]


def list_profiles(
    context: typer.Context,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List the profiles."""
    _show(context, "profile list", None, output, output_file)


def show_profile(
    context: typer.Context,
    name: Name,
    output: Output = OutputFormat.WIDE,
    output_file: OutputFile = None,
) -> None:
    """Show one profile with its settings; secrets are masked."""
    _show(context, "profile show", name, output, output_file)


def add(
    name: Name,
    bootstrap: Annotated[
        str | None, typer.Option("--bootstrap-server", "-b", metavar="HOST:PORT", help="Brokers to connect to.")
    ] = None,
    command_config: Annotated[
        Path | None,
        typer.Option(
            "--command-config", metavar="FILE", help="Take over the settings of a client.properties file.", exists=True
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("-X", metavar="KEY=VALUE", help="A client setting; repeatable.")
    ] = None,
    protected: Annotated[
        bool, typer.Option("--protected", help="Commands that change the cluster ask for the target's name as well.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of the profile of this name.")] = False,
) -> None:
    """Add a profile; use it with --profile NAME or EOSCTL_PROFILE.

    Secrets are given as references: ${VARIABLE}, ${file:PATH} or ${file:PATH:KEY}.
    """
    from eosctl.settings.client_properties import KNOWN_NAMES
    from eosctl.settings.profile_editing import add_profile
    from eosctl.settings.properties_file import read_properties

    properties: dict[str, str] = {}
    if command_config is not None:
        properties |= {key: given.text for key, given in read_properties(command_config).items()}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-X {setting} is not KEY=VALUE.", "", "E.g. -X security.protocol=SASL_SSL")
        properties[key.strip()] = value.strip()
    if bootstrap is not None:
        properties["bootstrap.servers"] = bootstrap
    if not properties.get("bootstrap.servers"):
        raise UsageError("The profile names no cluster.", "bootstrap.servers is missing.", "Add: -b HOST:PORT")
    for key in properties.keys() - KNOWN_NAMES:
        note(f"warning: {key} is kept, and eosctl makes no use of it")
    path = _path()
    add_profile(path, name, properties, protected=protected, replace=replace)
    note(f"profile {name} written to {path}")


def remove(name: Name) -> None:
    """Remove a profile."""
    from eosctl.settings.profile_editing import remove_profile

    path = _path()
    remove_profile(path, name)
    note(f"profile {name} removed from {path}")


def _path() -> Path:
    from eosctl.settings.profiles import profiles_path

    return profiles_path(os.environ)


def _show(
    context: typer.Context, command: str, name: str | None, output: OutputFormat, output_file: Path | None
) -> None:
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.profiles import PROFILE_COLUMNS, profile_item
    from eosctl.settings.profiles import read_profiles

    invocation = invocation_of(context)
    profiles = read_profiles(_path())
    if name is not None and name not in profiles:
        raise unknown_name("profile", name, profiles, "Add it: eosctl profile add")
    chosen = [profile for key, profile in profiles.items() if name in (None, key)]
    result = listing("profiles", command, invocation.now_ms(), tuple(profile_item(one) for one in chosen))
    empty = f"No profiles in {_path()}; add one: eosctl profile add NAME -b HOST:PORT"
    write_result(render_listing(result, PROFILE_COLUMNS, output, invocation.style(), empty=empty), output_file)
