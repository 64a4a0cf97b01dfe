"""Configuration files of Kafka that a container reads: named by its command, mounted, or part of its image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Place, Value
from eosctl.model.unjudged import Unseen
from eosctl.settings.files.file_texts import is_of_others
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.programs.environment import is_image_of_broker
from eosctl.settings.values.sources import value_of

_FILE: Final = re.compile(
    r"(?:^|/)(?:server|broker|controller|producer|consumer|streams|mm2|connect-[\w-]+|kafka[\w-]*)\.properties$"
)
_START: Final = re.compile(
    r"(?:kafka-server-start|connect-distributed|connect-standalone|connect-mirror-maker)(?:\.sh)?\b"
)
_GIVEN: Final = re.compile(r"^[^;&|\n]*?([^\s\"']+\.properties)\b")
_COMMANDS: Final = ("command", "args", "entrypoint")
_MOUNTS: Final = ("volumeMounts", "volumes", "configs")
_OVERRIDE: Final = "--override"
_TARGETS: Final = ("mountPath", "target")
_VARIABLE: Final = re.compile(r"\$\{[^${}]*\}")
"""A variable, whose default may follow a colon."""


def containers_of(node: Node) -> Iterator[Branch]:
    """Yield the containers of a resource of Kubernetes."""
    if isinstance(node, Branch):
        for key, child in node.entries:
            if key in ("containers", "initContainers") and isinstance(child, Row):
                yield from (member for member in child.nodes if isinstance(member, Branch))
            else:
                yield from containers_of(child)
    elif isinstance(node, Row):
        for child in node.nodes:
            yield from containers_of(child)


def kafka_files(container: Branch, file: str, *, is_whole: bool = True) -> tuple[Unseen, ...]:
    """Return the files of Kafka that a container of Kubernetes, or a service of Compose, reads.

    A broker's image without a command has its own; a part of a description, such as a patch, leaves the command out.
    """
    commands = [leaf for key in _COMMANDS for leaf in _leaves(container.get(key))]
    text = " ".join(leaf.text or "" for leaf in commands)
    found = [Unseen(Place(file, leaf.line), leaf.text or "") for leaf in _targets(container)]
    if (start := _START.search(text)) is not None:
        line = next((leaf.line for leaf in commands if _START.search(leaf.text or "")), container.line)
        given = _GIVEN.match(text[start.end() :])
        found.append(Unseen(Place(file, line), given[1] if given else f"the configuration of {start[0]}"))
    image = container.text("image") or ""
    is_broker = is_image_of_broker(image) and "zookeeper" not in f"{image} {container.text('name')}"
    if is_whole and not found and not commands and is_broker:
        found.append(Unseen(Place(file, container.line), f"the configuration in the image {image}"))
    return tuple(found)


def overrides_of(container: Branch, file: str) -> dict[str, Value]:
    """Return the settings that a container's command lays over the file of its broker: ``--override name=value``."""
    words = [
        (word, leaf)
        for key in _COMMANDS
        for leaf in _leaves(container.get(key))
        for word in (leaf.text or "").replace(f"{_OVERRIDE}=", f"{_OVERRIDE} ").split()
    ]
    found: dict[str, Value] = {}
    for (word, _), (text, leaf) in pairwise(words):
        name, equals, value = text.strip("'\"").partition("=")
        if word == _OVERRIDE and equals:
            found[name] = value_of(name, replace(leaf, text=value), file)
    return found


def _targets(container: Branch) -> Iterator[Leaf]:
    for node in (member for key in _MOUNTS for member in container.items(key)):
        if isinstance(node, Leaf):
            parts = _VARIABLE.sub("", node.text or "").split(":")
            leaf: Node | None = Leaf(parts[1] if len(parts) > 1 else parts[0], node.line)
        else:
            own = node if isinstance(node, Branch) else Branch((), 1)
            leaf = next((one for key in _TARGETS if (one := own.get(key)) is not None), None)
        if isinstance(leaf, Leaf) and _FILE.search(leaf.text or "") and not is_of_others(leaf.text or ""):
            yield leaf


def _leaves(node: Node | None) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Row):
        yield from (child for child in node.nodes if isinstance(child, Leaf))
