"""Files of the package config of Node.js whose values are names of variables of the environment.

``custom-environment-variables.yml`` has the shape of the configuration; ``acks: PAY_ACKS`` takes the variable's value.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_FILE: Final = "custom-environment-variables."
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")


def names_variables(file: str) -> bool:
    """Return whether the values in a file are names of variables, by the file's own name.

    >>> names_variables("config/custom-environment-variables.yml"), names_variables("config/default.yml")
    (True, False)
    """
    return posixpath.basename(file).startswith(_FILE)


def with_variables_named(node: Node) -> Node:
    """Return a tree with a reference to the variable in the place of each name."""
    if isinstance(node, Branch) and isinstance(name := node.get("__name"), Leaf):
        return _referring(name)  # with "__format", how the text is parsed
    if isinstance(node, Branch):
        return Branch(tuple((key, with_variables_named(child)) for key, child in node.entries), node.line)
    if isinstance(node, Row):
        return Row(tuple(map(with_variables_named, node.nodes)), node.line)
    is_name = node.text is not None and _VARIABLE.fullmatch(node.text) is not None
    return _referring(node) if is_name else node


def _referring(leaf: Leaf) -> Leaf:
    return replace(leaf, text=f"${{{leaf.text}}}")
