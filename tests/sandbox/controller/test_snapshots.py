"""Snapshots of the metadata log: when they are written, what goes behind them, and who lags is given them (KIP-630)."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.image import ClusterImage, ImageDelta
from eosctl.sandbox.metadata.log import MetadataLog
from eosctl.sandbox.metadata.replay import replay
from eosctl.sandbox.metadata.snapshot import find_snapshots
from eosctl.sandbox.metadata.snapshot_records import encode_snapshot, image_of, records_gone, snapshot_records
from eosctl.sandbox.ports import METADATA_TOPIC, Emulation
from eosctl.storage.errors import DamagedFile
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal import metadata as records
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    RequestPartitionSnapshot,
    RequestTopicSnapshot,
    SnapshotId,
)
from eosctl.wire.messages.internal.metadata.client_quota_record import EntityData
from tests.sandbox.controller.test_metadata_log import described
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

CONTROLLER = 100
#: Something new is in a snapshot a second later; only the last snapshot is kept, and its log in segments of a second.
EAGER = {
    "metadata.log.max.record.bytes.between.snapshots": "400",
    "metadata.max.retention.ms": "1000",
    "metadata.log.segment.ms": "1000",
    "metadata.max.idle.interval.ms": "0",
}


@pytest.fixture(params=["4.3", "3.9"])
def release(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def harness(tmp_path: Path, release: str) -> Iterator[Harness]:
    harness = Harness(tmp_path, ClusterShape(2, Emulation(release), settings=EAGER, fast=True))
    yield harness
    harness.close()


def log_of(harness: Harness, node_id: int) -> MetadataLog:
    return harness.core.nodes[node_id].metadata_log


def everything(image: ClusterImage) -> dict[str, object]:
    """Return all that an image knows, as values that can be compared."""
    return described(image) | {
        "acls": dict(image.acls),
        "scram": dict(image.scram),
        "quotas": dict(image.quotas),
        "controllers": dict(image.controllers),
        "tokens": dict(image.delegation_tokens),
        "migration": image.zk_migration,
    }


def delete(harness: Harness, topic: str) -> None:
    answer = harness.request(1, ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=[topic], timeout_ms=1000))
    assert not answer.responses[0].error_code


def busy(harness: Harness, prefix: str, count: int = 7) -> None:
    """Create topics with settings, a second apart, and delete every third."""
    client = EosClient(harness)
    for number in range(count):
        client.create_topic(f"{prefix}-{number}", 2, 1, retention_ms=str(1000 + number))
        if number % 3 == 0:
            delete(harness, f"{prefix}-{number}")
        harness.advance(1000)


# --- the records of an image ------------------------------------------------------------------------------------


def full_image() -> ClusterImage:
    topic, other = bytes(15) + b"\x07", bytes(15) + b"\x08"
    return image_of(
        [
            records.FeatureLevelRecord("group.version", 1),
            records.FeatureLevelRecord("metadata.version", 30),
            records.ZkMigrationStateRecord(1),
            records.RegisterBrokerRecord(1, False, bytes(16), 5, rack="a", log_dirs=[bytes(15) + b"\x09"]),
            records.RegisterControllerRecord(100, bytes(16), False),
            records.TopicRecord("orders", topic),
            records.PartitionRecord(0, topic, [1, 2], [1], [], [2], 1, 3, 4, [bytes(16)] * 2, 0, [2], [1]),
            records.TopicRecord("returns", other),
            records.ConfigRecord(2, "orders", "retention.ms", "5"),
            records.ConfigRecord(4, "", "min.insync.replicas", "1"),
            records.ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", 1024.0, False),
            records.ProducerIdsRecord(1, 5, 2000),
            records.AccessControlEntryRecord(bytes(15) + b"\x01", 2, "orders", 3, "User:a", "*", 3, 3),
            records.UserScramCredentialRecord("a", 1, b"s", b"t", b"k", 4096),
            records.DelegationTokenRecord("User:a", "User:a", [], 1, 2, 3, "token"),
        ]
    )


def test_an_image_is_what_its_records_make() -> None:
    image = full_image()
    listed = list(snapshot_records(image))
    assert everything(image_of(listed)) == everything(image)
    assert listed[0].name == "metadata.version"  # readers need to know how to read the rest


def test_who_takes_a_snapshot_forgets_what_it_has_not() -> None:
    old, new = full_image(), image_of([records.FeatureLevelRecord("metadata.version", 30)])
    for record in [*records_gone(old, new), *snapshot_records(new)]:
        replay(old, record, ImageDelta())
    kept = {"controllers", "migration", "producer ids"}  # they are only ever replaced
    assert {key: value for key, value in everything(old).items() if key not in kept} == {
        key: value for key, value in everything(new).items() if key not in kept
    }


# --- when, and what goes ----------------------------------------------------------------------------------------


def test_every_node_writes_its_own_and_they_are_read_only(harness: Harness) -> None:
    busy(harness, "orders", 3)
    for node_id in (CONTROLLER, 1, 2):
        log = log_of(harness, node_id)
        assert log.snapshots
        latest = log.snapshots[-1]
        assert latest.end_offset <= log.high_watermark
        assert stat.S_IMODE(latest.path.stat().st_mode) == 0o400
        below = image_of(record for batch in log.batches(latest.end_offset) for record in batch.records)
        assert everything(image_of(latest.batch().records)) == everything(below)
    controller = harness.core.nodes[CONTROLLER].controller
    assert controller is not None
    last = log_of(harness, CONTROLLER)
    replayed = image_of(record for batch in last.batches() for record in batch.records)
    assert everything(replayed) == everything(controller.image)


@pytest.mark.parametrize(("idle_ms", "later"), [(0, 1), (500, 4)])
def test_without_news_the_interval_brings_none(tmp_path: Path, idle_ms: int, later: int) -> None:
    settings = {"metadata.log.max.snapshot.interval.ms": "60000", "metadata.max.idle.interval.ms": str(idle_ms)}
    harness = Harness(tmp_path, ClusterShape(1, settings=settings, fast=True))
    EosClient(harness).create_topic("orders")
    harness.advance(50_000)
    assert not log_of(harness, 1).snapshots
    harness.advance(15_000)
    assert len(log_of(harness, 1).snapshots) == 1
    harness.advance(200_000)
    assert len(log_of(harness, 1).snapshots) == later
    harness.close()


def test_a_restart_loads_the_snapshot_and_the_log(harness: Harness, tmp_path: Path, release: str) -> None:
    busy(harness, "orders")
    harness.advance(61_000)
    log = log_of(harness, CONTROLLER)
    assert log.log.start_offset == log.snapshots[0].end_offset > 0
    assert log.log.store.segments[0].base_offset > 0
    harness.advance(61_000)
    left = {path.suffix for path in log.directory.iterdir()}
    assert ".deleted" not in left
    before = harness.core.broker(1).metadata
    harness.core.stop(clean=False)
    again = Harness(tmp_path, ClusterShape(2, Emulation(release), settings=EAGER, fast=True))
    after = again.core.broker(1).metadata
    assert after.configs == before.configs
    assert {name: topic.topic_id for name, topic in after.topics.items()} == {
        name: topic.topic_id for name, topic in before.topics.items()
    }
    assert log_of(again, CONTROLLER).log.start_offset > 0
    EosClient(again).create_topic("later")
    assert "later" in again.core.broker(2).metadata.topics
    again.close()


# --- who lags -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restarted", [True, False])
def test_an_observer_that_lags_is_given_the_snapshot(harness: Harness, restarted: bool) -> None:
    """One that was away, or cut off, needs what the controller has removed; what was deleted meanwhile goes."""
    busy(harness, "early", 3)
    if restarted:
        harness.kill(2)
    else:
        harness.core.network.cut(2)
    behind = log_of(harness, 2).end_offset if not restarted else 0
    harness.advance(2000)
    delete(harness, "early-1")
    busy(harness, "late")
    harness.advance(61_000)
    assert log_of(harness, CONTROLLER).log.start_offset > behind
    if restarted:
        harness.restart(2)
    else:
        harness.core.network.heal()
    harness.advance(5000)
    log, image = log_of(harness, 2), harness.core.broker(2).metadata
    assert log.log.start_offset > 0
    assert everything(image) == everything(harness.core.broker(1).metadata)
    assert "early-1" not in image.topics
    assert not image.brokers[2].fenced
    EosClient(harness).create_topic("after", 1, 2)
    assert "after" in harness.core.broker(2).metadata.topics


def test_a_voter_that_lags_is_given_the_snapshot_and_can_lead(tmp_path: Path, release: str) -> None:
    shape = ClusterShape(1, Emulation(release), settings=EAGER, fast=True, controller_count=3)
    harness = Harness(tmp_path, shape, seed=3)
    harness.advance(2000)
    harness.kill(102)
    busy(harness, "orders")
    harness.advance(61_000)
    harness.restart(102)
    harness.advance(2000)
    assert log_of(harness, 102).log.start_offset > 0
    for other in (100, 101):
        controller = harness.core.nodes[other].controller
        if controller is not None and controller.is_active:
            harness.kill(other)
            break
    harness.advance(2000)
    harness.core.stop_node(101 if other == 100 else 100, clean=True)
    harness.restart(other)
    harness.advance(3000)
    EosClient(harness).create_topic("after")
    assert {"orders-1", "orders-5", "after"} <= set(harness.core.broker(1).metadata.topics)
    harness.close()


def ask(harness: Harness, **changes: object) -> tuple[int, int, int, bytes]:
    """Ask the controller for a piece; returns both errors, the position and the bytes."""
    log = log_of(harness, CONTROLLER)
    latest = log.snapshots[-1]
    asked = RequestPartitionSnapshot(0, -1, SnapshotId(latest.end_offset, latest.epoch), 0)
    name = str(changes.pop("name", METADATA_TOPIC))
    cluster = changes.pop("cluster", None)
    max_bytes = changes.pop("max_bytes", 100)
    asked = replace(asked, **changes)  # type: ignore[arg-type]
    request = FetchSnapshotRequest(cluster, 1, max_bytes, [RequestTopicSnapshot(name, [asked])])  # type: ignore[arg-type]
    answers: list[object] = []
    harness.core.nodes[1].channel.send(CONTROLLER, ApiKey.FETCH_SNAPSHOT, 1, request, answers.append)
    harness.run_until(lambda: bool(answers))
    response = answers[0]
    if not response.topics:  # type: ignore[attr-defined]
        return response.error_code, 0, -1, b""  # type: ignore[attr-defined]
    part = response.topics[0].partitions[0]  # type: ignore[attr-defined]
    return response.error_code, part.error_code, part.position, part.unaligned_records  # type: ignore[attr-defined]


def test_a_snapshot_is_sent_in_chunks_and_errors_are_rejected(harness: Harness) -> None:
    busy(harness, "orders", 2)
    whole = log_of(harness, CONTROLLER).snapshots[-1].path.read_bytes()
    assert ask(harness) == (0, 0, 0, whole[:100])
    assert ask(harness, position=90, max_bytes=20) == (0, 0, 90, whole[90:110])
    assert ask(harness, position=len(whole))[1] == ErrorCode.POSITION_OUT_OF_RANGE
    assert ask(harness, position=-1)[1] == ErrorCode.POSITION_OUT_OF_RANGE
    assert ask(harness, snapshot_id=SnapshotId(1, 99))[1] == ErrorCode.SNAPSHOT_NOT_FOUND
    assert ask(harness, current_leader_epoch=0)[1] == ErrorCode.FENCED_LEADER_EPOCH
    assert ask(harness, current_leader_epoch=999)[1] == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert ask(harness, partition=1)[1] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(harness, name="orders")[1] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(harness, cluster="another")[0] == ErrorCode.INCONSISTENT_CLUSTER_ID


# --- files --------------------------------------------------------------------------------------------------------


def test_what_an_interrupted_write_left_is_removed(tmp_path: Path) -> None:
    name = "00000000000000000007-0000000002.checkpoint"
    data = encode_snapshot(full_image(), "4.3", 2, 5, 6)
    (tmp_path / name).write_bytes(data)
    (tmp_path / f"{name}.part").write_bytes(data[:9])
    (tmp_path / f"{name}.deleted").write_bytes(b"")
    (found,) = find_snapshots(tmp_path, 7)
    assert (found.end_offset, found.epoch, found.last_log_ms()) == (7, 2, 5)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    (tmp_path / name).write_bytes(data[5:])
    with pytest.raises(DamagedFile, match="header of a snapshot"):
        found.last_log_ms()
