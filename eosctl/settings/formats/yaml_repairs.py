"""What other programs read as YAML and libyaml refuses: anchors named again, and variables within brackets."""

from __future__ import annotations

import re
from itertools import count
from typing import Any, Final

import yaml

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_VARIABLE: Final = re.compile(r"\$\{([^{}\n]*)\}")
_OPEN, _CLOSE = "\ue000", "\ue001"
_BRACES: Final = str.maketrans({_OPEN: "{", _CLOSE: "}"})


def with_own_anchors(text: str, loader: Any) -> str:
    """Return the text with a name of its own for each anchor; an alias stands for the last anchor before it.

    Raises:
        yaml.YAMLError: The text is malformed otherwise.

    >>> with_own_anchors("a: &x 1\\nb: &x 2\\nc: *x\\n", yaml.SafeLoader)
    'a: &x_0 1\\nb: &x_1 2\\nc: *x_1\\n'
    """
    names: dict[str, str] = {}
    numbers = count()
    parts, position = list[str](), 0
    for token in yaml.scan(text, Loader=loader):
        if not isinstance(token, yaml.AnchorToken | yaml.AliasToken):
            continue
        if isinstance(token, yaml.AnchorToken):
            names[token.value] = f"{token.value}_{next(numbers)}"
        start = text.index(token.value, token.start_mark.index)
        parts += [text[position:start], names.get(token.value, str(token.value))]
        position = start + len(token.value)
    return "".join((*parts, text[position:]))


def without_braces(text: str) -> str:
    """Return the text with other signs for the braces of ``${VARIABLE}``, which begin a mapping within brackets."""
    return _VARIABLE.sub(rf"${_OPEN}\1{_CLOSE}", text)


def with_braces(node: Node) -> Node:
    """Return a tree with the braces of variables again.

    >>> with_braces(Leaf(without_braces("a-${B}"), 1)).text
    'a-${B}'
    """
    if isinstance(node, Leaf):
        return Leaf(node.text.translate(_BRACES), node.line) if node.text else node
    if isinstance(node, Row):
        return Row(tuple(map(with_braces, node.nodes)), node.line)
    return Branch(tuple((key.translate(_BRACES), with_braces(child)) for key, child in node.entries), node.line)
