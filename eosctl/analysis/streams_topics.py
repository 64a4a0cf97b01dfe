"""The topics that keep a streams group from running: missing ones, and wrong numbers of partitions."""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.model.group_details import CountMismatch, StreamsTopology, Subtopology, TopicProblems
from eosctl.model.snapshot import ClusterSnapshot


def find_topic_problems(snapshot: ClusterSnapshot, topology: StreamsTopology) -> TopicProblems:
    """Compare a topology with the topics of the cluster (`InternalTopicManager`)."""
    counts = {topic.name: len(topic.partitions) for topic in snapshot.topics}
    parts = topology.subtopologies
    sources = {topic for part in parts for topic in part.source_topics}
    internal = {topic.name for part in parts for topic in (*part.repartition_topics, *part.changelog_topics)}
    mismatches = {mismatch for part in parts for mismatch in _mismatches(part, counts)}
    uneven = tuple(
        (part.subtopology_id, tuple(sorted(found.items())))
        for part in parts
        if len(set((found := _known(part, counts)).values())) > 1
    )
    return TopicProblems(
        tuple(sorted(sources - set(counts))),
        tuple(sorted(internal - set(counts))),
        tuple(sorted(mismatches)),
        uneven,
    )


def _known(part: Subtopology, counts: Mapping[str, int]) -> dict[str, int]:
    return {topic: counts[topic] for topic in part.source_topics if topic in counts}


def _mismatches(part: Subtopology, counts: Mapping[str, int]) -> list[CountMismatch]:
    inputs = [counts[topic] for topic in part.input_topics if topic in counts]
    has_all_inputs = len(inputs) == len(part.input_topics)
    expected = [(topic.name, topic.partition_count) for topic in part.repartition_topics]
    # The group has not determined the numbers of partitions while topics are missing.
    task_count = max(inputs, default=0) if has_all_inputs else 0
    expected += [(topic.name, topic.partition_count or task_count) for topic in part.changelog_topics]
    return [
        CountMismatch(name, counts[name], wanted)
        for name, wanted in expected
        if wanted and counts.get(name, wanted) != wanted
    ]
