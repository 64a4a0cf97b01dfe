"""Files that stand in variables of containers: ``FLINK_PROPERTIES``, and any other variable of several lines.

The start script of an image writes the value into the configuration file of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.nomad_jobs import TextOfFile

_VARIABLES: Final = ("env", "environment", "extraEnv", "extraEnvVars")
_IS_A_FILE: Final = {"FLINK_PROPERTIES": "flink-conf.yaml"}
"""Variables that are a file also with a single line, and what the file is called (docker-entrypoint.sh of Flink)."""


def file_in_variable(name: str, leaf: Leaf) -> TextOfFile | None:
    """Return the file that a variable holds; None for one that holds a value."""
    text = leaf.text or ""
    known = _IS_A_FILE.get(name, "")
    if not known and "\n" not in text.strip():
        return None
    return TextOfFile(_ended(leaf), known)


def _ended(leaf: Leaf) -> Leaf:
    """Return a text with an end of line: without one, it may be a value as well."""
    return leaf if "\n" in (leaf.text or "") else replace(leaf, text=f"{leaf.text}\n")


def files_in_variables(node: Node) -> Iterator[TextOfFile]:
    """Yield the files in variables of a document: in mappings, in lists of ``NAME=value``, and in Kubernetes' form."""
    if isinstance(node, Row):
        for child in node.nodes:
            yield from files_in_variables(child)
    elif isinstance(node, Branch):
        for key, child in node.entries:
            if key in _VARIABLES and not isinstance(child, Leaf):
                found = (file_in_variable(name, leaf) for name, leaf in _variables(child))
                yield from (one for one in found if one is not None)
            elif isinstance(child, Leaf) and key in _IS_A_FILE:
                yield TextOfFile(_ended(child), _IS_A_FILE[key])  # a file of variables, or the description of an image
            else:
                yield from files_in_variables(child)


def _variables(node: Node) -> Iterator[tuple[str, Leaf]]:
    if isinstance(node, Branch):
        name, value = node.text("name"), node.get("value")
        if name is not None and isinstance(value, Leaf):
            yield name, value
            return
        yield from ((key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf))
    elif isinstance(node, Row):
        for child in node.nodes:
            if isinstance(child, Branch):
                yield from _variables(child)
            elif isinstance(child, Leaf) and "=" in (child.text or ""):
                name, _, text = (child.text or "").partition("=")
                yield name, replace(child, text=text)
