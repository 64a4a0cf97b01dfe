"""The server-side assignors: `uniform` (balanced and sticky) and `range` (contiguous ranges of each topic)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from eosctl.sandbox.coordinator.group.consumer.group import Assignment, TopicIdPartition

Subscriptions = Mapping[str, frozenset[str]]
Partitions = Mapping[str, Sequence[TopicIdPartition]]
Assignor = Callable[[Subscriptions, Partitions, Mapping[str, Assignment]], dict[str, Assignment]]


def assign_uniform(
    subscriptions: Subscriptions, partitions: Partitions, current: Mapping[str, Assignment]
) -> dict[str, Assignment]:
    """Balance all partitions over the subscriptions and move as few as possible.

    Args:
        subscriptions: Topic names by member id.
        partitions: Existing partitions by topic name.
        current: The previous target by member id.
    """
    members = sorted(subscriptions)
    topic_of = {partition: topic for topic, all_of_topic in partitions.items() for partition in all_of_topic}
    held: dict[str, list[TopicIdPartition]] = {member: [] for member in members}
    taken: set[TopicIdPartition] = set()
    for member in members:
        for partition in sorted(current.get(member, ())):
            if topic_of.get(partition) in subscriptions[member] and partition not in taken:
                held[member].append(partition)
                taken.add(partition)
    for topic in sorted(partitions):
        takers = [member for member in members if topic in subscriptions[member]]
        for partition in partitions[topic]:
            if takers and partition not in taken:
                held[min(takers, key=lambda member: len(held[member]))].append(partition)
    while _move_one(held, subscriptions, topic_of):
        pass
    return {member: frozenset(held[member]) for member in members}


def assign_range(
    subscriptions: Subscriptions, partitions: Partitions, current: Mapping[str, Assignment]
) -> dict[str, Assignment]:
    """Assign each subscriber of a topic a contiguous range, in the order of `subscriptions`.

    The first members get one partition more.
    """
    held: dict[str, set[TopicIdPartition]] = defaultdict(set)
    for topic in sorted(partitions):
        takers = [member for member in subscriptions if topic in subscriptions[member]]
        if not takers:
            continue
        share, rest = divmod(len(partitions[topic]), len(takers))
        start = 0
        for position, member in enumerate(takers):
            end = start + share + (position < rest)
            held[member].update(partitions[topic][start:end])
            start = end
    return {member: frozenset(held[member]) for member in subscriptions}


ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}


def _move_one(
    held: dict[str, list[TopicIdPartition]], subscriptions: Subscriptions, topic_of: Mapping[TopicIdPartition, str]
) -> bool:
    """Move a partition to a member with at least two fewer; each move reduces the imbalance."""
    by_load = sorted(held, key=lambda member: (len(held[member]), member))
    for giver in reversed(by_load):
        for taker in by_load:
            if len(held[giver]) - len(held[taker]) < 2:
                break
            for partition in reversed(held[giver]):
                if topic_of[partition] in subscriptions[taker]:
                    held[giver].remove(partition)
                    held[taker].append(partition)
                    return True
    return False
