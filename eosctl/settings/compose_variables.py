"""Variables in files of Compose: ``${NAME}``, ``${NAME:-default}``, and ``$NAME``, from the ``.env`` file next to them.

Compose itself reads the environment first. What stands there is not known, so files and defaults decide. Variables
that are settings of Kafka are judged where they stand, in ``.env``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.documents import parse_documents
from eosctl.settings.file_texts import read_text
from eosctl.settings.structures import find_sources
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


def _variables_next_to(file: str) -> Mapping[str, str | None]:
    """Return the variables of the ``.env`` file; None for those that are judged there."""
    path = Path(file).parent / _FILE
    try:
        documents = parse_documents(str(path), read_text(path)) if path.is_file() else ()
    except ConfigFileError:
        return {}  # reported where the file itself is read
    own = (source for document in documents for source in find_sources(document, str(path)) or ())
    judged = {value.key for source in own for value in source.values.values()}
    found = {key: leaf.text or "" for document in documents for key, leaf in flatten(document)}
    return {key: None if key in judged else text for key, text in found.items()}


def _filled(node: Node, variables: Mapping[str, str | None]) -> Node:
    if isinstance(node, Branch):
        return Branch(tuple((key, _filled(child, variables)) for key, child in node.entries), node.line)
    if isinstance(node, Row):
        return Row(tuple(_filled(child, variables) for child in node.nodes), node.line)
    if node.text is None or "$" not in node.text:
        return node

    def known(match: re.Match[str]) -> str:
        found = variables.get(match["name"] or match["plain"] or "", match["default"])
        return found or match[0]

    return Leaf(_VARIABLE.sub(known, node.text), node.line)
