"""Units of systemd: their variables, their environment files, and the processes of a template unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.programs.command_lines import options_in
from eosctl.settings.programs.kafka_commands import brokers_started
from eosctl.settings.programs.process_counts import ONE_PER_INSTANCE
from eosctl.settings.programs.program_files import as_services, lines_in, pairs_in
from eosctl.settings.programs.program_options import variables_in_options

_VARIABLES: Final = re.compile(r"^[ \t]*Environment=(?P<rest>.*)$", re.DOTALL)
_FILE: Final = re.compile(r"^[ \t]*EnvironmentFile=-?(?P<path>\S+)")
_STARTED: Final = re.compile(r"^[ \t]*ExecStart=")
_GIVEN: Final = re.compile(r"(?:(?<=[ \t=])|(?<=file:))(?P<path>/[\w./%@-]+\.(?:properties|ya?ml|conf|json|toml))\b")
"""A configuration file that a command is given."""
_COMMAND: Final = re.compile(r"^[ \t]*(?:Environment|Exec\w+)=")
_NAME: Final = re.compile(r"(?:^|/)(?P<name>[^/@]+)(?P<template>@?)\.service(?:\.\w+)?$")
_INSTANCE: Final = re.compile(r"%[iIjnN]")
_ID: Final = re.compile(r"TRANSACTION(?:AL)?_?ID|INSTANCE_?ID|CLIENT_?ID", re.IGNORECASE)
_MOST_INSTANCES: Final = 100


def parse_unit(text: str, file: str = "") -> tuple[Branch, ...]:
    """Return what a systemd unit sets, and the brokers that it starts, as services of Compose.

    That is ``Environment=NAME=value "OTHER=value"``, and the options of its commands. A unit with environment files,
    or with configuration files in its command, is also a service that reads them and its own file; a template
    (``pay@.service``) has one process per instance.
    """
    entries: list[tuple[str, Node]] = []
    files: list[Leaf] = []
    lines = list(lines_in(text))
    for number, line in lines:
        if found := _FILE.match(line):
            files.append(Leaf(found["path"], number))
        if _STARTED.match(line):
            files += (Leaf(found["path"], number) for found in _GIVEN.finditer(line))
        if found := _VARIABLES.match(line):
            entries += pairs_in(re.sub(r'"([A-Za-z_][\w.-]*=)', r'\1"', found["rest"]), number)
        if _COMMAND.match(line):
            options = list(options_in(line, number))
            entries += options or variables_in_options([Leaf(line.partition("=")[2], number)])
    started = brokers_started(lines)
    name = _NAME.search(file)
    if name is not None and (files or name["template"]):
        started.append(_service(name["name"], bool(name["template"]), files, file))
    return (Branch(tuple(entries), 1), *as_services(started))


def _service(name: str, is_template: bool, files: list[Leaf], file: str) -> tuple[str, Node]:
    """Return a unit as a service; a file of each instance may hold what differs.

    A project has the files of the machine next to the unit, or in a folder near it.
    """
    whole = f"{name}@" if is_template else name
    names = {(leaf.text or "").rpartition("/")[2]: leaf.line for leaf in files}
    near = [Leaf(path, line) for one, line in names.items() for path in (one, f"../**/{one}")]
    entries: list[tuple[str, Node]] = [("env_file", Row((Leaf(f"{whole}.service", 1), *files, *near), 1))]
    count = _instances([one for one in names if _INSTANCE.search(one)], file) if is_template else None
    if count is not None:
        entries.append(("scale", Leaf(count, 1)))
    return whole, Branch(tuple(entries), 1)


def _instances(names: list[str], file: str) -> str | None:
    """Return how many instances a template unit has; None where a file of each instance may have its own id."""
    if not names:
        return ONE_PER_INSTANCE
    found = [path for name in names for path in islice(_near(name, file), _MOST_INSTANCES)]
    if not found or any(map(_names_an_id, found)):
        return None
    return str(len(found)) if len(found) > 1 else ONE_PER_INSTANCE


def _near(name: str, file: str) -> Iterator[Path]:
    """Yield the files of instances in the folder of a unit, and in the folders next to it."""
    folder, pattern = Path(file).parent, _INSTANCE.sub("*", name)
    found = (*folder.glob(pattern), *folder.parent.glob(pattern), *folder.parent.glob(f"*/{pattern}"))
    yield from sorted({path for path in found if path.is_file()})


def _names_an_id(path: Path) -> bool:
    try:
        return _ID.search(path.read_text("utf-8", "replace")) is not None
    except OSError:
        return True
