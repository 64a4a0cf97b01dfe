"""Dependencies among transactions in the order of Kafka's offsets (Adya's ww, wr, and rw).

Only observations count: values that read_committed consumers received, and ranges that transactions read.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from eosctl.lab.history.events import Event, History, Polled, SendInvoked, TransactionRead
from eosctl.model.transaction import TopicPartition

Witness: TypeAlias = tuple[Event, ...]
Graph: TypeAlias = Mapping[str, Mapping[str, Witness]]
"""From a transaction to its direct dependents, with the events that show the dependency."""


class Dependencies(NamedTuple):
    """The dependencies of a history.

    Attributes:
        overwrites: ww: the other transaction wrote the next visible value of a partition.
        reads: wr: the other transaction read a value.
        misses: rw: it read a partition up to a value of the other transaction.
    """

    overwrites: Graph
    reads: Graph
    misses: Graph


def collect_dependencies(history: History) -> Dependencies:
    """Return the dependencies of the transactions of a history, in a single pass."""
    origins: dict[str, SendInvoked] = {}
    visible: dict[TopicPartition, dict[int, Polled]] = defaultdict(dict)
    given: dict[tuple[str, TopicPartition], list[Polled]] = defaultdict(list)
    sights: list[tuple[TransactionRead, list[Polled]]] = []
    for event in history:
        match event:
            case SendInvoked() if event.transaction:
                origins[event.value] = event
            case Polled():
                visible[event.partition].setdefault(event.offset, event)
                given[event.actor, event.partition].append(event)
            case TransactionRead():
                sights.append((event, given.pop((event.actor, event.partition), [])))
            case _:
                pass
    order = {partition: [seen[offset] for offset in sorted(seen)] for partition, seen in visible.items()}
    return Dependencies(
        _graph(_overwrites(order, origins)), _graph(_reads(sights, origins)), _graph(_misses(sights, order, origins))
    )


Edge: TypeAlias = tuple[str, str, Witness]


def _overwrites(order: Mapping[TopicPartition, list[Polled]], origins: Mapping[str, SendInvoked]) -> Iterator[Edge]:
    for values in order.values():
        for before, after in itertools.pairwise(values):
            first, second = origins.get(before.value), origins.get(after.value)
            if first is not None and second is not None:
                yield first.transaction, second.transaction, (first, second, before, after)


def _reads(
    sights: Iterable[tuple[TransactionRead, list[Polled]]], origins: Mapping[str, SendInvoked]
) -> Iterator[Edge]:
    for sight, given in sights:
        for read in given:
            origin = origins.get(read.value)
            if origin is not None and sight.start <= read.offset < sight.end:
                yield origin.transaction, sight.transaction, (origin, read, sight)


def _misses(
    sights: Iterable[tuple[TransactionRead, list[Polled]]],
    order: Mapping[TopicPartition, list[Polled]],
    origins: Mapping[str, SendInvoked],
) -> Iterator[Edge]:
    by_end = sorted((sight for sight, _ in sights), key=lambda sight: sight.end)
    places = dict.fromkeys(order, 0)
    for sight in by_end:
        values = order.get(sight.partition, [])
        at = places.get(sight.partition, 0)
        while at < len(values) and values[at].offset < sight.end:
            at += 1
        places[sight.partition] = at
        origin = origins.get(values[at].value) if at < len(values) else None
        if origin is not None:
            yield sight.transaction, origin.transaction, (sight, origin, values[at])


def _graph(edges: Iterable[Edge]) -> Graph:
    graph: dict[str, dict[str, Witness]] = {}
    for source, target, witness in edges:
        if source != target:
            graph.setdefault(source, {}).setdefault(target, witness)
    return graph
