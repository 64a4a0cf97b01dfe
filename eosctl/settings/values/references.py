r"""References in values: secrets stay where they are kept, and are read when they are needed.

``${NAME}`` and ``${env:NAME}`` are environment variables, ``${file:PATH}`` a whole file without its last line break,
``${file:PATH:KEY}`` a key of a properties file (Kafka's FileConfigProvider), ``${directory:PATH:KEY}`` the file KEY in
a directory (DirectoryConfigProvider).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.input_file import read_input
from eosctl.model.client_config import Given
from eosctl.settings.formats.properties_file import read_properties

_REFERENCE: Final = re.compile(r"\$\{(?:(?P<provider>[A-Za-z_][\w-]*):)?(?P<rest>[^}]*)\}")


def has_reference(text: str) -> bool:
    """Return whether a value refers to something outside of it."""
    return _REFERENCE.search(text) is not None


def resolve_references(given: Given, environment: Mapping[str, str]) -> str:
    """Return the text with every reference replaced by what it refers to.

    Raises:
        ConfigFileError: A variable, file or key is missing, or the provider is not known.
    """

    def replacement(match: re.Match[str]) -> str:
        provider, rest = match["provider"], match["rest"]
        match provider:
            case None | "env":
                return _variable(rest, environment, given.origin)
            case "file":
                return _from_file(rest, given.origin)
            case "directory":
                directory, _, key = rest.rpartition(":")
                return _whole_file(Path(directory) / key, given.origin)
            case _:
                raise ConfigFileError(
                    f"{given.origin}: the reference ${{{provider}:...}} is not understood.",
                    "eosctl reads environment variables, files and directories.",
                    "Use ${NAME}, ${file:PATH}, ${file:PATH:KEY} or ${directory:PATH:KEY}.",
                )

    return _REFERENCE.sub(replacement, given.text)


def _variable(name: str, environment: Mapping[str, str], origin: str) -> str:
    try:
        return environment[name]
    except KeyError:
        raise ConfigFileError(
            f"{origin}: the environment variable {name} is not set.",
            "The value refers to it.",
            f"Set {name}, or give the value another way.",
        ) from None


def _from_file(rest: str, origin: str) -> str:
    path, _, key = rest.rpartition(":")
    if not path:
        return _whole_file(Path(rest), origin)
    values = read_properties(Path(path))
    if key not in values:
        raise ConfigFileError(f"{origin}: {path} has no key {key}.", "The value refers to it.", f"Add {key} to {path}.")
    return values[key].text


def _whole_file(path: Path, origin: str) -> str:
    try:
        return read_input(path).decode().removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8"
        raise ConfigFileError(
            f"{origin}: {path} cannot be read: {why}.",
            "The value refers to this file.",
            "Check the path and its permissions.",
        ) from error
