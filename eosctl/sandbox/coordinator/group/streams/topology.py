"""The topology of a Kafka Streams application, as its first member sends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eosctl.wire.messages import streams_group_heartbeat as request_messages
from eosctl.wire.messages.internal.consumer_offsets import streams_group_topology as record_messages


class InternalTopic(NamedTuple):
    """A repartition or changelog topic; 0 partitions or replicas mean undefined."""

    name: str
    partition_count: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


class CopartitionGroup(NamedTuple):
    """Topics that need the same number of partitions, as indexes into the lists of the subtopology."""

    source_topics: tuple[int, ...]
    source_topic_regex: tuple[int, ...]
    repartition_source_topics: tuple[int, ...]


class Subtopology(NamedTuple):
    """A connected part of a topology."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    source_topic_regex: tuple[str, ...]
    state_changelog_topics: tuple[InternalTopic, ...]
    repartition_sink_topics: tuple[str, ...]
    repartition_source_topics: tuple[InternalTopic, ...]
    copartition_groups: tuple[CopartitionGroup, ...]

    @property
    def input_topics(self) -> list[str]:
        """Return the names of the source topics and of the repartition topics that this part reads."""
        return [*self.source_topics, *(topic.name for topic in self.repartition_source_topics)]

    def copartitioned(self, group: CopartitionGroup) -> list[str]:
        """Return the names of the topics of a copartition group."""
        return [
            *(self.source_topics[index] for index in group.source_topics),
            *(self.repartition_source_topics[index].name for index in group.repartition_source_topics),
        ]


class Topology(NamedTuple):
    """A topology and its epoch."""

    epoch: int
    subtopologies: tuple[Subtopology, ...]

    def is_same(self, other: Topology) -> bool:
        """Return whether epoch and parts are equal; the order of the parts does not matter."""
        return self.epoch == other.epoch and sorted(self.subtopologies) == sorted(other.subtopologies)

    @property
    def required_topics(self) -> frozenset[str]:
        """Return all topics that must exist before tasks are assigned."""
        changelogs = (topic.name for part in self.subtopologies for topic in part.state_changelog_topics)
        return frozenset(changelogs).union(*(part.input_topics for part in self.subtopologies))

    def subtopology_of(self, input_topic: str) -> str | None:
        """Return the id of the part that reads a topic, or None."""
        readers = (part.subtopology_id for part in self.subtopologies if input_topic in part.input_topics)
        return next(readers, None)


def read_topology(message: request_messages.Topology | record_messages.StreamsGroupTopologyValue) -> Topology:
    """Return the topology in a request or a record."""
    return Topology(
        message.epoch,
        tuple(
            Subtopology(
                subtopology_id=part.subtopology_id,
                source_topics=tuple(part.source_topics),
                source_topic_regex=tuple(part.source_topic_regex),
                state_changelog_topics=_read_topics(part.state_changelog_topics),
                repartition_sink_topics=tuple(part.repartition_sink_topics),
                repartition_source_topics=_read_topics(part.repartition_source_topics),
                copartition_groups=tuple(
                    CopartitionGroup(
                        tuple(group.source_topics),
                        tuple(group.source_topic_regex),
                        tuple(group.repartition_source_topics),
                    )
                    for group in part.copartition_groups
                ),
            )
            for part in message.subtopologies
        ),
    )


def _read_topics(
    topics: Sequence[request_messages.TopicInfo] | Sequence[record_messages.TopicInfo],
) -> tuple[InternalTopic, ...]:
    return tuple(
        InternalTopic(
            topic.name,
            topic.partitions,
            topic.replication_factor,
            tuple((config.key, config.value) for config in topic.topic_configs),
        )
        for topic in topics
    )


def encode_topology(topology: Topology) -> record_messages.StreamsGroupTopologyValue:
    """Return the record value of a topology."""
    return record_messages.StreamsGroupTopologyValue(
        topology.epoch,
        [
            record_messages.Subtopology(
                subtopology_id=part.subtopology_id,
                source_topics=part.source_topics,
                source_topic_regex=part.source_topic_regex,
                state_changelog_topics=_encode_topics(part.state_changelog_topics),
                repartition_sink_topics=part.repartition_sink_topics,
                repartition_source_topics=_encode_topics(part.repartition_source_topics),
                copartition_groups=[record_messages.CopartitionGroup(*group) for group in part.copartition_groups],
            )
            for part in topology.subtopologies
        ],
    )


def _encode_topics(topics: Sequence[InternalTopic]) -> list[record_messages.TopicInfo]:
    return [
        record_messages.TopicInfo(
            topic.name,
            topic.partition_count,
            topic.replication_factor,
            [record_messages.TopicConfig(key, value) for key, value in topic.configs],
        )
        for topic in topics
    ]
