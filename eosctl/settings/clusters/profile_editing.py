"""Add profiles to the user's file and take them out; the file is written whole or not at all, readable by its owner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from eosctl.errors import ConfigFileError, UsageError, unknown_name, write_failed
from eosctl.input_file import read_input
from eosctl.settings.clusters.profiles import is_plain_secret, read_profiles
from eosctl.whole_file import only_writer, whole_file

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def add_profile(
    path: Path, name: str, properties: Mapping[str, str], *, protected: bool, replace: bool = False
) -> None:
    """Write a profile into the file.

    Raises:
        UsageError: The name is none, is taken, or a secret was given as itself.
        ConfigFileError: The file is not of the documented shape, or cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a profile name.", "Letters, digits, dots, dashes.", "E.g. prod-eu")
    for key, value in properties.items():
        if is_plain_secret(key, value):
            raise UsageError(
                f"{key} is or contains a secret, and profiles hold none.",
                "The file can then be shared and backed up.",
                "Refer to it: ${VARIABLE}, ${file:PATH} or ${file:PATH:KEY}.",
            )
    body: dict[str, Any] = {"protected": True} if protected else {}
    with _changing(path) as target:
        if name in read_profiles(target) and not replace:
            raise UsageError(f"There is a profile {name!r} already.", "", "Choose another name, or add --replace.")
        _edit(target, lambda before: {**before, name: body | {"properties": dict(properties)}})


def remove_profile(path: Path, name: str) -> None:
    """Take a profile out of the file.

    Raises:
        UsageError: No profile has this name.
        ConfigFileError: The file is not of the documented shape, or cannot be written.
    """
    with _changing(path) as target:
        known = read_profiles(target)
        if name not in known:
            raise unknown_name("profile", name, known, "List them: eosctl profile list")
        _edit(target, lambda before: {other: body for other, body in before.items() if other != name})


@contextmanager
def _changing(path: Path) -> Iterator[Path]:
    """Yield the file behind a link, to which no other process writes meanwhile."""
    try:
        target = path.resolve()
        with only_writer(target):
            yield target
    except OSError as error:
        raise write_failed(path, error, "Choose another folder.", ConfigFileError) from error


def _edit(path: Path, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
    from eosctl.knowledge.small_files import load_yaml
    from eosctl.settings.clusters.profile_text import edited_text  # loaded late, as YAML's parser is

    text = read_input(path).decode("utf-8") if path.exists() else ""
    before = {str(name): body for name, body in load_yaml(text)["profiles"].items()} if text else {}
    edited = edited_text(text, before, change(before))
    with whole_file(path) as file:
        file.write(edited.encode())
