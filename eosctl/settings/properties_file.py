"""Java properties files, with the line of each value."""

from __future__ import annotations

from pathlib import Path

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import Given


def read_properties(path: Path) -> dict[str, Given]:
    """Read a file as Java does: Latin-1 with escapes, the last of several values counts.

    Raises:
        ConfigFileError: The file cannot be read, or an escape in it is malformed.
    """
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError as error:
        raise ConfigFileError(
            f"{path} cannot be read: {error.strerror or error}.",
            "The path is wrong, or this user may not read the file.",
            "Give the path of a Java properties file, e.g. client.properties.",
        ) from error
    return parse_properties(text, path.name)


def parse_properties(text: str, name: str) -> dict[str, Given]:
    """Parse the text of a properties file; origins are ``name:line``."""
    import javaproperties  # loaded late: only runs with a file need it

    values: dict[str, Given] = {}
    line = 1
    try:
        for element in javaproperties.parse(text):
            if isinstance(element, javaproperties.KeyValue):
                values[element.key] = Given(element.value, f"{name}:{line}")
            line += len(element.source.splitlines())
    except javaproperties.InvalidUEscapeError as error:
        raise ConfigFileError(
            f"{name}:{line}: malformed \\u escape.",
            "A backslash starts an escape in properties files.",
            "Write a backslash as two backslashes.",
        ) from error
    return values
