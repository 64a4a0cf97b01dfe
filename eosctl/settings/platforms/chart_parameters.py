"""Values that tools give a chart one by one: Argo CD's ``helm.parameters``, and ``set`` of Terraform's helm_release.

They become the mapping that a file of values would hold, so that rules about values and counts apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_VALUES: Final = "values"
_DOT: Final = re.compile(r"(?<!\\)\.")
Pair = tuple[tuple[str, ...], Leaf]


def has_chart_parameters(text: str) -> bool:
    """Return whether a text may give values one by one."""
    return ("helm" in text and "parameters" in text) or "helm_release" in text


def with_chart_parameters(node: Node) -> Node:
    """Return a document with such values as the mapping of values that they make."""
    if isinstance(node, Row):
        return Row(tuple(map(with_chart_parameters, node.nodes)), node.line)
    if not isinstance(node, Branch):
        return node
    return Branch(tuple(_entries(node)), node.line)


def _entries(node: Branch) -> Iterator[tuple[str, Node]]:
    for key, child in node.entries:
        if key == "helm" and isinstance(child, Branch):
            yield key, _with_values(child, "parameters")
        elif key == "helm_release" and isinstance(child, Branch):
            releases = ((name, one) for name, one in child.entries)
            yield (
                key,
                Branch(
                    tuple(
                        (name, _with_values(one, "set") if isinstance(one, Branch) else one) for name, one in releases
                    ),
                    child.line,
                ),
            )
        else:
            yield key, with_chart_parameters(child)


def _with_values(node: Branch, key: str) -> Branch:
    """Return a mapping with what stands under a key, as a list or as blocks, in the place of it."""
    given = [child for name, child in node.entries if name == key]
    members = [one for child in given for one in (child.nodes if isinstance(child, Row) else (child,))]
    pairs = [pair for one in members if (pair := _pair(one)) is not None]
    if not pairs:
        return node
    kept = [(name, child) for name, child in node.entries if name != key]
    return Branch((*kept, (_VALUES, _nested(pairs))), node.line)


def _pair(node: Node) -> Pair | None:
    """Return the path and the value of one; a member of a list (``env[0].name``) has no path of its own."""
    name, value = (node.text("name"), node.get("value")) if isinstance(node, Branch) else (None, None)
    if not name or not isinstance(value, Leaf) or "[" in name:
        return None
    return tuple(part.replace("\\.", ".") for part in _DOT.split(name)), value


def _nested(pairs: Sequence[Pair]) -> Branch:
    groups: dict[str, list[Pair]] = {}
    for path, leaf in pairs:
        groups.setdefault(path[0], []).append((path[1:], leaf))
    return Branch(tuple((key, _value(own)) for key, own in groups.items()), min(leaf.line for _, leaf in pairs))


def _value(pairs: Iterable[Pair]) -> Node:
    """Return what stands under one key; the last value of equal paths counts."""
    given = list(pairs)
    deeper = [pair for pair in given if pair[0]]
    return _nested(deeper) if deeper else given[-1][1]
