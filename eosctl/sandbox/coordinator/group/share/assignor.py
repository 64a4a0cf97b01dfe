"""The assignor `simple` of share groups: it balances members over partitions (`SimpleAssignor`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil

from eosctl.sandbox.coordinator.group.consumer.group import Assignment, TopicIdPartition

NAME = "simple"


def assign_simple(
    subscriptions: Mapping[str, frozenset[str]],
    partitions: Mapping[str, Sequence[TopicIdPartition]],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Balance members over the partitions of their topics and move as few as possible.

    With equal subscriptions, all partitions are balanced together; otherwise each topic by itself.

    Args:
        subscriptions: Topic names by member id.
        partitions: Assignable partitions by topic name.
        current: The previous target by member id.
    """
    members = sorted(subscriptions)
    topics = sorted(frozenset().union(*subscriptions.values()))
    if len(set(subscriptions.values())) <= 1:
        pools = [(members, [part for topic in topics for part in partitions.get(topic, ())])]
    else:
        pools = [
            ([member for member in members if topic in subscriptions[member]], list(partitions.get(topic, ())))
            for topic in topics
        ]
    assigned: dict[str, set[TopicIdPartition]] = {member: set() for member in members}
    for sharing, pool in pools:
        for member, share in _balance(sharing, pool, current).items():
            assigned[member] |= share
    return {member: frozenset(share) for member, share in assigned.items()}


def _balance(
    members: Sequence[str], pool: Sequence[TopicIdPartition], current: Mapping[str, Assignment]
) -> dict[str, set[TopicIdPartition]]:
    if not pool or not members:
        return {}
    members_per_partition = ceil(len(members) / len(pool))
    per_member = members_per_partition * len(pool) / len(members)
    wanted = {member: ceil(per_member * (index + 1)) - ceil(per_member * index) for index, member in enumerate(members)}
    held: dict[str, set[TopicIdPartition]] = {member: set() for member in members}
    holders: dict[TopicIdPartition, set[str]] = {partition: set() for partition in pool}
    for member in members:
        # Of too many partitions, the last ones are kept.
        for partition in _last(current.get(member, frozenset()) & holders.keys(), wanted[member]):
            if len(holders[partition]) < members_per_partition:
                held[member].add(partition)
                holders[partition].add(member)
    for partition in pool:
        for member in sorted(members, key=lambda member: len(held[member])):
            if len(holders[partition]) >= members_per_partition:
                break
            if len(held[member]) < wanted[member] and partition not in held[member]:
                held[member].add(partition)
                holders[partition].add(member)
    return held


def _last(partitions: Collection[TopicIdPartition], count: int) -> Iterable[TopicIdPartition]:
    return sorted(partitions)[max(0, len(partitions) - count) :]
