"""Bound what the aliases of a YAML document expand to: ten lines of ten aliases each are ten billion values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import yaml

MAX_REPEATED: Final = 100_000
"""More values than any file repeats by aliases."""


def check_aliases(root: Any) -> None:
    """Check a composed document, in time that is linear in its own nodes.

    Raises:
        yaml.MarkedYAMLError: An alias refers to itself, or the aliases repeat too many values.
    """
    sizes: dict[int, int] = {}  # 0 while the node is open.
    waiting = [root]
    while waiting:
        node = waiting[-1]
        parts = tuple(_parts(node))
        if id(node) not in sizes:
            sizes[id(node)] = 0
            waiting += [part for part in parts if id(part) not in sizes]
            continue
        waiting.pop()
        if sizes[id(node)]:
            continue
        inside = [sizes[id(part)] for part in parts]
        if not all(inside):
            raise _refusal("an alias refers to itself", node)
        sizes[id(node)] = 1 + sum(inside)
        if sizes[id(node)] - len(sizes) > MAX_REPEATED:
            raise _refusal(f"aliases repeat more than {MAX_REPEATED} values", node)


def _parts(node: Any) -> Iterable[Any]:
    if isinstance(node, yaml.MappingNode):
        return (part for pair in node.value for part in pair)
    return node.value if isinstance(node, yaml.SequenceNode) else ()


def _refusal(problem: str, node: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
