"""What the topics of a group hash to, held to what a 4.3.1 broker wrote about topics of the same ids."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from eosctl.sandbox.coordinator.group.consumer.topics import existing_partitions, metadata_hash
from eosctl.sandbox.metadata.image import ClusterImage, ImageDelta
from eosctl.sandbox.metadata.replay import replay
from eosctl.wire.internal.metadata import PartitionRecord, RegisterBrokerRecord, TopicRecord

# A broker in rack r1 wrote these for groups subscribed to h1, and to h3, h1 and a topic that did not exist.
IDS = {"h1": bytes.fromhex("6e4f920bfab844a696d08d6afcfd7078"), "h3": bytes.fromhex("8ba88090f78b4c4697908a3ea8d3f17c")}
RECORDED = [(["h1"], -211185392391019242), (["h3", "h1", "nope"], -1405880643233796792)]


class Topics(NamedTuple):
    """The metadata of both topics, with all replicas in the same racks."""

    racks: tuple[str, ...]

    def topic_id(self, topic: str) -> bytes | None:
        return IDS.get(topic)

    def partition_racks(self, topic: str) -> tuple[tuple[str, ...], ...]:
        return (self.racks,) * {"h1": 1, "h3": 3}[topic]


@pytest.mark.parametrize(("topics", "recorded"), RECORDED)
def test_a_real_broker_wrote_the_same_hash(topics: list[str], recorded: int) -> None:
    assert metadata_hash(Topics(("r1",)), topics) == recorded  # type: ignore[arg-type]


def test_racks_count_in_any_order_and_no_topic_counts_nothing() -> None:
    known = {racks: metadata_hash(Topics(racks), ["h1"]) for racks in ((), ("r1",), ("r1", "r2"), ("r2", "r1"))}  # type: ignore[arg-type]
    assert known["r1", "r2"] == known["r2", "r1"]
    assert len(set(known.values())) == 3
    assert metadata_hash(Topics(()), ["nope"]) == 0  # type: ignore[arg-type]


def test_new_metadata_changes_hash_and_partitions() -> None:
    image, seen = ClusterImage(), []
    for record in (
        TopicRecord("h1", IDS["h1"]),
        PartitionRecord(0, IDS["h1"], replicas=[1]),
        RegisterBrokerRecord(broker_id=1, rack="r1"),
        RegisterBrokerRecord(broker_id=1, rack="r2"),
        PartitionRecord(1, IDS["h1"], replicas=[1]),
    ):
        replay(image, record, ImageDelta())
        seen.append((metadata_hash(image, ["h1"]), len(existing_partitions(image, ["h1"]))))
    assert len({found for found, _ in seen}) == len(seen)
    assert seen[2][0] == RECORDED[0][1]
    assert [count for _, count in seen] == [0, 1, 1, 1, 2]
