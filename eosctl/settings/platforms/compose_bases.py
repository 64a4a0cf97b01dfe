"""Services of Compose that extend another one, in their own file or in a file next to it.

Source: the Compose specification. Variables of the service lie over those of its base, and so do its other keys.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.workloads import service_name

_EXTENDS: Final = "extends"
_VARIABLES: Final = "environment"
_NOT_INHERITED: Final = (_EXTENDS, "depends_on", "container_name", "links", "volumes_from")
_MOST_BASES: Final = 8
"""More services on top of each other than any file has."""


def with_bases(document: Node, file: str) -> Node:
    """Return a file of Compose with what its services have from the services that they extend."""
    services = document.branch("services") if isinstance(document, Branch) else None
    if not isinstance(document, Branch) or services is None:
        return document
    entries = tuple((name, _extended(node, services, file, _MOST_BASES)) for name, node in services.entries)
    whole = ((key, Branch(entries, node.line) if node is services else node) for key, node in document.entries)
    return Branch(tuple(whole), document.line)


def bases_elsewhere(document: Node, file: str) -> frozenset[str]:
    """Return the services of other files that services extend: nothing starts them there."""
    services = document.branch("services") if isinstance(document, Branch) else None
    named = (_base(node) for _, node in services.entries) if services is not None else ()
    return frozenset(service_name(service, _path(other, file)) for other, service in filter(None, named) if other)


def _extended(service: Node, services: Branch, file: str, levels: int) -> Node:
    base = _base(service)
    if base is None or not isinstance(service, Branch) or levels == 0:
        return service
    other, name = base
    path = _path(other, file) if other else file
    around = _services_of(path) if other else services
    above = around.get(name) if around is not None else None
    if around is None or not isinstance(above, Branch):
        return service
    above = _extended(above, around, path, levels - 1)
    return _over(service, _moved_to(above, path) if other else above)


def _base(service: Node) -> tuple[str, str] | None:
    """Return the file, empty for the same one, and the name of the service that a service extends."""
    found = service.get(_EXTENDS) if isinstance(service, Branch) else None
    if isinstance(found, Leaf) and found.text:
        return "", found.text
    name = found.text("service") if isinstance(found, Branch) else None
    return (found.text("file") or "", name) if isinstance(found, Branch) and name else None


def _over(service: Branch, base: Node) -> Branch:
    if not isinstance(base, Branch):
        return service
    inherited = {key: node for key, node in base.entries if key not in _NOT_INHERITED}
    merged = inherited | dict(service.entries)
    variables = [dict(_variables(one.get(_VARIABLES))) for one in (base, service)]
    if any(variables):
        merged[_VARIABLES] = Branch(tuple((variables[0] | variables[1]).items()), service.line)
    return Branch(tuple(merged.items()), service.line)


def _variables(node: Node | None) -> Iterator[tuple[str, Node]]:
    """Yield variables in a mapping, or written as NAME=VALUE."""
    if isinstance(node, Branch):
        yield from node.entries
    elif isinstance(node, Row):
        for leaf in node.nodes:
            if isinstance(leaf, Leaf) and leaf.text and "=" in leaf.text:
                key, _, text = leaf.text.partition("=")
                yield key, replace(leaf, text=text)


def _services_of(path: str) -> Branch | None:
    try:
        documents: Iterable[Node] = parse_documents(path, read_text(Path(path))) if Path(path).is_file() else ()
    except ConfigFileError:
        return None  # reported where the file itself is read
    found = (one.branch("services") for one in documents if isinstance(one, Branch))
    return next((one for one in found if one is not None), None)


def _moved_to(node: Node, file: str) -> Node:
    """Return a tree whose leaves know the file that they stand in."""
    if isinstance(node, Leaf):
        return node if node.file else replace(node, file=file)
    if isinstance(node, Row):
        return Row(tuple(_moved_to(one, file) for one in node.nodes), node.line)
    return Branch(tuple((key, _moved_to(one, file)) for key, one in node.entries), node.line)


def _path(path: str, file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
