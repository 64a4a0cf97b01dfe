"""Functions in templates of CloudFormation: ``Ref``, ``Fn::Sub``, ``Fn::Join``, and those that only AWS can evaluate.

A parameter with a default is that default. What else a function returns is not known: it becomes ``${...}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_USED: Final = re.compile(r'"Ref"|\bRef:|Fn::|!(?:Ref|Sub|GetAtt|Join|If|FindInMap|ImportValue|Select|Split)\b')
_REFERENCE: Final = re.compile(r"^\$\{([\w:.]+)\}$")
_VARIABLE: Final = re.compile(r"\$\{([\w:.]+)\}")
_ESCAPED: Final = "${!"


def uses_functions(text: str) -> bool:
    """Return whether a text has functions of CloudFormation."""
    return ("Ref" in text or "Fn::" in text or "!" in text) and _USED.search(text) is not None


def named_by(node: Node | None) -> str:
    """Return the resource or the parameter that a value refers to as a whole; empty for other values."""
    found = _REFERENCE.match(node.text or "") if isinstance(node, Leaf) else None
    return found[1] if found else ""


def evaluated(document: Node) -> Node:
    """Return a template with the values that are known in the place of its functions."""
    if not isinstance(document, Branch):
        return document
    parameters = document.branch("Parameters")
    return _evaluated(document, {name: leaf for name, leaf in _defaults(parameters).items() if leaf.text})


def _defaults(parameters: Branch | None) -> dict[str, Leaf]:
    entries = parameters.entries if parameters is not None else ()
    return {
        name: default
        for name, node in entries
        if isinstance(node, Branch) and isinstance(default := node.get("Default"), Leaf)
    }


def _evaluated(node: Node, known: Mapping[str, Leaf]) -> Node:
    if isinstance(node, Row):
        return Row(tuple(_evaluated(child, known) for child in node.nodes), node.line)
    if not isinstance(node, Branch):
        return node
    if len(node.entries) == 1:
        name, argument = node.entries[0]
        if name == "Ref" and isinstance(argument, Leaf):
            leaf = known.get(argument.text or "")
            return Leaf(f"${{{argument.text}}}" if leaf is None else leaf.text, argument.line)
        if name.startswith("Fn::"):
            return _function(name, _evaluated(argument, known), known)
    return Branch(tuple((key, _evaluated(child, known)) for key, child in node.entries), node.line)


def _function(name: str, argument: Node, known: Mapping[str, Leaf]) -> Node:
    """Return what a function gives; a choice between mappings stays what it is, as each of them may hold."""
    parts = argument.nodes if isinstance(argument, Row) else (argument,)
    first = parts[0] if parts else argument
    if name == "Fn::Sub" and isinstance(first, Leaf):
        own = parts[1].entries if len(parts) > 1 and isinstance(parts[1], Branch) else ()
        variables = {**known, **{key: leaf for key, leaf in own if isinstance(leaf, Leaf)}}
        return Leaf(_substituted(first.text or "", variables), first.line)
    if name == "Fn::Join" and len(parts) == 2 and isinstance(first, Leaf) and isinstance(parts[1], Row):
        texts = [one.text or "" for one in parts[1].nodes if isinstance(one, Leaf)]
        if len(texts) == len(parts[1].nodes):
            return Leaf((first.text or "").join(texts), argument.line)
    if name == "Fn::If" and any(not isinstance(one, Leaf) for one in parts):
        return Row(tuple(parts[1:]), argument.line)
    texts = [one.text or "" for one in parts if isinstance(one, Leaf)]
    return Leaf(f"${{{name.removeprefix('Fn::')} {'.'.join(texts)}}}", argument.line)


def _substituted(text: str, variables: Mapping[str, Leaf]) -> str:
    def known(match: re.Match[str]) -> str:
        leaf = variables.get(match[1])
        return match[0] if leaf is None or leaf.text is None else leaf.text

    return _VARIABLE.sub(known, text).replace(_ESCAPED, "${")
