"""Profiles: named clusters in the user's configuration directory.

profiles:
  prod:
    protected: true
    properties:
      bootstrap.servers: broker-1.example.org:9093
      security.protocol: SASL_SSL
      sasl.mechanism: SCRAM-SHA-512
      sasl.username: on-call
      sasl.password: ${file:/run/secrets/kafka}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from eosctl.errors import ConfigFileError, UsageError
from eosctl.input_file import read_input
from eosctl.model.client_config import Given, Profile
from eosctl.model.named_secrets import is_secret_name
from eosctl.model.redaction import redact_text
from eosctl.settings.clusters.client_properties import ALIASES, KNOWN_NAMES, SECRET_NAMES
from eosctl.settings.values.jaas import parse_jaas
from eosctl.settings.values.references import has_reference
from eosctl.user_folders import config_home

_JAAS: Final = "sasl.jaas.config"


def is_plain_secret(key: str, value: str) -> bool:
    """Return whether a setting of a profile is a secret, or an address with one, and not a reference to it."""
    name = ALIASES.get(key, key)
    if name == _JAAS:
        return not has_reference(value) and _has_secret_option(value)
    is_named = name in SECRET_NAMES or (name not in KNOWN_NAMES and is_secret_name(name))
    return (is_named or ("@" in value and redact_text(value) != value)) and not has_reference(value)


def refuse_plain_secret(option: str, name: str, value: str) -> None:
    """Refuse a secret in an argument.

    Raises:
        UsageError: The setting is or contains a secret, and not a reference to it.
    """
    if is_plain_secret(name, value):
        raise UsageError(
            f"{option} {name} is or contains a secret in clear text.",
            "Other users of this computer can see the arguments of its processes.",
            f"Refer to it: {option} '{name}=${{file:PATH}}' or ${{VARIABLE}}.",
        )


def _has_secret_option(login: str) -> bool:
    """Return whether a login line has a secret; one that cannot be read may have."""
    try:
        return any(is_secret_name(option) for option in parse_jaas(login, _JAAS).options)
    except ConfigFileError:
        return True


def profiles_path(environment: Mapping[str, str]) -> Path:
    """Return the user's profiles file (XDG base directories; ``EOSCTL_CONFIG_DIR`` goes before)."""
    own = environment.get("EOSCTL_CONFIG_DIR")
    if own:
        return Path(own) / "profiles.yaml"
    return config_home(environment) / "eosctl" / "profiles.yaml"


def read_profiles(path: Path) -> dict[str, Profile]:
    """Read every profile of a file; a file that is not there holds none.

    Raises:
        ConfigFileError: The file is not readable or not of the documented shape, or it stores a secret.
    """
    if not path.exists():
        return {}
    import yaml  # loaded late: its parser costs every start a tenth, and most have no profiles

    from eosctl.knowledge.small_files import load_yaml

    try:
        document = load_yaml(read_input(path).decode("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigFileError(f"{path} cannot be read: {_short(error)}.", "", "Correct or remove the file.") from error
    profiles = document.get("profiles") if isinstance(document, dict) else None
    if not isinstance(profiles, dict):
        raise _misshapen(path, "the key profiles is missing")
    return {str(name): _parse_profile(path, str(name), body) for name, body in profiles.items()}


def _parse_profile(path: Path, name: str, body: Any) -> Profile:
    if not isinstance(body, dict) or not isinstance(body.get("properties"), dict):
        raise _misshapen(path, f"profile {name} has no properties")
    unknown = body.keys() - {"properties", "protected"}
    if unknown:
        raise _misshapen(path, f"profile {name} has the unknown key {sorted(map(str, unknown))[0]}")
    if not isinstance(body.get("protected", False), bool):
        raise _misshapen(path, f"protected of profile {name} is neither true nor false")
    properties: dict[str, Given] = {}
    for key, value in body["properties"].items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if is_plain_secret(str(key), text):
            raise ConfigFileError(
                f"{path}: profile {name} stores a secret as {key}.",
                "Profiles hold no secrets, so that the file can be shared and backed up.",
                "Refer to it: ${VARIABLE}, ${file:PATH} or ${file:PATH:KEY}.",
            )
        properties[str(key)] = Given(text, f"profile {name}")
    return Profile(name, properties, protected=body.get("protected") is True)


def _misshapen(path: Path, reason: str) -> ConfigFileError:
    return ConfigFileError(
        f"{path} is not a profiles file: {reason}.",
        "It holds profiles, each with properties and perhaps protected.",
        "See the documentation on profiles.",
    )


def _short(error: Exception) -> str:
    return str(error).splitlines()[0]
