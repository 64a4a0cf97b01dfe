"""Variables and locals of a Terraform module, in the place of references to them.

Known are defaults of variables, literals of ``locals``, and the files that Terraform loads by itself
(``terraform.tfvars``, ``*.auto.tfvars``), and another ``.tfvars`` for a variable without a default. Each of several
that differ is an environment. Where none is chosen, a count is the highest, and any other value stays unknown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.formats.hcl_file import MERGED
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.formats.tree_patches import placed
from eosctl.settings.programs.process_counts import COUNTS

_REFERENCE: Final = re.compile(r"\$\{([a-z_]\w*)\.([\w.-]+?)\}")
_MAX_DEPTH: Final = 8
_MAX_COPIES: Final = 1_000
_MOST_PARTS: Final = 50_000
"""Nodes of a document that are resolved: local values of local values and copies of copies grow exponentially."""
_PART_OF_TEXT: Final = 1_000
"""Characters put into a text that count as a further node."""
_VARIABLE: Final = re.compile(r"\bvar\.(\w+)")
_MOST_ENVIRONMENTS: Final = 6
"""Files of variables that a module is read with, each as an environment of its own."""
_LOADED: Final = re.compile(r"^terraform\.tfvars(?:\.json)?$|\.auto\.tfvars(?:\.json)?$")
_OF_VARIABLES: Final = (".tfvars", ".tfvars.json")
_Names = Mapping[str, Node]


def refers_to_variables(file: str, text: str) -> bool:
    """Return whether a file of Terraform refers to variables or locals of its module."""
    return file.lower().endswith(".tf") and ("var." in text or "local." in text)


def with_variables(document: Node, file: str, environment: str = "") -> Node:
    """Return a document with the values of its module's variables, each at the place of its definition.

    References to variables that are sensitive stay: nothing else shows that their values are secrets.

    Args:
        document: The document.
        file: Its file.
        environment: The file of variables of the one environment that it is read for; empty for all of them.
    """
    if not isinstance(document, Branch):
        return document
    folder = Path(file).parent
    module = _module(folder, tuple(_versions(folder)))
    own = _definitions(document, file)
    names = {**module.names, **{name: node for name, node in own.items() if name not in module.loaded}}
    sensitive = module.sensitive | _sensitive(document)
    own_values = {name: node for one, name, node in module.given if one == environment}
    known = names | (own_values if environment else _undecided(names, module.others))
    return _Filler().fill(document, {name: node for name, node in known.items() if name not in sensitive})


class _Module(NamedTuple):
    """What the files of a module define, and what other environments' files of variables give.

    Attributes:
        names: Variables and locals by their reference.
        loaded: Those of them that a file gives which Terraform loads by itself.
        sensitive: The variables whose values are secrets.
        others: What files that Terraform does not load by itself give variables.
    """

    names: Mapping[str, Node]
    loaded: frozenset[str]
    sensitive: frozenset[str]
    others: Mapping[str, list[Node]]
    given: tuple[tuple[str, str, Node], ...] = ()
    """The same with the file of each, as triples of file, variable, and value."""


def _versions(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files of a module with the time of their last change."""
    for path in (*_files(folder, ".tf"), *_files(folder, _OF_VARIABLES, with_subfolders=True)):
        yield path, path.stat().st_mtime_ns


@lru_cache(maxsize=64)
def _module(folder: Path, versions: tuple[tuple[Path, int], ...]) -> _Module:
    """Return what the files of a module define together: each of its files refers to all of it."""
    names: dict[str, Node] = {}
    loaded, sensitive, declared = set[str](), set[str](), set[str]()
    others: dict[str, list[Node]] = {}
    by_file: list[tuple[str, str, Node]] = []
    for path, changed_ns in versions:
        given = _parsed(path, changed_ns)
        if not isinstance(given, Branch):
            continue
        if path.name.endswith(".tf"):
            names |= _definitions(given, str(path))
            declared |= _declared(given)
            sensitive |= _sensitive(given)
            continue
        for name, node in given.entries:
            own = placed(node, str(path), node.line)
            if path.parent == folder and _LOADED.search(path.name):
                names[f"var.{name}"] = own
                loaded.add(f"var.{name}")
            elif f"var.{name}" in declared:
                others.setdefault(f"var.{name}", []).append(own)
                by_file.append((str(path), f"var.{name}", own))
    return _Module(names, frozenset(loaded), frozenset(sensitive), others, tuple(by_file))


def environments_of(file: str, text: str) -> tuple[str, ...]:
    """Return the files that give a variable which a file refers to another value than others do, each one's own."""
    if not refers_to_variables(file, text):
        return ()
    folder = Path(file).parent
    module = _module(folder, tuple(_versions(folder)))
    used = None if "local." in text else {f"var.{name}" for name in _VARIABLE.findall(text)}
    differing = {
        name
        for name, nodes in module.others.items()
        if (used is None or name in used) and _differ([*nodes, module.names.get(name, nodes[0])])
    }
    found = dict.fromkeys(one for one, name, _ in module.given if name in differing)
    return tuple(found)[:_MOST_ENVIRONMENTS]


def _differ(nodes: Iterable[Node]) -> bool:
    return len({tuple((key, leaf.text) for key, leaf in flatten(node)) for node in nodes}) > 1


def _undecided(names: _Names, others: Mapping[str, Iterable[Node]]) -> dict[str, Node]:
    """Return what stands for variables that several environments set: the highest number, marked as one for counts."""
    found: dict[str, Node] = {}
    for name, nodes in others.items():
        if name not in names and not _differ(only := list(nodes)):
            found[name] = only[0]  # without a default, one of the files is meant to be given
            continue
        own = (names[name],) if name in names else ()
        given = [node for node in (*own, *nodes) if isinstance(node, Leaf)]
        if len({node.text for node in given}) == 1 and len(given) > len(list(nodes)):
            continue
        numbers = [node for node in given if (node.text or "").isdecimal()]
        highest = max(numbers, key=lambda node: int(node.text or "0"), default=None)
        unknown = Leaf(f"${{{name}}}", 1)
        found[name] = Branch((("count", highest),), 1) if highest is not None else unknown
        found[f"?{name}"] = unknown
    return found


def _definitions(document: Branch, file: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for key, block in document.entries:
        if not isinstance(block, Branch):
            continue
        if key == "variable":
            for name, body in block.entries:
                default = body.get("default") if isinstance(body, Branch) else None
                if default is not None:
                    found[f"var.{name}"] = placed(default, file, default.line)
        elif key == "locals":
            found |= {f"local.{name}": placed(node, file, node.line) for name, node in block.entries}
    return found


def _declared(document: Branch) -> set[str]:
    """Return the variables that a file declares."""
    blocks = (block for key, block in document.entries if key == "variable" and isinstance(block, Branch))
    return {f"var.{name}" for block in blocks for name, _ in block.entries}


def _sensitive(document: Branch) -> set[str]:
    """Return the variables that a file marks as sensitive."""
    return {
        f"var.{name}"
        for key, block in document.entries
        if key == "variable" and isinstance(block, Branch)
        for name, body in block.entries
        if isinstance(body, Branch) and body.text("sensitive") == "true"
    }


class _Filler:
    """Puts values in the place of references; what would grow beyond all measure stays as it is written."""

    def __init__(self) -> None:
        self._left = _MOST_PARTS

    def fill(self, node: Node, names: _Names, depth: int = 0, key: str = "") -> Node:
        """Return a node with its references, blocks, and copies resolved."""
        self._left -= 1
        if depth > 4 * _MAX_DEPTH or self._left < 0:
            return node
        if isinstance(node, Leaf):
            return self._leaf(node, names, depth, key)
        if isinstance(node, Row):
            return Row(tuple(self.fill(child, names, depth, key) for child in node.nodes), node.line)
        entries: list[tuple[str, Node]] = []
        for name, child in node.entries:
            if name == "dynamic" and isinstance(child, Branch):
                entries += self._dynamic(child, names, depth)
            elif isinstance(child, Branch) and child.get("for_each") is not None:
                entries += self._copies(name, child, names, depth)
            elif not name.startswith(MERGED):
                entries.append((name, self.fill(child, names, depth, name)))
            elif isinstance(whole := self.fill(child, names, depth + 1), Branch):
                entries = [*(entry for entry in entries if entry[0] not in dict(whole.entries)), *whole.entries]
        if any(name.startswith(MERGED) for name, _ in node.entries):
            entries = list(dict(entries).items())  # of equal keys the last one counts
        return Branch(tuple(entries), node.line)

    def _dynamic(self, blocks: Branch, names: _Names, depth: int) -> Iterator[tuple[str, Node]]:
        """Yield the blocks that a dynamic one stands for: its label names the key and the value of each member."""
        for label, body in blocks.entries:
            content = body.branch("content") if isinstance(body, Branch) else None
            if not isinstance(body, Branch) or content is None:
                continue
            for key, value in self._each(body, names, depth):
                inner = {**names, f"{label}.key": Leaf(key, body.line), f"{label}.value": value}
                yield label, self.fill(content, inner, depth + 1, label)

    def _copies(self, name: str, block: Branch, names: _Names, depth: int) -> Iterator[tuple[str, Node]]:
        """Yield a block once for each member of its ``for_each``, where that is written down."""
        own = Branch(tuple(entry for entry in block.entries if entry[0] != "for_each"), block.line)
        members = self._each(block, names, depth)
        if not members:
            yield name, self.fill(own, names, depth, name)
        for key, value in members:
            inner = {**names, "each.key": Leaf(key, block.line), "each.value": value}
            yield f'{name}["{key}"]', self.fill(own, inner, depth + 1, name)

    def _each(self, block: Branch, names: _Names, depth: int) -> list[tuple[str, Node]]:
        """Return the keys and values of ``for_each``; nothing where they are not written down, or are very many."""
        each = self.fill(block.get("for_each") or Branch((), block.line), names, depth + 1)
        if isinstance(each, Branch):
            members = list(each.entries)
        else:
            leaves = each.nodes if isinstance(each, Row) else ()
            members = [(leaf.text or "", leaf) for leaf in leaves if isinstance(leaf, Leaf)]
        return members if len(members) <= min(_MAX_COPIES, max(self._left, 0)) else []

    def _leaf(self, leaf: Leaf, names: _Names, depth: int, key: str) -> Node:
        if leaf.text is None or "${" not in leaf.text or depth > _MAX_DEPTH:
            return leaf
        whole = _REFERENCE.fullmatch(leaf.text)
        if whole is not None:
            found = _named(f"{whole[1]}.{whole[2]}", names, key)
            return leaf if found is None else self.fill(found, names, depth + 1, key)

        def text(match: re.Match[str]) -> str:
            found = _named(f"{match[1]}.{match[2]}", names, key)
            value = found if found is None else self.fill(found, names, depth + 1, key)
            if not isinstance(value, Leaf) or value.text is None or self._left < 0:
                return match[0]
            self._left -= len(value.text) // _PART_OF_TEXT
            return value.text

        return replace(leaf, text=_REFERENCE.sub(text, leaf.text))


def _named(path: str, names: _Names, key: str) -> Node | None:
    """Return what a reference names: a variable, or a part of one."""
    parts = path.split(".")
    head = ".".join(parts[:2])
    if f"?{head}" in names:
        count = names[head]
        return count.get("count") if isinstance(count, Branch) and key in COUNTS else None
    node = names.get(head)
    for step in parts[2:]:
        node = node.get(step) if isinstance(node, Branch) else None
    return node


def _files(folder: Path, ending: str | tuple[str, ...], *, with_subfolders: bool = False) -> list[Path]:
    """Return the files of a folder, and of the folders in it, by the end of their names."""
    try:
        files, folders = _listed(folder, folder.stat().st_mtime_ns)
    except OSError:
        return []  # a folder that is closed has none to read
    below = (path for one in folders for path in _files(one, ending)) if with_subfolders else ()
    return sorted([*(path for path in files if path.name.endswith(ending)), *below])


@lru_cache(maxsize=64)
def _listed(folder: Path, changed_ns: int) -> tuple[list[Path], list[Path]]:
    """Return the files of Terraform in a folder, and the folders in it: each file of a module asks for them."""
    del changed_ns  # a folder with another file in it is another one
    with os.scandir(folder) as entries:
        found = [(one.name.endswith((".tf", *_OF_VARIABLES)), one) for one in entries]
        files = [Path(one.path) for is_file, one in found if is_file]
        return files, [Path(one.path) for is_file, one in found if not is_file and one.is_dir()]


@lru_cache(maxsize=256)
def _parsed(path: Path, changed_ns: int) -> Node | None:
    """Return a file of a module, which many others refer to."""
    del changed_ns  # a file that was written again is another one
    try:
        documents = parse_documents(str(path), read_text(path))
    except ConfigFileError:
        return None  # reported where the file itself is read
    return documents[0] if documents else None
