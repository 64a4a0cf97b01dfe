"""The user's folders after the XDG base directory specification: never the current directory for want of a home."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from eosctl.errors import EosctlError


def state_home() -> Path:
    """Return `$XDG_STATE_HOME`, by default `~/.local/state`."""
    return _folder("XDG_STATE_HOME", ".local/state", os.environ)


def config_home(environment: Mapping[str, str]) -> Path:
    """Return `$XDG_CONFIG_HOME`, by default `~/.config`."""
    return _folder("XDG_CONFIG_HOME", ".config", environment)


def cache_home(environment: Mapping[str, str]) -> Path:
    """Return `$XDG_CACHE_HOME`, by default `~/.cache`."""
    return _folder("XDG_CACHE_HOME", ".cache", environment)


def _folder(variable: str, below_home: str, environment: Mapping[str, str]) -> Path:
    given = Path(environment.get(variable, ""))
    # A relative path is invalid by the specification, and would depend on where a command is run.
    return given if given.is_absolute() else _home(variable, environment) / below_home


def _home(variable: str, environment: Mapping[str, str]) -> Path:
    """Return `$HOME`, or the home directory in the password database if it is not an absolute path.

    Raises:
        EosctlError: Neither names one.
    """
    home = Path(environment.get("HOME", ""))
    if home.is_absolute():
        return home
    try:
        home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        home = Path()
    if home.is_absolute():
        return home
    why = f"HOME is not set to an absolute path, and user {os.getuid()} has none in the password database."
    raise EosctlError("The home directory is unknown.", why, f"Set HOME, or {variable}.")
