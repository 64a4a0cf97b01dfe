"""Configuration files as trees whose leaves know their lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec
from msgspec.structs import replace


class ParseError(Exception):
    """A text is malformed; each format has a subclass.

    Attributes:
        line: Where.
        reason: What is wrong there.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


class Leaf(msgspec.Struct, frozen=True):
    """A scalar: its text (None for null), its line, which counts from 1, and its file where another one brought it.

    ``written`` is the end of its path in the file, where the tree has it under other keys: ``send.acks``. ``words`` are
    pairs of a word of Kafka's and the word that the file has for it, where these differ.
    """

    text: str | None
    line: int
    file: str = ""
    written: str = ""
    words: tuple[tuple[str, str], ...] = ()


class Branch(msgspec.Struct, frozen=True, dict=True):
    """A mapping, in the file's order; of equal keys the last one counts."""

    entries: tuple[tuple[str, Node], ...]
    line: int

    @cached_property
    def by_key(self) -> Mapping[str, Node]:
        """The last node of each key: readers of many kinds search a mapping for keys of their own."""
        return dict(self.entries)

    @cached_property
    def is_plain(self) -> bool:
        """Whether it holds scalars alone, and is not a resource of Kubernetes: no reader of structures finds any."""
        return "kind" not in self.by_key and all(isinstance(child, Leaf) for _, child in self.entries)

    def get(self, *path: str) -> Node | None:
        """Return what stands under a path of keys."""
        found: Node | None = self
        for key in path:
            if not isinstance(found, Branch):
                return None
            found = found.by_key.get(key)
        return found

    def branch(self, *path: str) -> Branch | None:
        """Return a mapping under a path."""
        found = self.by_key.get(path[0]) if len(path) == 1 else self.get(*path)
        return found if isinstance(found, Branch) else None

    def text(self, *path: str) -> str | None:
        """Return a scalar's text under a path."""
        found = self.by_key.get(path[0]) if len(path) == 1 else self.get(*path)
        return found.text if isinstance(found, Leaf) else None

    def items(self, *path: str) -> tuple[Node, ...]:
        """Return a sequence's members under a path; none where there is no sequence."""
        found = self.get(*path)
        return found.nodes if isinstance(found, Row) else ()


class Row(msgspec.Struct, frozen=True):
    """A sequence."""

    nodes: tuple[Node, ...]
    line: int


Node = Leaf | Branch | Row


def moved(node: Node, lines: int) -> Node:
    """Return a tree whose text begins some lines further down in its file."""
    if isinstance(node, Branch):
        return replace(
            node, entries=tuple((key, moved(child, lines)) for key, child in node.entries), line=node.line + lines
        )
    if isinstance(node, Row):
        return Row(tuple(moved(child, lines) for child in node.nodes), node.line + lines)
    return replace(node, line=node.line + lines)


def flatten(node: Node, prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield every scalar with its dotted path; members of a sequence are joined with commas, as Kafka writes lists."""
    found: list[tuple[str, Leaf]] = []
    _flatten(node, prefix, found)
    return iter(found)


def _flatten(node: Node, prefix: str, found: list[tuple[str, Leaf]]) -> None:
    if isinstance(node, Leaf):
        found.append((prefix, node))
    elif isinstance(node, Branch):
        for key, child in node.entries:
            path = f"{prefix}.{key}" if prefix else key
            if isinstance(child, Leaf):
                found.append((path, child))
            else:
                _flatten(child, path, found)
    else:
        texts = [child.text for child in node.nodes if isinstance(child, Leaf) and child.text is not None]
        if len(texts) == len(node.nodes):
            first = node.nodes[0] if node.nodes and isinstance(node.nodes[0], Leaf) else Leaf(None, node.line)
            found.append((prefix, Leaf(",".join(texts), first.line, first.file)))
        else:
            for index, child in enumerate(node.nodes):
                _flatten(child, f"{prefix}[{index}]", found)
