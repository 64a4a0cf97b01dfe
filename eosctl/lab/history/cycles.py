"""Circles of dependencies among transactions: strongly connected components, and the shortest circle of each.

Kafka promises less than a serialisable database, so not every circle is a fault of it:

- G0 (of ww alone): transactions write between each other's records, in another order in another partition. Allowed.
- G-single (one rw): a transaction read one partition before and another after somebody's commit. Partitions show a
  commit one after the other, so this is allowed too.
- G1c (of wr alone): transactions read each other's values. A value is given out after its commit alone, and whoever
  has committed reads nothing any more, so this never happens.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.dependencies import Graph, Witness, collect_dependencies
from eosctl.lab.history.events import History

#: How many rw dependencies of one component are followed back: bounds the work, and one circle is enough.
_TRIES = 20


class CycleCounts(NamedTuple):
    """Components of transactions that hold a circle of each kind."""

    g0_count: int
    g1c_count: int
    g_single_count: int


def check_cycles(history: History) -> Iterator[Anomaly]:
    """Yield circles of transactions that read each other's values (G1c), the shortest of each component."""
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
    """Count the components with circles of each kind."""
    overwrites, reads, misses = collect_dependencies(history)
    known = merged((overwrites, reads))
    singles = sum(_has_single(known, misses, frozenset(component)) for component in components(merged((known, misses))))
    return CycleCounts(len(components(overwrites)), len(components(reads)), singles)


def _has_single(known: Graph, misses: Graph, component: Collection[str]) -> bool:
    edges = [(a, b) for a in component for b in misses.get(a, ()) if b in component]
    return any(_path(known, target, source, component) for source, target in sorted(edges)[:_TRIES])


def merged(graphs: Iterable[Graph]) -> Graph:
    """Return one graph with the dependencies of all."""
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
    """Return a circle within a component in which no shorter one lies, in the order of its dependencies."""
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
    """Return a shortest path with both its ends; empty when there is none."""
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
