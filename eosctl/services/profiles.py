"""Named clusters of the user: how to reach them, and which are protected."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from eosctl.errors import UsageError, unknown_name
from eosctl.model.client_config import Profile
from eosctl.model.setting_names import is_setting_name
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.settings.clusters.client_properties import ALIASES, KNOWN_NAMES, line_of_origin
from eosctl.settings.clusters.profile_editing import add_profile, remove_profile
from eosctl.settings.clusters.profiles import profiles_path, read_profiles
from eosctl.settings.formats.properties_file import read_properties
from eosctl.text import count_text


class NewProfile(NamedTuple):
    """A profile to add.

    Attributes:
        name: Its name.
        bootstrap: Brokers to connect to: ``HOST:PORT``.
        command_config: A client.properties file with settings to take over.
        settings: Single client settings: ``KEY=VALUE``.
        protected: Whether commands that change the cluster ask for the target's name as well.
        replace: Whether it takes the place of a profile of this name.
    """

    name: str
    bootstrap: str | None = None
    command_config: Path | None = None
    settings: tuple[str, ...] = ()
    protected: bool = False
    replace: bool = False


def profiles_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the profiles."""
    return profiles_path(environment)


def find_profiles(name: str | None = None) -> tuple[Profile, ...]:
    """Return all profiles, or the one of this name.

    Raises:
        UsageError: No profile has this name.
        ConfigFileError: The file cannot be read.
    """
    profiles = read_profiles(profiles_file())
    if name is not None and name not in profiles:
        raise unknown_name("profile", name, profiles, "Add it: eosctl profile add")
    return tuple(profile for key, profile in profiles.items() if name in (None, key))


def add(new: NewProfile, callbacks: Callbacks = SILENT) -> None:
    """Add a profile, and name the file.

    Raises:
        UsageError: A setting is not KEY=VALUE, the profile names no cluster, or it exists.
        ConfigFileError: A file cannot be read.
    """
    read = {} if new.command_config is None else read_properties(new.command_config)
    properties = {key: given.text for key, given in read.items()}
    for setting in new.settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UsageError("A value of -X is not KEY=VALUE.", "", "E.g. -X security.protocol=SASL_SSL")
        properties[key.strip()] = value.strip()
    if new.bootstrap is not None:
        properties["bootstrap.servers"] = new.bootstrap
    if not properties.get("bootstrap.servers"):
        raise UsageError("The profile names no cluster.", "bootstrap.servers is missing.", "Add: -b HOST:PORT")
    unnamed = [key for key in properties.keys() - KNOWN_NAMES - ALIASES.keys() if not is_setting_name(key)]
    if unnamed:
        where = min((read[key].origin for key in unnamed if key in read), key=line_of_origin, default="-X")
        raise UsageError(
            f"{where}: {count_text(len(unnamed), 'line')} without the name of a setting.",
            "It may be a part of a value, such as a PEM block, which a profile would keep in clear text.",
            "End each line of such a value but the last with a backslash.",
        )
    for key in properties.keys() - KNOWN_NAMES:
        callbacks.remark(f"warning: {key} is kept, and eosctl makes no use of it")
    path = profiles_file()
    add_profile(path, new.name, properties, protected=new.protected, replace=new.replace)
    callbacks.remark(f"profile {new.name} written to {path}")


def remove(name: str, callbacks: Callbacks = SILENT) -> None:
    """Remove a profile, and name the file.

    Raises:
        UsageError: No profile has this name.
        ConfigFileError: The file cannot be read.
    """
    path = profiles_file()
    remove_profile(path, name)
    callbacks.remark(f"profile {name} removed from {path}")
