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
    observations: list[tuple[TransactionRead, list[Polled]]] = []
    for event in history:
        match event:
            case SendInvoked() if event.transaction:
                origins[event.value] = event
            case Polled():
                visible[event.partition].setdefault(event.offset, event)
                given[event.actor, event.partition].append(event)
            case TransactionRead():
                observations.append((event, given.pop((event.actor, event.partition), [])))
            case _:
                pass
    order = {partition: [seen[offset] for offset in sorted(seen)] for partition, seen in visible.items()}
    return Dependencies(
        _graph(_overwrites(order, origins)),
        _graph(_reads(observations, origins)),
        _graph(_misses(observations, order, origins)),
    )


Edge: TypeAlias = tuple[str, str, Witness]


def _overwrites(order: Mapping[TopicPartition, list[Polled]], origins: Mapping[str, SendInvoked]) -> Iterator[Edge]:
    for values in order.values():
        for before, after in itertools.pairwise(values):
            first, second = origins.get(before.value), origins.get(after.value)
            if first is not None and second is not None:
                yield first.transaction, second.transaction, (first, second, before, after)


def _reads(
    observations: Iterable[tuple[TransactionRead, list[Polled]]], origins: Mapping[str, SendInvoked]
) -> Iterator[Edge]:
    for observation, given in observations:
        for read in given:
            origin = origins.get(read.value)
            if origin is not None and observation.start <= read.offset < observation.end:
                yield origin.transaction, observation.transaction, (origin, read, observation)


def _misses(
    observations: Iterable[tuple[TransactionRead, list[Polled]]],
    order: Mapping[TopicPartition, list[Polled]],
    origins: Mapping[str, SendInvoked],
) -> Iterator[Edge]:
    by_end = sorted((observation for observation, _ in observations), key=lambda observation: observation.end)
    places = dict.fromkeys(order, 0)
    for observation in by_end:
        values = order.get(observation.partition, [])
        at = places.get(observation.partition, 0)
        while at < len(values) and values[at].offset < observation.end:
            at += 1
        places[observation.partition] = at
        origin = origins.get(values[at].value) if at < len(values) else None
        if origin is not None:
            yield observation.transaction, origin.transaction, (observation, origin, values[at])


def _graph(edges: Iterable[Edge]) -> Graph:
    graph: dict[str, dict[str, Witness]] = {}
    for source, target, witness in edges:
        if source != target:
            graph.setdefault(source, {}).setdefault(target, witness)
    return graph
