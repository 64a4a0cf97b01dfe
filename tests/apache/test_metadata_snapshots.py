"""A real broker starts from a sandbox's metadata snapshot, and its own snapshots match the sandbox's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from msgspec.structs import asdict

from eosctl.lab.apache.properties import HOST
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.metadata.log import METADATA_PARTITION
from eosctl.sandbox.metadata.snapshot import MetadataSnapshot, find_snapshots
from eosctl.sandbox.metadata.snapshot_records import image_of, snapshot_records
from eosctl.sandbox.ports import Emulation
from eosctl.storage.names import partition_directory_name
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from tests.apache.test_mounted import PATIENCE_S, real_broker, wait
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

pytestmark = pytest.mark.apache

EAGER = {
    "metadata.log.max.record.bytes.between.snapshots": "400",
    "metadata.max.retention.ms": "1000",
    "metadata.log.segment.ms": "1000",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "2",
}


def shorten(folder: Path, release: str) -> None:
    """Truncate a cluster's metadata log so that it starts with a snapshot."""
    harness = Harness(folder, ClusterShape(1, Emulation(release), settings=EAGER, fast=True))
    client = EosClient(harness)
    for number in range(6):
        client.create_topic(f"orders-{number}", 2, 1, retention_ms=str(86_400_000 + number))
        harness.advance(1000)
    gone = DeleteTopicsRequest(topic_names=["orders-0"], timeout_ms=1000)
    assert not harness.request(1, ApiKey.DELETE_TOPICS, 5, gone).responses[0].error_code
    quota = RequestEntryData([EntityData("user", "a")], [OpData("producer_byte_rate", 1048576.0, False)])
    altered = harness.request(1, ApiKey.ALTER_CLIENT_QUOTAS, 1, AlterClientQuotasRequest([quota], False))
    assert not altered.entries[0].error_code
    client.init("app")
    harness.advance(62_000)
    log = harness.core.nodes[1].metadata_log
    assert log.log.start_offset == log.snapshots[0].end_offset > 0
    harness.advance(62_000)  # the files of what went are gone
    harness.close()


def as_values(records: list[Any]) -> list[str]:
    """Return records in an order of their own, arrays all alike; brokers and features come from hash maps."""

    def plain(value: Any) -> Any:
        if isinstance(value, msgspec.Struct):
            return {name: plain(part) for name, part in asdict(value).items()}
        if isinstance(value, (list, tuple)):
            parts = [plain(part) for part in value]
            return sorted(parts, key=repr) if parts and type(value[0]).__name__.endswith("Feature") else parts
        return value

    return sorted(f"{type(record).__name__} {plain(record)}" for record in records)


def topics_and_settings(image: ClusterImage) -> dict[str, Any]:
    return {
        "topics": {name: (topic.topic_id, len(topic.partitions)) for name, topic in image.topics.items()},
        "configs": image.configs,
        "features": image.features,
        "quotas": image.quotas,
        "producer ids": image.next_producer_id,
    }


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_a_real_broker_continues_from_our_snapshot(tmp_path: Path, version: str) -> None:
    shorten(tmp_path / "sandbox", version[:3])
    data = tmp_path / "sandbox" / "broker-1"
    place = partition_directory_name(*METADATA_PARTITION)
    ours = find_snapshots(data / place, 1)[-1]
    with real_broker(version, tmp_path / "real", data) as node:
        admin = AdminClient({"bootstrap.servers": f"{HOST}:{node.address.port}"})
        topics = set(admin.list_topics(timeout=PATIENCE_S).topics)
        assert {f"orders-{number}" for number in range(1, 6)} <= topics and "orders-0" not in topics
        resource = ConfigResource(ResourceType.TOPIC, "orders-3")
        described = admin.describe_configs([resource])[resource].result(PATIENCE_S)
        assert described["retention.ms"].value == "86400003"
        directory = node.files.data_dir / place

        def theirs() -> list[MetadataSnapshot]:
            return [one for one in find_snapshots(directory, 0) if one.end_offset > ours.end_offset]

        wait(lambda: bool(theirs()), "the real broker writes a snapshot")
        found = theirs()
    image = image_of(ours.batch().records)
    for snapshot in found:
        written = snapshot.batch()
        assert written.is_whole
        again = image_of(written.records)
        assert as_values(list(snapshot_records(again))) == as_values(list(written.records))
        assert topics_and_settings(again) == topics_and_settings(image)
