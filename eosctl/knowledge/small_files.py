"""Read small YAML files (runbooks, rehearsals, scenarios) and validate them against a type."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml

from eosctl.errors import ConfigFileError

T = TypeVar("T")

MAX_BYTES: Final = 1_000_000


def load_yaml(text: str) -> Any:
    """Read YAML as plain values, by libyaml where it is there: ten times as fast as in Python.

    Raises:
        yaml.YAMLError: It is none.
    """
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def parse_yaml_as(shape: type[T], text: str, name: str, noun: str, format_hint: str) -> T:
    """Read YAML as a value of a type.

    Args:
        shape: The type, as msgspec converts to it.
        text: The YAML.
        name: How errors call the text, such as its file.
        noun: What it should be, such as ``runbook``.
        format_hint: Where the reader finds the format.

    Raises:
        ConfigFileError: It is not YAML or does not match the type; the message names the key.
    """
    try:
        return msgspec.convert(load_yaml(text), shape)
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError, ValueError) as error:
        raise ConfigFileError(f"{name} is not a {noun}.", " ".join(str(error).split()), format_hint) from error


def read_small_text(path: Path, noun: str) -> str:
    """Read a text file of at most `MAX_BYTES`.

    Raises:
        ConfigFileError: It cannot be read, is too large, or is not UTF-8 text.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigFileError(f"{path} is too large for a {noun}.", f"More than {MAX_BYTES} bytes.", "Check it.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigFileError(f"Cannot read {path}.", why or str(error), "Check the path.") from error
