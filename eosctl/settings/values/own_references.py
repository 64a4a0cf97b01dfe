"""References of Spring, Quarkus, and Micronaut to other keys of the same document: ``${app.kafka.acks}``.

A key without a dot is taken for a variable of the environment, which may be anything. A default behind a colon counts
as little: only what the document itself gives the key is known.
"""

from __future__ import annotations

import re
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z][\w-]*(?:\.[\w-]+)+)(?::[^{}]*)?\}")
_OF_FRAMEWORKS: Final = ("spring.", "quarkus.", "micronaut.", "mp.", "kafka.", "camel.", "%")


def has_own_references(text: str) -> bool:
    """Return whether a text refers to keys with dots."""
    return "${" in text and _REFERENCE.search(text) is not None


def with_own_references(document: Node) -> Node:
    """Return a document with the values of its own keys in the place of references to them.

    A value of an application's own that is used so counts where it is used, and is left out where it stands.
    """
    return with_own_values(document) if isinstance(document, Branch) else document


def with_own_values(document: Branch) -> Branch:
    """Return a mapping with the values of its own keys in the place of references to them."""
    leaves = list(flatten(document))
    known = {key: leaf.text for key, leaf in leaves if leaf.text and "${" not in leaf.text and "\n" not in leaf.text}
    named = (match[1] for _, leaf in leaves for match in _REFERENCE.finditer(leaf.text or ""))
    used = {name for name in named if name in known}
    if not used:
        return document
    own = {name for name in used if not name.startswith(_OF_FRAMEWORKS)}
    found = _filled(document, known, own, "")
    return found if isinstance(found, Branch) else document


def _filled(node: Node, known: dict[str, str], own: set[str], path: str) -> Node | None:
    """Return a node with its references filled; None for a value that counts where it is used."""
    if isinstance(node, Row):
        return Row(tuple(one for child in node.nodes if (one := _filled(child, known, own, "")) is not None), node.line)
    if isinstance(node, Branch):
        found = [
            (key, child)
            for key, before in node.entries
            if (child := _filled(before, known, own, f"{path}.{key}" if path else key)) is not None
        ]
        return Branch(tuple(found), node.line)
    if path in own:
        return None
    if node.text is None or "${" not in node.text:
        return node
    return Leaf(_REFERENCE.sub(lambda match: known.get(match[1], match[0]), node.text), node.line, node.file)
