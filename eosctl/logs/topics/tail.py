"""Find how far growing topics can be read: up to the events that may still grow."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from eosctl.logs.topics.address import LATEST, Bound
from eosctl.logs.topics.assembly import LOOK_BACK, safe_end
from eosctl.logs.topics.consumer import Cluster

Offsets = Mapping[str, int]
"""Offsets by topic and partition, as in ``logs-0``."""


class Settling:
    """Remembers the end of each partition over time, by this process's clock.

    The timestamps of records cannot replace it: they come from shippers, which may lag behind by hours.
    """

    def __init__(self, idle_ms: int) -> None:
        self._idle_ms = idle_ms
        self._seen: dict[str, deque[tuple[float, int]]] = {}

    def settled(self, name: str, high: int, now_ms: float) -> int:
        """Return the offset up to which all records have existed for the idle time."""
        seen = self._seen.setdefault(name, deque())
        if not seen or seen[-1][1] != high:
            seen.append((now_ms, high))
        while len(seen) > 1 and now_ms - seen[1][0] >= self._idle_ms:
            seen.popleft()
        since_ms, settled = seen[0]
        return settled if now_ms - since_ms >= self._idle_ms else 0


class TopicTail:
    """Finds how far topics can be read; one instance lives as long as the topics are followed."""

    def __init__(self, idle_ms: int, clock_ms: Callable[[], float] = lambda: time.monotonic() * 1000) -> None:
        self._settling = Settling(idle_ms)
        self._clock_ms = clock_ms

    def ends(self, cluster: Cluster, start: Offsets, most: int | None = None) -> dict[str, int]:
        """Return how far each partition can be read now.

        Args:
            cluster: The connection.
            start: The offset reached in each partition; a partition without one is new, and begins at its first record.
            most: Maximum number of offsets between the start and the result, over all partitions.

        Raises:
            TopicError: The topics cannot be read.
        """
        begins: dict[str, int] = {}
        ends: dict[str, int] = {}
        for topic, partition in cluster.partitions():
            name = f"{topic}-{partition}"
            low, high = cluster.bounds(topic, partition)
            begins[name] = start.get(name, low)
            settled = self._settling.settled(name, high, self._clock_ms())
            if high > max(settled, begins[name]):
                end = safe_end(list(cluster.records(topic, partition, max(low, high - LOOK_BACK))), settled, high)
            else:
                end = high
            ends[name] = max(begins[name], end)
        return ends if most is None else limited(begins, ends, most)


def everything(cluster: Cluster) -> dict[str, int]:
    """Return the ends of all partitions, including events that may still grow."""
    return place_of(cluster, LATEST)


def place_of(cluster: Cluster, bound: Bound) -> dict[str, int]:
    """Return the offsets of a bound."""
    return {
        f"{topic}-{partition}": cluster.resolve(topic, partition, bound) for topic, partition in cluster.partitions()
    }


def limited(start: Offsets, end: Offsets, most: int) -> dict[str, int]:
    """Lower the ends so that all partitions share a maximum number of offsets, and at least one partition advances."""
    waiting = {name: end[name] - start.get(name, 0) for name in end}
    total = sum(waiting.values())
    if total <= most:
        return dict(end)
    shares = {name: count * most // total for name, count in waiting.items()}
    if not any(shares.values()):
        shares[max(waiting, key=lambda name: waiting[name])] = min(most, max(waiting.values()))
    return {name: start.get(name, 0) + share for name, share in shares.items()}


def between(start: Offsets, end: Offsets) -> Iterator[tuple[str, int, int, int]]:
    """Yield topic, partition, first offset, and end of each range between two sets of offsets."""
    for name, stop in end.items():
        topic, _, number = name.rpartition("-")
        if (first := start.get(name, 0)) < stop:
            yield topic, int(number), first, stop
