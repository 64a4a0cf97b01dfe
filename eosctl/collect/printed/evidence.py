"""Build a snapshot from the combined output of Kafka's tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from eosctl.collect.printed.part import Part
from eosctl.collect.printed.readers import read_section
from eosctl.collect.printed.sections import Section, sections_of
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.setting import AT_LEAST
from eosctl.model.snapshot import Broker, ClusterSnapshot, Group, Topic
from eosctl.model.transaction import PartitionProducers, TransactionLook


class ToolOutput(NamedTuple):
    """The output of a tool in a file, and whether it is evidence of the cluster's state."""

    file: str
    line: int
    tool: str
    is_evidence: bool


class PrintedEvidence(NamedTuple):
    """The combined evidence of texts; `snapshot` is None if none of them is evidence."""

    snapshot: ClusterSnapshot | None
    outputs: tuple[ToolOutput, ...]


def is_tool_output(text: str) -> bool:
    """Return whether a text contains output of a Kafka tool."""
    return bool(sections_of(text))


def read_printed(texts: Mapping[str, str], now_ms: int) -> PrintedEvidence:
    """Read the output of Kafka's tools in texts as evidence.

    Args:
        texts: By file name, or by the name of the place where a text was pasted.
        now_ms: The time of the snapshot, in milliseconds since the epoch, if the output does not contain it.
    """
    outputs: list[ToolOutput] = []
    parts: list[tuple[Section, Part]] = []
    for file, text in texts.items():
        for section in sections_of(text):
            part = read_section(section)
            outputs.append(ToolOutput(file, section.line, section.tool, part is not None))
            if part is not None:
                parts.append((section, part))
    return PrintedEvidence(_snapshot(parts, now_ms) if parts else None, tuple(outputs))


def _snapshot(parts: list[tuple[Section, Part]], now_ms: int) -> ClusterSnapshot:
    own = [part for _, part in parts]
    at = max((part.captured_at_ms for part in own if part.captured_at_ms is not None), default=now_ms)
    collected = frozenset(kind for part in own for kind in part.kinds)
    quorums = [part.quorum for part in own if part.quorum is not None]
    return ClusterSnapshot(
        captured_at_ms=at,
        cluster_id=next((part.cluster_id for part in own if part.cluster_id), ""),
        observer="output of Kafka's tools",
        brokers=_joined_brokers(broker for part in own for broker in part.brokers),
        features=tuple(feature for part in own for feature in part.features),
        topics=_joined_topics(topic for part in own for topic in part.topics),
        looks=_looks(parts, at),
        groups=_joined_groups(group for part in own for group in part.groups),
        quorum=max(quorums, key=lambda one: (len(one.voters), len(one.replicas)), default=None),
        access_rules=next((part.access_rules for part in own if part.access_rules is not None), None),
        log_directories=tuple(directory for part in own for directory in part.log_directories),
        collected=collected,
        gaps=_gaps(own),
    )


def _looks(parts: list[tuple[Section, Part]], at_ms: int) -> tuple[TransactionLook, ...]:
    """Return the transactions as one pass."""
    transactions = tuple(one for _, part in parts for one in part.transactions)
    producers: dict[object, PartitionProducers] = {}
    for _, part in parts:
        for one in part.producers:
            before = producers.get(one.partition)
            producers[one.partition] = one if before is None else _joined_producers(before, one)
    if not transactions and not producers:
        return ()
    return (TransactionLook(at_ms, at_ms, tuple(producers.values()), transactions),)


def _joined_producers(one: PartitionProducers, other: PartitionProducers) -> PartitionProducers:
    """Join two outputs about a partition; of open transactions those count that find-hanging lists, where it ran."""
    if one.is_reported_hanging == other.is_reported_hanging:
        return PartitionProducers(
            one.partition, -1, tuple(dict.fromkeys((*one.producers, *other.producers))), one.is_reported_hanging
        )
    listed, described = (one, other) if one.is_reported_hanging else (other, one)
    closed = (state for state in described.producers if state.current_txn_start_offset is None)
    return PartitionProducers(one.partition, -1, (*listed.producers, *closed), True)


def _joined_topics(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    found: dict[str, Topic] = {}
    for topic in topics:
        other = found.get(topic.name)
        if other is not None:
            shown = {info.partition: info for info in (*topic.partitions, *other.partitions)}
            # What a filter only suggests gives way to what another output prints.
            given = sorted((*topic.settings, *other.settings), key=lambda one: one.origin != AT_LEAST)
            settings = {setting.name: setting for setting in given}
            partitions = tuple(shown[where] for where in sorted(shown))
            topic = Topic(topic.name, other.topic_id, topic.internal, partitions, tuple(settings.values()))
        found[topic.name] = topic
    return tuple(found.values())


def _joined_brokers(brokers: Iterable[Broker]) -> tuple[Broker, ...]:
    return tuple({broker.node_id: broker for broker in brokers}.values())


def _joined_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Merge the entries of each group: the state comes from --state, the offsets from --describe."""
    found: dict[str, Group] = {}
    for group in groups:
        other = found.get(group.group_id)
        if other is not None:
            state = group.state if not group.offsets else other.state
            group = Group(group.group_id, -1, state, "consumer", offsets=(*other.offsets, *group.offsets))
        found[group.group_id] = group
    return tuple(found.values())


def _gaps(parts: list[Part]) -> tuple[EvidenceGap, ...]:
    whole = {kind for part in parts for kind in part.kinds if kind not in part.partial}
    found = {
        (kind, detail): EvidenceGap(kind, "other parts", GapReason.NOT_COLLECTED, detail=detail)
        for part in parts
        for kind, detail in part.partial.items()
        if kind not in whole or kind is EvidenceKind.TOPIC_CONFIGS
    }
    return tuple(found.values())
