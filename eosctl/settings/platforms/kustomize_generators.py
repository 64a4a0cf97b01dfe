"""ConfigMaps that an overlay's generator merges into those of its base: ``behavior: merge``.

Source: kustomize's ``GeneratorArgs``. Literals of the overlay lie over the base's literals and its files of variables.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_GENERATORS: Final = ("configMapGenerator", "secretGenerator")
_USED: Final = ("resources", "bases", "components")
_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LITERALS: Final = "literals"
_MERGE: Final = "merge"


def merges_generated(text: str) -> bool:
    """Return whether a text may have a generator that merges into one of a base."""
    return "behavior:" in text and "Generator:" in text


def with_generated(document: Node, file: str) -> Node:
    """Return a kustomization whose generators that merge have the literals of their bases, too."""
    if not isinstance(document, Branch):
        return document
    entries = tuple(
        (key, Row(tuple(_merged(member, key, document, file) for member in node.nodes), node.line))
        if key in _GENERATORS and isinstance(node, Row)
        else (key, node)
        for key, node in document.entries
    )
    return Branch(entries, document.line)


def _merged(member: Node, key: str, document: Branch, file: str) -> Node:
    """Return a generator with the literals of those below it; its own keep their places."""
    if not isinstance(member, Branch) or member.text("behavior") != _MERGE:
        return member
    below = dict(_below(member.text("name"), key, document, file, {posixpath.normpath(file)}))
    own = dict(_literals(member, ""))
    if not below:
        return member
    row = Row(tuple((below | own).values()), member.line)
    kept = tuple(entry for entry in member.entries if entry[0] != _LITERALS)
    return Branch((*kept, (_LITERALS, row)), member.line)


def _below(name: str | None, key: str, document: Branch, file: str, seen: set[str]) -> Iterator[tuple[str, Leaf]]:
    """Yield the literals of the generator of this name in the kustomizations that one uses, each read once."""
    for named in (node for used in _USED for node in document.items(used)):
        folder = _path(named.text or "", file) if isinstance(named, Leaf) else ""
        path = next((one for one in (posixpath.join(folder, base) for base in _NAMES) if Path(one).is_file()), "")
        documents = () if path in seen else _documents(path)
        seen.add(path)
        for base in documents:
            if not isinstance(base, Branch):
                continue
            yield from _below(name, key, base, path, seen)
            for member in base.items(key):
                if isinstance(member, Branch) and member.text("name") == name:
                    yield from _literals(member, path)


def _literals(member: Branch, file: str) -> Iterator[tuple[str, Leaf]]:
    """Yield a generator's literals and the lines of its files of variables, each with its place."""
    for node in member.items(_LITERALS):
        if isinstance(node, Leaf) and node.text and "=" in node.text:
            yield node.text.partition("=")[0], replace(node, file=file or node.file)
    for node in member.items("envs") if file else ():
        path = _path(node.text or "", file) if isinstance(node, Leaf) else ""
        for document in _documents(path):
            for key, leaf in document.entries if isinstance(document, Branch) else ():
                if isinstance(leaf, Leaf):
                    yield key, Leaf(f"{key}={leaf.text or ''}", leaf.line, path)


def _documents(path: str) -> tuple[Node, ...]:
    try:
        return parse_documents(path, read_text(Path(path))) if path and Path(path).is_file() else ()
    except ConfigFileError:
        return ()  # reported where the file itself is read


def _path(path: str, file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
