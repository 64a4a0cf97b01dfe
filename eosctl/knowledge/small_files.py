"""Read small YAML files (runbooks, rehearsals, scenarios) and validate them against a type."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml

from eosctl.errors import ConfigFileError
from eosctl.input_file import read_input
from eosctl.knowledge.yaml_aliases import check_aliases

T = TypeVar("T")

MAX_BYTES: Final = 1_000_000


#: Longer numbers are a mistake, and converting them takes quadratic time.
_MOST_DIGITS: Final = 64


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads plain values, by libyaml where it is there (ten times as fast), and refuses numbers that nothing has."""

    def construct_document(self, node: Any) -> Any:
        check_aliases(node)
        return super().construct_document(node)


def _number(loader: Any, node: Any) -> Any:
    if len(node.value) > _MOST_DIGITS:
        raise yaml.constructor.ConstructorError(None, None, "a number of too many digits", node.start_mark)
    is_integer = node.tag == "tag:yaml.org,2002:int"
    return loader.construct_yaml_int(node) if is_integer else loader.construct_yaml_float(node)


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _number)


def load_yaml(text: str) -> Any:
    """Read YAML as plain values, in time that is linear in its length.

    Raises:
        yaml.YAMLError: It is none, is nested too deeply, or holds a value that cannot be converted.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except RecursionError:
        raise yaml.YAMLError("nested too deeply") from None
    except ValueError as error:  # such as a date of the 32nd
        raise yaml.YAMLError(str(error)) from error


def load_yaml_documents(text: str) -> list[Any]:
    """Read the documents of a YAML file as plain values; raises what `load_yaml` raises."""
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except RecursionError:
        raise yaml.YAMLError("nested too deeply") from None
    except ValueError as error:
        raise yaml.YAMLError(str(error)) from error


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
        return read_input(path, MAX_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            raise ConfigFileError(
                f"{path} is too large for a {noun}.", f"More than {MAX_BYTES} bytes.", "Check it."
            ) from error
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigFileError(f"Cannot read {path}.", why or str(error), "Check the path.") from error
