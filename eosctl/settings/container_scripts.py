"""Scripts that containers run: what a command creates, writes, and sends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.settings.container_files import containers_of
from eosctl.settings.program_files import OPTIONS, parse_script
from eosctl.settings.tree import Branch, Leaf, Node, Row

_KEYS: Final = ("command", "args", "entrypoint")
_WORTH_READING: Final = re.compile(r"\bkafka-topics|\bcurl\b|<<|\bexport\b")


def scripts_within(document: Node) -> Iterator[Branch]:
    """Yield what the commands of containers in a document configure; their options are read with their variables."""
    if not isinstance(document, Branch):
        return
    services = document.branch("services")
    containers = [node for _, node in services.entries if isinstance(node, Branch)] if services else []
    if document.text("kind") is not None:
        containers += containers_of(document)
    for leaf in (leaf for one in containers for key in _KEYS for leaf in _texts(one.get(key))):
        if leaf.text and _WORTH_READING.search(leaf.text):
            own, *started = parse_script("\n" * (leaf.line - 1) + leaf.text)
            yield from started
            if kept := tuple(entry for entry in own.entries if not entry[0].startswith(OPTIONS)):
                yield Branch(kept, leaf.line)


def _texts(node: Node | None) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Row):
        for child in node.nodes:
            yield from _texts(child)
