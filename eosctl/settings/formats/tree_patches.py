"""Change trees as Kubernetes' tools do: by the operations of a JSON patch (RFC 6902), and by a strategic merge.

What a patch brings keeps the patch's file and line; mappings and sequences have the line of what is around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

# Sequences of a pod's template whose members are merged by a key; all others are replaced.
_KEYS: Final = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
_DIRECTIVE: Final = "$patch"
_LAST: Final = "-"
_MOST_COPIED: Final = 50_000
"""Nodes that the operations of a patch may copy: each copy can double the document."""


def placed(node: Node, file: str, line: int) -> Node:
    """Return a part of a patch with its file at each scalar, and with another line at mappings and sequences."""
    match node:
        case Leaf():
            return replace(node, file=file)
        case Branch(entries):
            return Branch(tuple((key, placed(child, file, line)) for key, child in entries), line)
        case Row(nodes):
            return Row(tuple(placed(child, file, line) for child in nodes), line)


def operated(document: Node, operations: Row, file: str) -> Node:
    """Apply the operations of a JSON patch; one that does not fit the document is left out.

    Args:
        document: What is changed.
        operations: The patch.
        file: The file of the patch.
    """
    left = _MOST_COPIED
    for operation in operations.nodes:
        if not isinstance(operation, Branch):
            continue
        verb, steps, given = operation.text("op"), _steps(operation.text("path")), operation.get("value")
        if verb in ("move", "copy"):
            source = _steps(operation.text("from"))
            given = _at(document, source)
            left -= _size(given, left) if verb == "copy" and given is not None else 0
            if left <= 0:
                continue
            document = _changed(document, source, None) if verb == "move" and given is not None else document
        elif given is not None:
            given = placed(given, file, document.line)
        if verb == "remove":
            document = _changed(document, steps, None)
        elif given is not None and verb in ("add", "move", "copy", "replace"):
            is_there = verb != "replace" or _at(document, steps) is not None
            document = _changed(document, steps, given, inserts=verb != "replace") if is_there else document
    return document


def merged(base: Node, patch: Node, file: str, key: str = "") -> Node:
    """Lay a strategic merge patch over a node.

    Args:
        base: What is changed.
        patch: The part of the patch for it.
        file: The file of the patch.
        key: The key of both.
    """
    if isinstance(base, Branch) and isinstance(patch, Branch) and patch.text(_DIRECTIVE) != "replace":
        entries = dict(base.entries)
        if patch.get("valueFrom") is not None:
            entries.pop("value", None)
        for name, child in patch.entries:
            if isinstance(child, Leaf) and child.text is None:
                entries.pop(name, None)
            elif name in entries:
                entries[name] = merged(entries[name], child, file, name)
            elif name != _DIRECTIVE:
                entries[name] = placed(child, file, base.line)
        return Branch(tuple(entries.items()), base.line)
    if isinstance(base, Row) and isinstance(patch, Row) and key in _KEYS:
        return Row(tuple(_members(base, patch, file, _KEYS[key])), base.line)
    return placed(patch, file, base.line)


def overlaid(base: Node, over: Node, file: str) -> Node:
    """Lay a mapping over another one as Helm does: mappings are joined, and null removes a key.

    Args:
        base: What is below.
        over: What counts where both have a key.
        file: The file of what is above.
    """
    if not isinstance(base, Branch) or not isinstance(over, Branch):
        return placed(over, file, base.line)
    entries = dict(base.entries)
    for key, child in over.entries:
        if isinstance(child, Leaf) and child.text is None:
            entries.pop(key, None)
        else:
            entries[key] = overlaid(entries.get(key, Branch((), base.line)), child, file)
    return Branch(tuple(entries.items()), base.line)


def _members(base: Row, patch: Row, file: str, key: str) -> Iterable[Node]:
    patches = {_name(node, key): node for node in patch.nodes}
    for node in base.nodes:
        change = patches.pop(_name(node, key), None)
        if change is None:
            yield node
        elif not isinstance(change, Branch) or change.text(_DIRECTIVE) != "delete":
            yield merged(node, change, file)
    yield from (placed(node, file, base.line) for node in patches.values())


def _name(node: Node, key: str) -> str | None:
    return node.text(key) if isinstance(node, Branch) else None


def _size(node: Node, limit: int) -> int:
    """Return the number of nodes, counted up to a limit."""
    count, waiting = 0, [node]
    while waiting and count < limit:
        count += 1
        one = waiting.pop()
        if isinstance(one, Branch):
            waiting += (child for _, child in one.entries)
        elif isinstance(one, Row):
            waiting += one.nodes
    return count


def _steps(pointer: str | None) -> tuple[str, ...]:
    """Return the steps of a JSON pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in (pointer or "").split("/")[1:])


def _at(node: Node | None, steps: Sequence[str]) -> Node | None:
    for step in steps:
        if isinstance(node, Row):
            index = int(step) if step.isdecimal() else len(node.nodes)
            node = node.nodes[index] if index < len(node.nodes) else None
        else:
            node = node.get(step) if isinstance(node, Branch) else None
    return node


def _changed(node: Node, steps: Sequence[str], value: Node | None, *, inserts: bool = False) -> Node:
    """Return a node with another value at a path, or without what is there; unchanged where the path leads nowhere."""
    if not steps:
        return node if value is None else value
    step, rest = steps[0], steps[1:]
    if isinstance(node, Branch):
        child = node.get(step)
        if not rest:
            others = tuple(entry for entry in node.entries if entry[0] != step)
            if value is not None and child is not None:
                return Branch(tuple((k, value if k == step else v) for k, v in node.entries), node.line)
            return Branch((*others, (step, value)) if value is not None else others, node.line)
        if child is None:
            return node
        below = _changed(child, rest, value, inserts=inserts)
        return Branch(tuple((k, below if k == step else v) for k, v in node.entries), node.line)
    if isinstance(node, Row) and (step.isdecimal() or step == _LAST):
        index = len(node.nodes) if step == _LAST else int(step)
        before, after = node.nodes[:index], node.nodes[index + 1 :]
        if rest and index < len(node.nodes):
            return Row((*before, _changed(node.nodes[index], rest, value, inserts=inserts), *after), node.line)
        if rest or index > len(node.nodes):
            return node
        if inserts and value is not None:
            return Row((*before, value, *node.nodes[index:]), node.line)
        return Row((*before, *([] if value is None else [value]), *after), node.line)
    return node
