"""Variables in files of Compose: ``${NAME}``, ``${NAME:-default}``, and ``$NAME``, from the ``.env`` file next to them.

Compose itself reads the environment first. What stands there is not known, so files and defaults decide. A value that
is a variable as a whole has the variable's line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.documents import parse_documents
from eosctl.settings.file_texts import read_text
from eosctl.settings.tree import Branch, Leaf, Node, Row, flatten

_FILE: Final = ".env"
_VARIABLE: Final = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::?-(?P<default>[^${}]*))?\}|(?P<plain>[A-Za-z_]\w*))")


def interpolated(document: Node, file: str) -> Node:
    """Return a file of Compose with the values that are known in the place of its variables; others as they are.

    Args:
        document: Any document; only one with services is changed.
        file: The path of the file.
    """
    if not isinstance(document, Branch) or document.branch("services") is None:
        return document
    return _filled(document, _variables_next_to(file))


def _variables_next_to(file: str) -> Mapping[str, Leaf]:
    """Return the variables of the ``.env`` file, each with its place."""
    path = Path(file).parent / _FILE
    try:
        documents = parse_documents(str(path), read_text(path)) if path.is_file() else ()
    except ConfigFileError:
        return {}  # reported where the file itself is read
    return {key: Leaf(leaf.text, leaf.line, str(path)) for document in documents for key, leaf in flatten(document)}


def _filled(node: Node, variables: Mapping[str, Leaf]) -> Node:
    if isinstance(node, Branch):
        return Branch(tuple((key, _filled(child, variables)) for key, child in node.entries), node.line)
    if isinstance(node, Row):
        return Row(tuple(_filled(child, variables) for child in node.nodes), node.line)
    if node.text is None or "$" not in node.text:
        return node

    whole = _VARIABLE.fullmatch(node.text)
    if whole is not None and (leaf := variables.get(whole["name"] or whole["plain"] or "")) and leaf.text:
        return leaf

    def known(match: re.Match[str]) -> str:
        found = variables.get(match["name"] or match["plain"] or "")
        return (match["default"] if found is None else found.text) or match[0]

    return Leaf(_VARIABLE.sub(known, node.text), node.line)
