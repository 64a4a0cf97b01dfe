"""The controller's state comes from its log alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.controller import topic_growth
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.image import ClusterImage, ImageDelta
from eosctl.sandbox.metadata.records import encode_leader_change, encode_metadata_batch, replay_batches
from eosctl.sandbox.metadata.replay import replay
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from eosctl.wire.messages.internal.metadata.topic_record import TopicRecord
from eosctl.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

CONTROLLER = 100


def described(image: ClusterImage) -> dict[str, object]:
    return {
        "topics": {name: (topic.topic_id, dict(topic.partitions)) for name, topic in image.topics.items()},
        "brokers": dict(image.brokers),
        "configs": dict(image.configs),
        "features": dict(image.features),
        "producer ids": image.next_producer_id,
    }


def test_every_broker_and_a_replay_agree_with_the_controller(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(3, fast=True))
    client = EosClient(harness)
    client.create_topic("orders", 3, 3)
    client.init("app")
    harness.kill(2)
    harness.advance(2000)
    harness.restart(2)
    harness.advance(1000)
    controller = harness.core.nodes[CONTROLLER].controller
    assert controller is not None
    replayed = ClusterImage()
    for batch in controller.log.batches():
        for record in batch.records:
            replay(replayed, record, ImageDelta())
    assert described(replayed) == described(controller.image)
    for broker in harness.core.brokers():
        assert described(broker.metadata) == described(controller.image)
    harness.close()


@pytest.mark.parametrize("clean", [True, False])
def test_a_restarted_cluster_remembers_everything(tmp_path: Path, clean: bool) -> None:
    shape = ClusterShape(1, Emulation("4.3"), 1, fast=True)
    harness = Harness(tmp_path, shape)
    client = EosClient(harness)
    client.create_topic("orders", 2, 1, retention_ms="12345")
    handle = client.init("app")
    assert client.produce(handle, TopicPartition("orders", 0), ["a"]) is ErrorCode.NONE
    assert client.end(handle, commit=True) is ErrorCode.NONE
    topic_id = harness.core.broker(1).metadata.topic_id("orders")
    cluster_id = harness.core.cluster_id
    harness.core.stop(clean=clean)

    again = Harness(tmp_path, shape)
    image = again.core.broker(1).metadata
    assert again.core.cluster_id == cluster_id
    assert image.topic_id("orders") == topic_id
    assert image.config(2, "orders")["retention.ms"] == "12345"
    assert image.finalized_feature("transaction.version") == 1
    reader = EosClient(again)
    assert reader.read(TopicPartition("orders", 0)) == ["a"]
    newer = reader.init("app")
    assert (newer.producer_id, newer.producer_epoch) == (handle.producer_id, handle.producer_epoch + 1)
    assert reader.init("other").producer_id >= 1000  # a block is never handed out twice
    again.close()


def test_a_dynamic_setting_reaches_the_broker_and_survives(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    request = IncrementalAlterConfigsRequest(
        [AlterConfigsResource(4, "", [AlterableConfig("transaction.partition.verification.enable", 0, "false")])]
    )
    response = harness.request(1, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    assert response.responses[0].error_code == 0
    assert harness.core.broker(1).config.get_bool("transaction.partition.verification.enable") is False
    harness.kill(1)
    harness.restart(1)
    assert harness.core.broker(1).config.get_bool("transaction.partition.verification.enable") is False
    harness.close()


def test_transaction_version_is_upgraded_live(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(1, Emulation("4.3"), 1))
    update = FeatureUpdateKey("transaction.version", 2, False, 1)
    response = harness.request(1, ApiKey.UPDATE_FEATURES, 1, UpdateFeaturesRequest(1000, [update]))
    assert response.results[0].error_code == 0
    assert harness.core.broker(1).metadata.finalized_feature("transaction.version") == 2
    too_high = FeatureUpdateKey("transaction.version", 9, False, 1)
    response = harness.request(1, ApiKey.UPDATE_FEATURES, 1, UpdateFeaturesRequest(1000, [too_high]))
    assert (response.error_code, list(response.results)) == (ErrorCode.INVALID_UPDATE_VERSION, [])
    back = FeatureUpdateKey("transaction.version", 1, False, 1)
    response = harness.request(1, ApiKey.UPDATE_FEATURES, 1, UpdateFeaturesRequest(1000, [back]))
    assert (response.error_code, list(response.results)) == (ErrorCode.INVALID_UPDATE_VERSION, [])
    harness.close()


def test_batches_round_trip() -> None:
    data = encode_leader_change(1, [1], 0, 3, 1000) + encode_metadata_batch(
        [TopicRecord("a", bytes(16)), TopicRecord("b", bytes(16))], "4.3", 1, 3, 1000
    )
    change, topics = replay_batches(data)
    assert (change.records, change.last_offset) == ([], 0)
    assert [record.name for record in topics.records] == ["a", "b"]
    assert (topics.base_offset, topics.last_offset, topics.epoch) == (1, 2, 3)


def test_requests_for_more_than_a_batch_can_hold_are_refused(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    EosClient(harness).create_topic("orders")
    # Texts and limits of brokers of 3.9.2 and 4.3.1: a topic needs one record in addition to its partitions.
    for count, text in (
        (0x7FFFFFFF, "Excessively large number of partitions per request."),
        (10_000, "Excessively large number of partitions per request."),
        (9_999, "Unable to perform excessively large batch operation."),
    ):
        wanted = CreateTopicsRequest([CreatableTopic("huge", count, 1), CreatableTopic("small", 1, 1)], 1000)
        created = harness.request(1, ApiKey.CREATE_TOPICS, 5, wanted)
        answers = {(topic.error_code, topic.error_message) for topic in created.topics}
        assert answers == {(ErrorCode.POLICY_VIOLATION, text)}
    assert set(harness.core.broker(1).metadata.topics) == {"orders"}
    harness.close()


@pytest.mark.parametrize("count", [12, 0x7FFFFFFF])
def test_a_failed_request_adds_partitions_up_to_the_batch_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """As by a broker of 4.3.1, where 1 partition became 10,001 after the unknown error; here a batch takes 10."""
    monkeypatch.setattr(topic_growth, "MAX_BATCH_RECORDS", 10)
    harness = Harness(tmp_path)
    EosClient(harness).create_topic("orders")
    partitions = CreatePartitionsRequest([CreatePartitionsTopic("orders", count, None)], 1000)
    grown = harness.request(1, ApiKey.CREATE_PARTITIONS, 2, partitions)
    assert (grown.results[0].error_code, grown.results[0].error_message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)
    assert harness.core.broker(1).metadata.partition_count("orders") == 11
    harness.close()
