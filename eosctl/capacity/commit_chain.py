"""How long a record waits for commits until consumers of an application's output see it (F13).

Each application on the way commits once, and Kafka Streams once more for each of its own topics that a record passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.capacity.latency import commit_wait_ms
from eosctl.capacity.rhythm import Rhythm
from eosctl.capacity.sub_topologies import find_sub_topologies, find_writers
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Workload


class Visibility(NamedTuple):
    """The commits that a record waits for, and the time until it is visible, as percentiles in milliseconds."""

    stage_count: int
    p50_ms: float
    p99_ms: float


def plan_visibility(workload: Workload, application: ApplicationSpec, rhythms: Mapping[str, Rhythm]) -> Visibility:
    """Return how long a record waits on the longest way to an application's output."""
    stages = _chain(workload, application)
    waits = [_open_ms(workload, stage, rhythms[stage.name]) for stage in stages]
    fixed = sum(_fixed_ms(workload, stage) for stage in stages)
    # The sum of unequal uniform waits is close to that of as many equal ones with the same total.
    mean_wait = sum(waits) / len(waits)
    p50, p99 = (fixed + commit_wait_ms(len(stages), mean_wait, quantile) for quantile in (0.5, 0.99))
    return Visibility(len(stages), p50, p99)


def _chain(workload: Workload, application: ApplicationSpec) -> list[ApplicationSpec]:
    """Return the commits that a record waits for, by application: the longest way to this one's output.

    Of applications that feed each other in a circle every one is waited for once.
    """
    before = {a.name: _upstream(workload, a) for a in workload.applications}
    chains: dict[str, list[ApplicationSpec]] = {}
    # Applications with fewer others before them come first; those of a circle have the same number.
    for stage in sorted(workload.applications, key=lambda a: len(before[a.name])):
        circle = [a for a in workload.applications if a.name in before[stage.name] and stage.name in before[a.name]]
        members = {a.name for a in circle} | {stage.name}
        earlier = [chains[name] for name in sorted(before[stage.name] - members)]
        own = [a for a in circle or [stage] for _ in range(1 + _own_topic_count(workload, a))]
        chains[stage.name] = [*max(earlier, key=len, default=[]), *own]
    return chains[application.name]


def _upstream(workload: Workload, application: ApplicationSpec) -> set[str]:
    """Name the applications whose output reaches this one, itself among them where it reads what it causes."""
    found: set[str] = set()
    waiting = [application]
    while waiting:
        stage = waiting.pop()
        nearer = [a for a in workload.applications if a.name not in found and _feeds(a, stage)]
        found |= {a.name for a in nearer}
        waiting += nearer
    return found


def _feeds(writer: ApplicationSpec, reader: ApplicationSpec) -> bool:
    return any(name in reader.reads for name, _ in writer.writes)


def _open_ms(workload: Workload, application: ApplicationSpec, rhythm: Rhythm) -> float:
    """Return how long a transaction is open: the commit interval, or else what its records take to arrive.

    Counted transactions are taken to begin with their first record and to end with their last.
    """
    if application.commit_interval_ms is not None or not rhythm.transactions_per_s:
        return rhythm.interval_ms
    busiest = max(workload.topic(name).rate_per_s for name in application.reads or dict(application.writes))
    return rhythm.interval_ms * (1 - 1 / max(1.0, busiest / rhythm.transactions_per_s))


def _fixed_ms(workload: Workload, application: ApplicationSpec) -> float:
    """Return the time of one stage without the wait for the commit: the end of the transaction, and the fetch.

    ``linger.ms`` does not add to it: a commit flushes lingering batches. Flink commits when its checkpoint is complete.
    """
    cluster = workload.cluster
    # Prepare and marker are replicated one after the other; the answer to EndTxn is not waited for by readers.
    ending = cluster.client_round_trip_ms + 2 * cluster.replication_wait_ms
    checkpoint = application.checkpoint_duration_ms if application.kind is ApplicationKind.FLINK else 0.0
    return checkpoint + ending + cluster.client_round_trip_ms


def _own_topic_count(workload: Workload, application: ApplicationSpec) -> int:
    """Return how many of its own topics a record passes at most: it waits for one commit more at each.

    Which sub-topology of Kafka Streams writes a topic decides; topics that lead to each other are all passed. Another
    application that reads what it writes, as for retries, is taken to do so once.
    """
    own = [name for name in application.reads if name in dict(application.writes)]
    if application.kind is not ApplicationKind.STREAMS:
        return min(1, len(own))
    parts = find_sub_topologies(workload, application)
    after = {
        name: {other for other in own for at in find_writers(workload, application, other) if name in parts[at].topics}
        for name in own
    }
    reached = {name: _closure(name, after) for name in own}
    longest: dict[str, int] = {}
    # Topics from which fewer others are reached come first; those of a circle reach the same ones.
    for name in sorted(own, key=lambda one: len(reached[one])):
        circle = {other for other in reached[name] if name in reached[other]} | {name}
        later = [longest[other] for other in reached[name] - circle]
        longest[name] = len(circle) + max(later, default=0)
    return max(longest.values(), default=0)


def _closure(name: str, after: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        nearer = after[waiting.pop()] - found
        found |= nearer
        waiting += nearer
    return found
