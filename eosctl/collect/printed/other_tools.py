"""Convert the output of kcat, rpk, kafkactl, and web interfaces to a part of a cluster's snapshot."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from eosctl.collect.printed.part import Part
from eosctl.collect.printed.sections import KCAT, RPK_HEALTH, TOPIC_PAGE, Section
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition

_KCAT_TOPIC: Final = re.compile(r'^\s*topic "(?P<name>[^"]+)" with \d+ partitions:')
_KCAT_PARTITION: Final = re.compile(
    r"^\s*partition (?P<number>\d+), leader (?P<leader>-?\d+), replicas: (?P<replicas>[\d,]*), isrs: (?P<isr>[\d,]*)"
)
_LEADERLESS: Final = re.compile(r"^Leaderless partitions\b.*?:\s*\[(?P<names>.*)\]")


def _kcat(section: Section) -> Part | None:
    partitions: list[PartitionInfo] = []
    topic = ""
    for line in section.lines:
        if named := _KCAT_TOPIC.match(line):
            topic = named["name"]
        elif topic and (found := _KCAT_PARTITION.match(line)):
            leader = int(found["leader"])
            where = TopicPartition(topic, int(found["number"]))
            replicas, isr = (tuple(int(n) for n in found[name].split(",") if n) for name in ("replicas", "isr"))
            partitions.append(PartitionInfo(where, leader if leader >= 0 else None, -1, replicas, isr))
    return _topics(partitions)


def _rpk_health(section: Section) -> Part | None:
    """Read the partitions without a leader, which `rpk` names with their namespace: `kafka/payments/3`."""
    for line in section.lines:
        if found := _LEADERLESS.match(line):
            names = [name.split("/") for name in found["names"].split()]
            where = [TopicPartition(one[-2], int(one[-1])) for one in names if len(one) > 1 and one[-1].isdecimal()]
            return _topics([PartitionInfo(one, None, -1, (), ()) for one in where])
    return None


def _page(section: Section) -> Part | None:
    """Read the topics of Kafka UI, AKHQ, kafkactl, and `kcat -L -J`."""
    try:
        document = json.loads(section.header)
    except (ValueError, RecursionError):
        return None
    return _topics(list(_partitions_in(document, "")))


def _partitions_in(node: object, topic: str) -> Iterator[PartitionInfo]:
    if isinstance(node, list):
        for one in node:
            yield from _partitions_in(one, topic)
    elif isinstance(node, dict):
        named = {str(key).lower(): value for key, value in node.items()}
        name = next((str(named[key]) for key in ("name", "topic") if isinstance(named.get(key), str)), topic)
        number = named.get("partition", named.get("id"))
        if name and isinstance(number, int) and isinstance(named.get("replicas"), list):
            yield _partition(TopicPartition(name, number), named)
        else:
            for value in node.values():
                yield from _partitions_in(value, name)


def _partition(where: TopicPartition, named: Mapping[str, Any]) -> PartitionInfo:
    replicas = named["replicas"]
    listed = named.get("isrs", named.get("isr"))
    in_sync = listed if isinstance(listed, list) else [one for one in replicas if _is_in_sync(one)]
    leader = named.get("leader")
    ids = _ids(replicas)
    # kafkactl prints the leader's address instead of its id.
    number = _id(leader) if not isinstance(leader, str) else (next(iter(_ids(in_sync)), -1) if leader else -1)
    return PartitionInfo(where, number if number is not None and number >= 0 else None, -1, ids, _ids(in_sync))


def _is_in_sync(replica: object) -> bool:
    return isinstance(replica, dict) and any(replica.get(name) is True for name in ("inSync", "inSyncs"))


def _ids(nodes: Iterable[object]) -> tuple[int, ...]:
    return tuple(number for one in nodes if (number := _id(one)) is not None)


def _id(node: object) -> int | None:
    if isinstance(node, dict):
        node = node.get("broker", node.get("id"))
    return node if isinstance(node, int) else None


def _topics(partitions: list[PartitionInfo]) -> Part | None:
    if not partitions:
        return None
    names = dict.fromkeys(info.partition.topic for info in partitions)
    topics = tuple(
        Topic(name, "", name.startswith("__"), tuple(one for one in partitions if one.partition.topic == name))
        for name in names
    )
    return Part(frozenset({EvidenceKind.TOPICS}), topics=topics)


OTHER_READERS: Final[Mapping[str, Callable[[Section], Part | None]]] = {
    KCAT: _kcat,
    RPK_HEALTH: _rpk_health,
    TOPIC_PAGE: _page,
}
