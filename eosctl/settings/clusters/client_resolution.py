"""Which cluster is meant, and as whom: flag, then -X, then file, then environment, then profile, then default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from eosctl.errors import ConfigFileError, UsageError
from eosctl.model.client_config import ClientConfig, Given, Profile
from eosctl.settings.clusters.client_properties import (
    ALIASES,
    KNOWN_NAMES,
    SECRET_NAMES,
    explain_ignored_keys,
    parse_client_config,
)
from eosctl.settings.clusters.profiles import is_plain_secret, profiles_path, read_profiles
from eosctl.settings.formats.properties_file import read_properties

_PREFIX: Final = "EOSCTL_"
_MASK: Final = "[hidden]"


class ResolvedSetting(msgspec.Struct, frozen=True):
    """One setting as it counts; ``shown`` is fit for every output, secrets are masked."""

    name: str
    shown: str
    origin: str


class ResolvedClient(msgspec.Struct, frozen=True):
    """The configuration of one run, its source, and its warnings for the user.

    ``protected`` means that the profile asks for a second confirmation before a change. ``command_config`` is the file
    that was read, or None.
    """

    config: ClientConfig
    profile: str | None
    protected: bool
    settings: tuple[ResolvedSetting, ...]
    warnings: tuple[str, ...]
    command_config: Path | None = None


def resolve_client(
    environment: Mapping[str, str],
    *,
    bootstrap: str | None = None,
    command_config: Path | None = None,
    overrides: Sequence[str] = (),
    profile: str | None = None,
) -> ResolvedClient:
    """Gather every source and build the configuration.

    Args:
        environment: The process environment; any setting may come as ``EOSCTL_`` and its name in capitals with
            underscores (``EOSCTL_BOOTSTRAP_SERVERS``), the file as ``EOSCTL_COMMAND_CONFIG``, the profile as
            ``EOSCTL_PROFILE``.
        bootstrap: The value of ``--bootstrap-server``.
        command_config: The value of ``--command-config``, a Java properties file.
        overrides: The values of ``-X``, each ``key=value``.
        profile: The value of ``--profile``.

    Raises:
        UsageError: An override is not of the form key=value, or holds a secret.
        ConfigFileError: A file cannot be used or a value is not allowed.
    """
    command_config = command_config or _path_of(environment.get("EOSCTL_COMMAND_CONFIG"))
    chosen = _choose_profile(profile or environment.get("EOSCTL_PROFILE"), environment)
    layers = [
        {"bootstrap.servers": Given(bootstrap, "--bootstrap-server")} if bootstrap else {},
        _parse_overrides(overrides),
        read_properties(command_config) if command_config is not None else {},
        _from_environment(environment),
        chosen.properties if chosen is not None else {},
    ]
    given = merge({ALIASES.get(name, name): value for name, value in layer.items()} for layer in layers)
    config = parse_client_config(given, environment)
    return ResolvedClient(
        config=config,
        profile=chosen.name if chosen is not None else None,
        protected=chosen is not None and chosen.protected,
        settings=tuple(_show(name, value) for name, value in sorted(given.items())),
        warnings=tuple(explain_ignored_keys(given, config.ignored_keys)),
        command_config=command_config,
    )


def _choose_profile(name: str | None, environment: Mapping[str, str]) -> Profile | None:
    if name is None:
        return None
    path = profiles_path(environment)
    profiles = read_profiles(path)
    if name not in profiles:
        raise ConfigFileError(
            f"Unknown profile {name!r}.",
            f"{path} holds {', '.join(sorted(profiles)) or 'none'}.",
            "Name one of these, or add it to the file." if profiles else "Add it to the file, or name the cluster: -b.",
        )
    return profiles[name]


def _parse_overrides(overrides: Sequence[str]) -> dict[str, Given]:
    given: dict[str, Given] = {}
    for number, override in enumerate(overrides, start=1):
        name, separator, value = override.partition("=")
        if not separator or not name.strip():
            # The text may be a password whose key was forgotten: it is not repeated here.
            raise UsageError(
                f"-X number {number} is not of the form key=value.", "", "Write -X request.timeout.ms=5000."
            )
        if is_plain_secret(name.strip(), value):
            raise UsageError(
                f"-X {name.strip()} is or contains a secret in clear text.",
                "Other users of this computer can see the arguments of its processes.",
                f"Refer to it: -X '{name.strip()}=${{file:PATH}}' or ${{VARIABLE}}; or give it with --command-config.",
            )
        given[name.strip()] = Given(value, "-X")
    return given


def _from_environment(environment: Mapping[str, str]) -> dict[str, Given]:
    return {
        name: Given(environment[variable], variable)
        for name in KNOWN_NAMES
        if (variable := _PREFIX + name.upper().replace(".", "_")) in environment
    }


def _show(name: str, given: Given) -> ResolvedSetting:
    # Names that are not known may be secrets of something else.
    is_public = name in KNOWN_NAMES and name not in SECRET_NAMES
    return ResolvedSetting(name, given.text if is_public else _MASK, given.origin)


def _path_of(text: str | None) -> Path | None:
    return Path(text) if text else None


def merge(layers: Iterable[Mapping[str, Given]]) -> dict[str, Given]:
    """Merge several tables; earlier ones take precedence."""
    merged: dict[str, Given] = {}
    for layer in layers:
        for name, given in layer.items():
            merged.setdefault(name, given)
    return merged
