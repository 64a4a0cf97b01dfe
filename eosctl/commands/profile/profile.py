"""``eosctl profile``: named clusters of the user."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit_list
from eosctl.commands.options import Output, OutputFile, ResultOptions
from eosctl.commands.session import perform
from eosctl.render.formats import OutputFormat
from eosctl.render.profiles import PROFILE_COLUMNS, profile_item
from eosctl.services import profiles

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")]


def list_profiles(invocation: Invocation, result: ResultOptions) -> None:
    """List the profiles.

    Examples:
        eosctl profile list
        eosctl profile list -o json
    """
    _emit(("profiles", "profile list"), None, result, invocation)


def show_profile(
    invocation: Invocation, name: Name, output: Output = OutputFormat.WIDE, output_file: OutputFile = None
) -> None:
    """Show a profile with its settings.

    Secrets are masked.

    Examples:
        eosctl profile show production
        eosctl profile show production -o yaml
    """
    _emit(("profiles", "profile show"), name, ResultOptions(output, output_file), invocation)


def _emit(names: tuple[str, str], name: str | None, result: ResultOptions, invocation: Invocation) -> NoReturn:
    items = tuple(map(profile_item, profiles.find_profiles(name)))
    empty = f"No profiles in {profiles.profiles_file()}; add one: eosctl profile add NAME -b HOST:PORT"
    emit_list(names, items, PROFILE_COLUMNS, result, invocation, empty=empty)


ProfileOptions = Annotated[
    profiles.NewProfile,
    options(
        name=Name,
        bootstrap=typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT",
            help="Brokers to connect to. [env: EOSCTL_BOOTSTRAP_SERVERS]",
        ),
        command_config=typer.Option(
            "--command-config", metavar="FILE", help="Take over the settings of a client.properties file.", exists=True
        ),
        settings=typer.Option("-X", metavar="KEY=VALUE", help="Client setting; repeatable."),
        protected=typer.Option(
            "--protected", help="Require confirmation of the target's name for commands that change the cluster."
        ),
        replace=typer.Option("--replace", help="Replace an existing profile."),
    ),
]


def add(invocation: Invocation, profile: ProfileOptions) -> None:
    """Add a profile for use with --profile NAME.

    EOSCTL_PROFILE selects a profile as well. Secrets are stored as references: ${VARIABLE}, ${file:PATH}, or
    ${file:PATH:KEY}.

    Examples:
        eosctl profile add production -b kafka-1:9092 --command-config client.properties --protected
        eosctl profile add staging -b staging-1:9092 -X security.protocol=SSL
    """
    perform(profiles.add, profile, invocation)


def remove(invocation: Invocation, name: Name) -> None:
    """Remove a profile.

    Examples:
        eosctl profile remove staging
    """
    perform(profiles.remove, name, invocation)
