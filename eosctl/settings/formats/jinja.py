"""Expressions of Jinja in templates, as far as variables that are written down give their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

# An opening that no end follows is given up at the next one: a line of openings is searched once.
_EXPRESSION: Final = re.compile(r"\{\{-?((?:(?!\{\{|\}\}).)*)\}\}")
_VARIABLE: Final = re.compile(
    r"^(?P<path>[A-Za-z_]\w*(?:\.\w+|\[['\"][^'\"\]]+['\"]\]|\[\d+\])*)(?P<filters>(?:\s*\|.*)?)$"
)
_STEP: Final = re.compile(r"\w+|\[['\"]([^'\"\]]+)['\"]\]")
_FILTER: Final = re.compile(r"\|\s*(\w+)\s*(?:\(\s*(?:'([^']*)'|\"([^\"]*)\"|([\w.-]*))\s*(?:,[^()]*)?\))?\s*")
_UNCHANGED: Final = frozenset({"int", "string", "trim", "quote", "bool", "mandatory", "float", "default", "d"})
_MAX_DEPTH: Final = 8


def fill(text: str, variables: Mapping[str, Node], depth: int = 0) -> str:
    """Return a text with the values of variables in the place of expressions; what is not known stays as it is.

    >>> fill("a={{ x.y | default('3') }} {{ z | lower }} {{ lookup('env', 'A') }}", {"z": Leaf("B", 1)})
    "a=3 b {{ lookup('env', 'A') }}"
    """
    if "{{" not in text or depth > _MAX_DEPTH:
        return text

    def filled(match: re.Match[str]) -> str:
        value = evaluate(match[1].strip().removesuffix("-").rstrip(), variables)
        return match[0] if value is None or "\n" in value else fill(value, variables, depth + 1)

    return _EXPRESSION.sub(filled, text)


def evaluate(expression: str, variables: Mapping[str, Node]) -> str | None:
    """Return the text of a variable behind its filters; None where it is not known."""
    found = _VARIABLE.match(expression)
    if found is None:
        return None
    node = _named(found["path"], variables)
    text = node.text if isinstance(node, Leaf) else None
    rest = found["filters"].strip()
    while rest:
        step = _FILTER.match(rest)
        if step is None:
            return None
        name, argument = step[1], next((one for one in step.groups()[1:] if one is not None), None)
        if name in ("default", "d") and node is None:
            text, node = argument, Leaf(argument, 0)
        elif name == "join" and isinstance(node, Row):
            text = _joined(node, argument or "")
        elif name in ("lower", "upper") and text is not None:
            text = text.lower() if name == "lower" else text.upper()
        elif name not in _UNCHANGED:
            return None
        rest = rest[step.end() :]
    return text


def _joined(row: Row, separator: str) -> str | None:
    texts = [child.text for child in row.nodes if isinstance(child, Leaf) and child.text is not None]
    return separator.join(texts) if len(texts) == len(row.nodes) else None


def _named(path: str, variables: Mapping[str, Node]) -> Node | None:
    steps = [match[1] or match[0] for match in _STEP.finditer(path)]
    node = variables.get(steps[0])
    for step in steps[1:]:
        if isinstance(node, Row) and step.isdecimal() and int(step) < len(node.nodes):
            node = node.nodes[int(step)]
        else:
            node = node.get(step) if isinstance(node, Branch) else None
    return node
