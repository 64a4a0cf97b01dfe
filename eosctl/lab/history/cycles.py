"""Dependency cycles among transactions: strongly connected components, and the shortest cycle of each.

Kafka's guarantees are weaker than serializability, so not every cycle is an anomaly:

- G0 (only ww): transactions write between each other's records, in different orders in two partitions. Allowed.
- G-single (one rw): a transaction reads one partition before and another after a commit. A commit becomes visible
  partition by partition, so this is allowed.
- G1c (only wr): transactions read each other's values. A value is visible only after its commit, and a committed
  transaction reads no more, so this is an anomaly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.dependencies import Graph, Witness, collect_dependencies
from eosctl.lab.history.events import History

#: Maximum number of rw dependencies to follow per component: limits the work, and one cycle is sufficient.
_TRIES = 20


class CycleCounts(NamedTuple):
    """The number of components with a cycle of each kind."""

    g0_count: int
    g1c_count: int
    g_single_count: int


def check_cycles(history: History) -> Iterator[Anomaly]:
    """Yield the shortest cycle of each component of transactions that read each other's values (G1c)."""
    graph = collect_dependencies(history).reads
    for component in components(graph):
        circle = shortest_circle(graph, component)
        steps = zip(circle, [*circle[1:], circle[0]], strict=True)
        witness = [event for source, target in steps for event in graph[source][target]]
        yield Anomaly(
            Kind.DEPENDENCY_CYCLE,
            " reads from ".join([*reversed(circle), circle[-1]]),
            in_order(*dict.fromkeys(witness)),
        )


def count_cycles(history: History) -> CycleCounts:
    """Count the components with cycles of each kind."""
    overwrites, reads, misses = collect_dependencies(history)
    known = merged((overwrites, reads))
    singles = sum(_has_single(known, misses, frozenset(component)) for component in components(merged((known, misses))))
    return CycleCounts(len(components(overwrites)), len(components(reads)), singles)


def _has_single(known: Graph, misses: Graph, component: Collection[str]) -> bool:
    edges = [(a, b) for a in component for b in misses.get(a, ()) if b in component]
    return any(_path(known, target, source, component) for source, target in sorted(edges)[:_TRIES])


def merged(graphs: Iterable[Graph]) -> Graph:
    """Merge the dependencies of several graphs."""
    whole: dict[str, dict[str, Witness]] = {}
    for graph in graphs:
        for source, targets in graph.items():
            whole.setdefault(source, {}).update(targets)
    return whole


def components(graph: Mapping[str, Mapping[str, object]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node (Tarjan's algorithm, without recursion)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: dict[str, None] = {}
    found: list[list[str]] = []
    for root in graph:
        if root in numbers:
            continue
        numbers[root] = lowest[root] = len(numbers)
        open_nodes[root] = None
        path = [(root, iter(graph[root]))]
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in numbers:
                    numbers[target] = lowest[target] = len(numbers)
                    open_nodes[target] = None
                    path.append((target, iter(graph.get(target, ()))))
                    break
                if target in open_nodes:
                    lowest[node] = min(lowest[node], numbers[target])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == numbers[node]:
                    component = [open_nodes.popitem()[0]]
                    while component[-1] != node:
                        component.append(open_nodes.popitem()[0])
                    if len(component) > 1:
                        found.append(component)
    return found


def shortest_circle(graph: Mapping[str, Mapping[str, object]], component: Collection[str]) -> list[str]:
    """Return a shortest cycle within a component, in dependency order."""
    circle = _circle(graph, next(iter(component)), component)
    while True:
        within = frozenset(circle)
        shorter = min((_circle(graph, node, within) for node in circle), key=len)
        if len(shorter) == len(circle):
            return circle
        circle = shorter


def _circle(graph: Mapping[str, Mapping[str, object]], node: str, within: Collection[str]) -> list[str]:
    allowed = frozenset(within)
    paths = [_path(graph, target, node, allowed) for target in graph.get(node, ()) if target in allowed]
    found = [path for path in paths if path]
    return [node, *min(found, key=len)[:-1]] if found else list(within)


def _path(graph: Mapping[str, Mapping[str, object]], start: str, end: str, within: Collection[str]) -> list[str]:
    """Return a shortest path including both ends; empty without one."""
    came_from: dict[str, str | None] = {start: None}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        if node == end:
            path = [node]
            while (before := came_from[path[-1]]) is not None:
                path.append(before)
            return path[::-1]
        for target in graph.get(node, ()):
            if target in within and target not in came_from:
                came_from[target] = node
                waiting.append(target)
    return []
