"""Variables in files of Compose: ``${NAME}``, ``${NAME:-default}``, and ``$NAME``, from the ``.env`` file next to them.

What ``env_file`` names is the environment of a service, below its own variables.

Compose itself reads the environment first. What stands there is not known, so files and defaults decide. A value that
is a variable as a whole has the variable's line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten

_FILE: Final = ".env"
_VARIABLE: Final = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::?-(?P<default>[^${}]*))?\}|(?P<plain>[A-Za-z_]\w*))")

_STARTED: Final = frozenset({"image", "build"})
_OWN: Final = frozenset({"environment", "env_file", "ports", "links", "depends_on", "container_name", "restart"})
"""What a service of Compose has, one key of the first and some of the second."""
_OTHERS: Final = frozenset(
    {
        *("script", "stage", "stages", "steps", "services"),  # jobs of pipelines
        *("resources", "replicaCount", "service", "ingress", "enabled"),  # parts of charts
    }
)


def with_services(document: Node) -> Node:
    """Return a file of Compose's first version, with its services at the top, as one of today; others as they are."""
    if not isinstance(document, Branch) or not document.entries:
        return document
    services = [node for _, node in document.entries if isinstance(node, Branch)]
    named = [{key for key, node in one.entries if key != "image" or isinstance(node, Leaf)} for one in services]
    are_services = len(named) == len(document.entries) and all(
        not _STARTED.isdisjoint(keys) and _OTHERS.isdisjoint(keys) for keys in named
    )
    is_compose = are_services and any(not _OWN.isdisjoint(keys) for keys in named)
    return Branch((("services", document),), document.line) if is_compose else document


def interpolated(document: Node, file: str) -> Node:
    """Return a file of Compose with the values that are known in the place of its variables; others as they are.

    Args:
        document: Any document; only one with services is changed.
        file: The path of the file.
    """
    if not isinstance(document, Branch) or document.branch("services") is None:
        return document
    return _filled(document, _variables_of(Path(file).parent / _FILE))


def with_env_files(document: Node, file: str) -> Node:
    """Return a file of Compose with the variables of ``env_file`` in the environment of its services.

    A service with one such file and no variables of its own stays as it is: the file alone has its settings.
    """
    services = document.branch("services") if isinstance(document, Branch) else None
    if not isinstance(document, Branch) or services is None:
        return document
    filled = ((name, _with_env_files(node, file)) for name, node in services.entries)
    entries = ((key, Branch(tuple(filled), node.line) if node is services else node) for key, node in document.entries)
    return Branch(tuple(entries), document.line)


def _with_env_files(service: Node, file: str) -> Node:
    if not isinstance(service, Branch):
        return service
    named, own = _members(service.get("env_file")), service.get("environment")
    paths = [one.text if isinstance(one, Leaf) else one.text("path") for one in named if not isinstance(one, Row)]
    given = [_variables_of(Path(file).parent / path) for path in paths if path]
    if not any(given) or (len(given) == 1 and own is None):
        return service
    merged: dict[str, Node] = {key: leaf for one in given for key, leaf in one.items()}
    merged |= dict(own.entries) if isinstance(own, Branch) else dict(_pairs(_members(own)))
    kept = ((key, node) for key, node in service.entries if key not in ("environment", "env_file"))
    return Branch((*kept, ("environment", Branch(tuple(merged.items()), service.line))), service.line)


def _members(node: Node | None) -> tuple[Node, ...]:
    return node.nodes if isinstance(node, Row) else (node,) if node is not None else ()


def _pairs(nodes: Iterable[Node]) -> Iterator[tuple[str, Leaf]]:
    for node in nodes:
        key, equals, text = (node.text or "").partition("=") if isinstance(node, Leaf) else ("", "", "")
        if equals and isinstance(node, Leaf):
            yield key, Leaf(text, node.line, node.file)


def _variables_of(path: Path) -> Mapping[str, Leaf]:
    """Return the variables of a file, each with its place; none without the file."""
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
