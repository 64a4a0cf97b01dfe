"""The topics of a topology: their partition counts, missing ones, and the number of tasks (`InternalTopicManager`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.coordinator.group.streams.topology import InternalTopic, Subtopology, Topology
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode

_NAMED_TOPICS = 3
"""The number of topics that a status names."""

CountOf = Callable[[str], int]
"""Returns the number of partitions of a topic that exists or will be created; 0 if it is unknown."""


class StatusCode(IntEnum):
    """The codes of `Status` in a heartbeat response."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6


class Status(NamedTuple):
    """A condition that a heartbeat response reports."""

    code: StatusCode
    detail: str


class ConfiguredSubtopology(NamedTuple):
    """A part of a topology with its number of tasks; its internal topics have their partition counts."""

    task_count: int
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    repartition_source_topics: tuple[InternalTopic, ...]
    state_changelog_topics: tuple[InternalTopic, ...]

    @property
    def is_stateful(self) -> bool:
        """Return whether tasks have state, so they can have standby tasks."""
        return bool(self.state_changelog_topics)

    @property
    def input_topics(self) -> list[str]:
        """Return the topics whose partitions make the tasks."""
        return hash_order([*self.source_topics, *(topic.name for topic in self.repartition_source_topics)])


class ConfiguredTopology(NamedTuple):
    """A topology over the topics of the cluster.

    `subtopologies` is None if source topics are missing or partition counts differ. `missing` has the internal topics
    to create. Tasks are assigned only without a `problem`.
    """

    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    missing: tuple[InternalTopic, ...]
    problem: Status | None

    @property
    def is_ready(self) -> bool:
        """Return whether all topics exist with the right number of partitions."""
        return self.problem is None


class _UnfitTopicsError(Exception):
    def __init__(self, code: StatusCode, detail: str) -> None:
        super().__init__(detail)
        self.status = Status(code, detail)


def configure_topics(topology: Topology, metadata: MetadataView) -> ConfiguredTopology:
    """Compute the partition counts of internal topics and compare them with the topics of the cluster.

    Raises:
        RefusedError: STREAMS_INVALID_TOPOLOGY, if no topics of the cluster could make the topology valid.
    """
    try:
        return _configure(topology, metadata)
    except _UnfitTopicsError as unfit:
        return ConfiguredTopology(topology.epoch, None, (), unfit.status)


def _configure(topology: Topology, metadata: MetadataView) -> ConfiguredTopology:
    absent = sorted(
        {
            topic
            for part in topology.subtopologies
            for topic in part.source_topics
            if not metadata.partition_count(topic)
        }
    )
    if absent:
        raise _UnfitTopicsError(StatusCode.MISSING_SOURCE_TOPICS, f"Source topics {_summary(absent)} are missing.")
    decided: dict[str, int] = {}

    def count_of(topic: str) -> int:
        return metadata.partition_count(topic) or decided.get(topic, 0)

    parts = topology.subtopologies
    decided |= _repartition_counts(parts, count_of)
    _enforce_copartitioning(parts, decided, count_of)
    for part in parts:
        if not part.input_topics:
            raise _invalid(f"No source topics found for subtopology {part.subtopology_id}")
        task_count = max(map(count_of, part.input_topics))
        decided |= dict.fromkeys((topic.name for topic in part.state_changelog_topics), task_count)
    configured = {
        part.subtopology_id: ConfiguredSubtopology(
            max(map(count_of, part.input_topics)),
            part.source_topics,
            part.repartition_sink_topics,
            _with_counts(part.repartition_source_topics, decided),
            _with_counts(part.state_changelog_topics, decided),
        )
        for part in sorted(parts)
    }
    missing = _missing_topics(topology, configured.values(), metadata)
    problem = None
    if missing:
        names = _summary([topic.name for topic in missing])
        problem = Status(StatusCode.MISSING_INTERNAL_TOPICS, f"Internal topics are missing: {names}")
    return ConfiguredTopology(topology.epoch, configured, missing, problem)


def _repartition_counts(parts: Sequence[Subtopology], count_of: CountOf) -> dict[str, int]:
    """Return the partition counts of repartition topics: given, or the largest input of the part that writes them."""
    counts = {
        topic.name: topic.partition_count
        for part in parts
        for topic in part.repartition_source_topics
        if topic.partition_count
    }
    while True:
        undecided = [(sink, part) for part in parts for sink in part.repartition_sink_topics if sink not in counts]
        if not undecided:
            break
        found = False
        for sink, part in undecided:
            inputs = [counts.get(topic.name, 0) for topic in part.repartition_source_topics]
            largest = max([*inputs, *map(count_of, part.source_topics)], default=0)
            if largest and sink not in counts:
                counts[sink] = largest
                found = True
        if not found:
            raise _invalid(
                "Failed to compute number of partitions for all repartition topics. There may be loops in the topology "
                "that cannot be resolved."
            )
    if any(topic.name not in counts for part in parts for topic in part.repartition_source_topics):
        raise _invalid(
            "Failed to compute number of partitions for all repartition topics, because a repartition source topic is "
            "never used as a sink topic."
        )
    return counts


def _enforce_copartitioning(parts: Sequence[Subtopology], decided: dict[str, int], count_of: CountOf) -> None:
    """Give the repartition topics of a copartition group one number of partitions; `decided` is changed."""
    repartition = [topic for part in parts for topic in part.repartition_source_topics]
    fixed = {topic.name for topic in repartition if topic.partition_count}
    flexible = {topic.name for topic in repartition if not topic.partition_count}
    for part in parts:
        for group in part.copartition_groups:
            topics = set(part.copartitioned(group))
            internal = topics & (fixed | flexible)
            if topics:
                count = _copartition_count(topics, internal, fixed, count_of)
                for topic in hash_order(sorted(internal)):
                    if topic in fixed and count_of(topic) != count:
                        raise _UnfitTopicsError(
                            StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
                            f"Number of partitions [{count_of(topic)}] of repartition topic [{topic}] doesn't match "
                            f"number of partitions [{count}] of the source topic.",
                        )
                decided |= dict.fromkeys(internal, count)


def _copartition_count(topics: set[str], internal: set[str], fixed: set[str], count_of: CountOf) -> int:
    if topics != internal:
        return _same_count(topics - internal, topics - internal, count_of)
    if fixed:
        return _same_count(fixed, internal, count_of)
    largest = max(map(count_of, internal))
    if not largest:
        names = ", ".join(hash_order(sorted(internal)))
        raise _invalid(f"All topics in the copartition group had undefined partition number: [{names}]")
    return largest


def _same_count(topics: set[str], named: set[str], count_of: CountOf) -> int:
    counts = set(map(count_of, topics))
    if len(counts) > 1:
        shown = ", ".join(f"{topic}={count_of(topic)}" for topic in sorted(named))
        text = f"Following topics do not have the same number of partitions: [{{{shown}}}]"
        raise _UnfitTopicsError(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
    return counts.pop()


def _with_counts(topics: Iterable[InternalTopic], decided: Mapping[str, int]) -> tuple[InternalTopic, ...]:
    return tuple(topic._replace(partition_count=topic.partition_count or decided[topic.name]) for topic in topics)


def _missing_topics(
    topology: Topology, parts: Iterable[ConfiguredSubtopology], metadata: MetadataView
) -> tuple[InternalTopic, ...]:
    wanted = {
        topic.name: topic for part in parts for topic in (*part.repartition_source_topics, *part.state_changelog_topics)
    }
    order = hash_order(wanted)
    for name in hash_order(sorted(topology.required_topics)):
        present = metadata.partition_count(name)
        expected = wanted.pop(name, None) if present else None
        if expected is not None and expected.partition_count != present:
            raise _UnfitTopicsError(
                StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
                f"Existing topic {name} has different number of partitions: expected {expected.partition_count}, "
                f"found {present}",
            )
    return tuple(wanted[name] for name in order if name in wanted)


def _summary(topics: Sequence[str]) -> str:
    more = f" and {len(topics) - _NAMED_TOPICS} additional topics" if len(topics) > _NAMED_TOPICS else ""
    return ", ".join(topics[:_NAMED_TOPICS]) + more


def _invalid(message: str) -> RefusedError:
    return RefusedError(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)
