"""Variables of containers that are written down, and references of one to another: ``tx-$(POD_NAME)``.

Kubernetes fills a reference with a variable that stands before it; a field of the pod keeps its path as the text, as
``$(metadata.namespace)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten

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


def pairs_in(node: Node | None) -> list[tuple[str, Leaf]]:
    """Return the names and values of ``environment`` as Compose writes it, or of ``env`` as Kubernetes does."""
    pairs: list[tuple[str, Leaf]] = []
    if isinstance(node, Branch) and {key for key, _ in node.entries} == {"name", "value"}:
        node = Row((node,), node.line)  # a single block of Terraform
    if isinstance(node, Branch):
        pairs = [(key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf)]
    elif isinstance(node, Row):
        for member in node.nodes:
            if isinstance(member, Leaf) and member.text and "=" in member.text:
                key, _, text = member.text.partition("=")
                pairs.append((key, replace(member, text=text)))
            elif isinstance(member, Branch) and (key := member.text("name") or member.text("Name") or ""):
                value = member.get("value") or member.get("Value")  # CloudFormation has capitals
                if isinstance(value, Leaf):
                    pairs.append((key, value))
                elif source := member.branch("valueFrom") or member.branch("value_from"):
                    pairs.append((key, _from_elsewhere(source, member.line)))
    return pairs


def _from_elsewhere(source: Branch, line: int) -> Leaf:
    """Return the value of a variable that Kubernetes takes from a field, a ConfigMap, or a Secret: it is not known.

    >>> _from_elsewhere(Branch((("fieldRef", Branch((("fieldPath", Leaf("metadata.name", 2)),), 1)),), 1), 1).text
    '$(metadata.name)'
    """
    texts = [leaf.text for key, leaf in flatten(source) if leaf.text and not key.endswith(("apiVersion", "optional"))]
    return Leaf(f"$({'/'.join(texts)})", line)
