"""The settings of a file one by one, as edits find them: those in lists, in variables, and in files inside the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import format_of, parse_documents, parse_properties_tree, parse_within
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_ASSIGNED: Final = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)=(?P<value>[^\n]*)")
_VARIABLE: Final = frozenset({"name", "value"})
"""How Kubernetes writes a variable."""
_MOST_LEVELS: Final = 3
"""More files inside each other than any configuration has."""


def leaves_of(file: str, text: str) -> list[tuple[str, Leaf]]:
    """Return every scalar of a file with its whole path; parts of a list are apart, and text inside is read, too.

    Raises:
        ConfigFileError: The text does not follow its format.
    """
    return [pair for document in parse_documents(file, text) for pair in _leaves(document, "", 0)]


def _leaves(node: Node, path: str, level: int) -> Iterator[tuple[str, Leaf]]:
    if isinstance(node, Leaf):
        yield from _of_text(node, path, level)
    elif isinstance(node, Row):
        for member in node.nodes:
            # Without its number: a member may be removed.
            yield from _leaves(member, f"{path}[]", level)
    else:
        if {key for key, _ in node.entries} == _VARIABLE and (name := node.text("name")) and path.endswith("[]"):
            yield from _leaves(node.by_key["value"], f"{path}.{name}", level)
            return
        for key, child in node.entries:
            yield from _leaves(child, f"{path}.{key}" if path else key, level)


def _of_text(leaf: Leaf, path: str, level: int) -> Iterator[tuple[str, Leaf]]:
    """Yield a scalar, or what the file configures that stands in it."""
    text = leaf.text or ""
    if ("\n" in text or text.lstrip().startswith("{")) and level < _MOST_LEVELS:
        inner = list(_of_file(leaf, path, level))
        if inner:
            yield from inner
            return
    if path.endswith("[]") and (found := _ASSIGNED.fullmatch(text)) is not None:
        yield from _of_text(replace(leaf, text=found["value"]), f"{path}.{found['name']}", level)
        return
    yield path, leaf


def _of_file(leaf: Leaf, path: str, level: int) -> Iterator[tuple[str, Leaf]]:
    name = path.rpartition("/")[2].rpartition(" ")[2]
    is_json = (leaf.text or "").lstrip().startswith("{")
    file = name if format_of(name) is not None else "block.json" if is_json else "block.yaml"
    try:
        found = parse_within(file, leaf.text or "", leaf.line)
    except ConfigFileError:
        found = ()
    if not any(isinstance(one, Branch) for one in found):
        if is_json:
            return  # a template
        try:
            found = (parse_properties_tree(file, leaf.text or "", leaf.line),)
        except ConfigFileError:
            return
    for document in found:
        yield from _leaves(document, path, level + 1)
