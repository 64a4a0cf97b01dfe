"""The life of a group's share-partitions: requested, existing, deleted. Partitions without state are not assigned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from eosctl.sandbox.coordinator.group.share.group import ShareGroup, StatePartitions, TopicPartitions
from eosctl.sandbox.ports import MetadataView

Wanted = Mapping[bytes, TopicPartitions]


def partitions_to_initialize(
    group: ShareGroup, metadata: MetadataView, retry_interval_ms: int, now_ms: int
) -> dict[bytes, TopicPartitions]:
    """Return the partitions of subscribed topics without state; a request that got no answer is repeated later."""
    states = group.states or StatePartitions()
    pending = {
        topic_id: topic
        for topic_id, topic in states.initializing.items()
        if now_ms - topic.since_ms < retry_interval_ms
    }
    known = combine(states.initialized, pending)
    wanted: dict[bytes, TopicPartitions] = {}
    for name in sorted(group.subscribed_topics()):
        topic_id = metadata.topic_id(name)
        if topic_id is None:
            continue
        present = known[topic_id].partitions if topic_id in known else frozenset()
        missing = frozenset(range(metadata.partition_count(name))) - present
        if missing:
            wanted[topic_id] = TopicPartitions(name, missing, now_ms)
    return wanted


def is_assignment_pending(group: ShareGroup) -> bool:
    """Return whether partitions of subscribed topics have state but are not assigned yet."""
    if group.is_empty:
        return False
    assigned = frozenset().union(*group.targets.values())
    subscribed = group.subscribed_topics()
    return any(
        topic.name in subscribed
        and topic.partitions != {part.partition for part in assigned if part.topic_id == topic_id}
        for topic_id, topic in group.initialized.items()
    )


def combine(first: Wanted, second: Wanted) -> dict[bytes, TopicPartitions]:
    """Return the partitions of both; name and time are those of the second."""
    combined = dict(first)
    for topic_id, topic in second.items():
        known = combined[topic_id].partitions if topic_id in combined else frozenset()
        combined[topic_id] = topic._replace(partitions=known | topic.partitions)
    return combined


def subtract(topics: Wanted, gone: Wanted) -> dict[bytes, TopicPartitions]:
    """Return the partitions that are not in the second."""
    left = {
        topic_id: topic._replace(partitions=topic.partitions - gone[topic_id].partitions) if topic_id in gone else topic
        for topic_id, topic in topics.items()
    }
    return {topic_id: topic for topic_id, topic in left.items() if topic.partitions}


def request(group: ShareGroup, wanted: Wanted) -> ShareGroup:
    """Return the group with requested partitions; a topic that is being deleted is wanted again."""
    states = group.states or StatePartitions()
    initializing = combine(states.initializing, wanted)
    deleting = {topic_id: name for topic_id, name in states.deleting.items() if topic_id not in initializing}
    return replace(group, states=replace(states, initializing=initializing, deleting=deleting))


def confirm(group: ShareGroup, wanted: Wanted) -> ShareGroup:
    """Return the group once the state of requested partitions exists."""
    states = group.states or StatePartitions()
    return replace(
        group,
        states=replace(
            states,
            initializing=subtract(states.initializing, wanted),
            initialized=combine(states.initialized, wanted),
        ),
    )


def withdraw(group: ShareGroup, wanted: Wanted) -> ShareGroup:
    """Return the group after a failed request."""
    if group.states is None:
        return group
    return replace(group, states=replace(group.states, initializing=subtract(group.states.initializing, wanted)))


def begin_deletion(group: ShareGroup, metadata: MetadataView) -> tuple[ShareGroup, dict[bytes, TopicPartitions]]:
    """Return the group whose share-partitions are all to be deleted, and these partitions."""
    states = group.states or StatePartitions()
    wanted = combine(states.initialized, states.initializing)
    for topic_id, name in states.deleting.items():  # Deletions that got no answer are repeated.
        count = metadata.partition_count(name)
        if metadata.topic_id(name) == topic_id:
            wanted = combine(wanted, {topic_id: TopicPartitions(name, frozenset(range(count)))})
    deleting = {topic_id: topic.name for topic_id, topic in wanted.items()}
    return replace(group, states=StatePartitions({}, {}, deleting)), wanted


def begin_topic_deletion(
    group: ShareGroup, topic_ids: Collection[bytes], metadata: MetadataView
) -> tuple[ShareGroup, dict[bytes, TopicPartitions]]:
    """Return the group whose share-partitions of some topics are to be deleted, and these partitions."""
    states = group.states or StatePartitions()
    wanted = {key: states.initialized[key] for key in topic_ids if key in states.initialized}
    for topic_id, name in states.deleting.items():  # Deletions that got no answer are repeated.
        if topic_id in topic_ids and topic_id not in wanted:
            wanted[topic_id] = TopicPartitions(name, frozenset(range(metadata.partition_count(name))))
    deleting = {**states.deleting, **{topic_id: topic.name for topic_id, topic in wanted.items()}}
    initialized = {key: topic for key, topic in states.initialized.items() if key not in topic_ids}
    return replace(group, states=replace(states, initialized=initialized, deleting=deleting)), wanted


def end_deletion(group: ShareGroup, topic_ids: Collection[bytes]) -> ShareGroup:
    """Return the group once the state of topics is deleted."""
    states = group.states or StatePartitions()
    deleting = {topic_id: name for topic_id, name in states.deleting.items() if topic_id not in topic_ids}
    return replace(group, states=replace(states, deleting=deleting))


def forget_deleted(group: ShareGroup, topic_ids: Iterable[bytes]) -> ShareGroup:
    """Return the group without any trace of deleted topics or state."""
    states, gone = group.states, set(topic_ids)
    if states is None or not gone & {*states.initializing, *states.initialized, *states.deleting}:
        return group
    return replace(
        group,
        states=StatePartitions(
            {key: topic for key, topic in states.initializing.items() if key not in gone},
            {key: topic for key, topic in states.initialized.items() if key not in gone},
            {key: name for key, name in states.deleting.items() if key not in gone},
        ),
    )
