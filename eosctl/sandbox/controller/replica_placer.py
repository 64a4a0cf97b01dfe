"""Placement of new replicas, striped over racks and brokers (Kafka's `StripedReplicaPlacer`)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Candidate(NamedTuple):
    """A broker that may host replicas."""

    broker_id: int
    rack: str | None
    fenced: bool


def place_replicas(
    candidates: Sequence[Candidate], partition_count: int, replication_factor: int, chance: random.Random
) -> Iterator[tuple[int, ...]]:
    """Yield the replicas of each partition, preferred leader first.

    Racks alternate, and so do the brokers of a rack. Consecutive partitions start one broker further, so that leaders
    and followers are evenly distributed. Fenced brokers come last within their rack and are never the preferred leader
    if an unfenced one is among the replicas.
    """
    racks: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates):
        racks.setdefault(candidate.rack or "", []).append(candidate)
    shift = chance.randrange(len(candidates))
    for partition in range(partition_count):
        queues = [_rotated(racks[name], shift + partition) for name in sorted(racks)]
        queues = _rotated_list(queues, (shift + partition) // max(1, max(len(queue) for queue in queues)))
        chosen: list[Candidate] = []
        turn = 0
        while len(chosen) < replication_factor:
            queue = queues[turn % len(queues)]
            if queue:
                chosen.append(queue.pop(0))
            turn += 1
        chosen.sort(key=lambda candidate: candidate.fenced)
        yield tuple(candidate.broker_id for candidate in chosen)


def _rotated(brokers: Sequence[Candidate], by: int) -> list[Candidate]:
    shift = by % len(brokers)
    turned = [*brokers[shift:], *brokers[:shift]]
    return [*(b for b in turned if not b.fenced), *(b for b in turned if b.fenced)]


def _rotated_list(queues: list[list[Candidate]], by: int) -> list[list[Candidate]]:
    shift = by % len(queues)
    return [*queues[shift:], *queues[:shift]]
