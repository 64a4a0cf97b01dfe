"""Variables of containers that are written down, and references of one to another: ``tx-$(POD_NAME)``.

Kubernetes fills a reference with a variable that stands before it; a field of the pod keeps its path as the text, as
``$(metadata.namespace)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_]\w*)\)")


def pod_variables(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the variables of containers whose values are written down, or are a field of the pod."""
    if isinstance(node, Row):
        for member in node.nodes:
            yield from pod_variables(member)
    if not isinstance(node, Branch):
        return
    for member in node.items("env"):
        name, text = (member.text("name"), member.text("value")) if isinstance(member, Branch) else (None, None)
        field = member.text("valueFrom", "fieldRef", "fieldPath") if isinstance(member, Branch) else None
        if name and text and "$" not in text:
            yield name, text
        elif name and field:
            yield name, f"$({field})"
    for key, child in node.entries:
        if key != "env" and not isinstance(child, Leaf):
            yield from pod_variables(child)


def expanded(pairs: Iterable[tuple[str, Leaf]]) -> list[tuple[str, Leaf]]:
    """Return variables with earlier ones in the place of references to them; others stay as they are.

    >>> [leaf.text for _, leaf in expanded([("A", Leaf("a", 1)), ("B", Leaf("$(A)-$(C)", 2))])]
    ['a', 'a-$(C)']
    """
    known: dict[str, str] = {}
    found: list[tuple[str, Leaf]] = []
    for name, leaf in pairs:
        if leaf.text is not None and "$(" in leaf.text:
            leaf = replace(leaf, text=_REFERENCE.sub(lambda match: known.get(match[1], match[0]), leaf.text))
        if leaf.text is not None:
            known[name] = leaf.text
        found.append((name, leaf))
    return found
