"""Templates of OpenShift: resources whose ``${NAME}`` and ``${{NAME}}`` are parameters of the same file.

Source: ``template.openshift.io/v1`` Template. A parameter that is generated, or has no value, stays unknown.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_TEMPLATE: Final = "Template"
_USE: Final = re.compile(r"\$\{(?:\{(?P<typed>\w+)\}|(?P<text>\w+))\}")
_MOST_TEXT: Final = 100_000
"""Characters that the parameters of one value may become."""


def objects_of(document: Node) -> tuple[Node, ...] | None:
    """Return the resources of a template with its parameters filled in; None for another document.

    >>> given = Branch((("name", Leaf("ID", 2)), ("value", Leaf("pay", 2))), 2)
    >>> entries = (("kind", Leaf("Template", 1)), ("parameters", Row((given,), 2)))
    >>> objects_of(Branch((*entries, ("objects", Row((Leaf("${ID}-tx", 4),), 4))), 1))[0].text
    'pay-tx'
    """
    if not isinstance(document, Branch) or document.text("kind") != _TEMPLATE or not document.items("objects"):
        return None
    named = (one for one in document.items("parameters") if isinstance(one, Branch))
    values = {name: text for one in named if (name := one.text("name")) and (text := one.text("value"))}
    return tuple(_filled(one, values) for one in document.items("objects"))


def _filled(node: Node, values: dict[str, str]) -> Node:
    if isinstance(node, Branch):
        return Branch(tuple((key, _filled(child, values)) for key, child in node.entries), node.line)
    if isinstance(node, Row):
        return Row(tuple(_filled(child, values) for child in node.nodes), node.line)
    return _leaf(node, values)


def _leaf(leaf: Leaf, values: dict[str, str]) -> Leaf:
    if leaf.text is None or "${" not in leaf.text:
        return leaf
    text = _USE.sub(lambda match: values.get(match["typed"] or match["text"], match[0]), leaf.text)
    return leaf if len(text) > _MOST_TEXT else replace(leaf, text=text)
