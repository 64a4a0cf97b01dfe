"""``eosctl profile``: named clusters of the user."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from eosctl.commands.emit import emit_list
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import Output, OutputFile, ResultOptions
from eosctl.commands.session import perform
from eosctl.render.formats import OutputFormat
from eosctl.render.profiles import PROFILE_COLUMNS, profile_item
from eosctl.services import profiles

Name = Annotated[str, typer.Argument(metavar="NAME", help="The profile.")]


def list_profiles(invocation: Invocation, result: ResultOptions) -> None:
    """List the profiles."""
    _emit(("profiles", "profile list"), None, result, invocation)


def show_profile(
    invocation: Invocation, name: Name, output: Output = OutputFormat.WIDE, output_file: OutputFile = None
) -> None:
    """Show one profile with its settings; secrets are masked."""
    _emit(("profiles", "profile show"), name, ResultOptions(output, output_file), invocation)


def _emit(names: tuple[str, str], name: str | None, result: ResultOptions, invocation: Invocation) -> NoReturn:
    items = tuple(map(profile_item, profiles.find_profiles(name)))
    empty = f"No profiles in {profiles.profiles_file()}; add one: eosctl profile add NAME -b HOST:PORT"
    emit_list(names, items, PROFILE_COLUMNS, result, invocation, empty=empty)


def add(
    invocation: Invocation,
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
    new = profiles.NewProfile(name, bootstrap, command_config, tuple(settings or ()), protected, replace)
    perform(profiles.add, new, invocation)


def remove(invocation: Invocation, name: Name) -> None:
    """Remove a profile."""
    perform(profiles.remove, name, invocation)
