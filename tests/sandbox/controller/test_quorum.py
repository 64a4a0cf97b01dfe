"""Three controllers on virtual time: elections, failover, partitions of the network, nothing committed is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.log import METADATA_PARTITION
from eosctl.sandbox.ports import METADATA_TOPIC, Emulation
from eosctl.storage.errors import DamagedFile
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from eosctl.wire.messages.internal.metadata.feature_level_record import FeatureLevelRecord
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

CONTROLLERS = (100, 101, 102)
ORDERS = TopicPartition("orders", 0)


@pytest.fixture(params=["4.3", "3.9"])
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    shape = ClusterShape(3, Emulation(request.param), fast=True, controller_count=3)
    harness = Harness(tmp_path, shape, seed=5)
    yield harness
    harness.close()


def controllers(harness: Harness) -> list[Controller]:
    nodes = [harness.core.nodes[node_id] for node_id in CONTROLLERS if node_id in harness.core.nodes]
    return [node.controller for node in nodes if node.controller is not None]


def active(harness: Harness) -> Controller | None:
    """Return the active controller of the newest epoch."""
    found = [controller for controller in controllers(harness) if controller.is_active]
    return max(found, key=lambda controller: controller.leader_epoch, default=None)


def await_active(harness: Harness, besides: int = -1) -> Controller:
    def is_there() -> bool:
        found = active(harness)
        return found is not None and found.node_id != besides

    harness.run_until(is_there)
    found = active(harness)
    assert found is not None
    return found


def metadata_bytes(controller: Controller) -> bytes:
    return b"".join(data for _, data in controller.log.log.batches())


def test_one_leads_and_all_hold_the_same_log(harness: Harness) -> None:
    EosClient(harness).create_topic("orders", 1, 3)
    harness.advance(300)
    assert len([controller for controller in controllers(harness) if controller.is_active]) == 1
    assert len({metadata_bytes(controller) for controller in controllers(harness)}) == 1
    assert len({controller.quorum.epoch for controller in controllers(harness)}) == 1
    assert {controller.log.high_watermark for controller in controllers(harness)} == {
        controllers(harness)[0].log.end_offset
    }


@pytest.mark.parametrize("clean", [True, False])
def test_another_controller_takes_over_with_everything(harness: Harness, clean: bool) -> None:
    client = EosClient(harness)
    client.create_topic("orders", 1, 3)
    former = await_active(harness)
    harness.core.stop_node(former.node_id, clean=clean)
    client.create_topic("returns", 1, 3)
    successor = await_active(harness, former.node_id)
    assert successor.leader_epoch > former.leader_epoch
    assert {"orders", "returns"} <= set(successor.image.topics)
    assert all(not broker.fenced for broker in successor.image.brokers.values())
    handle = client.init("app")
    assert client.produce(handle, ORDERS, ["a"]) is ErrorCode.NONE
    assert client.end(handle, commit=True) is ErrorCode.NONE
    harness.restart(former.node_id)
    harness.advance(500)
    assert len({metadata_bytes(controller) for controller in controllers(harness)}) == 1


def test_a_leader_that_is_cut_off_commits_nothing_and_steps_down(harness: Harness) -> None:
    client = EosClient(harness)
    client.create_topic("orders", 1, 3)
    former = await_active(harness)
    committed = former.log.high_watermark
    harness.core.network.cut(former.node_id)
    lost: list[str] = []
    former.write([FeatureLevelRecord("transaction.version", 1)], lambda: lost.append("committed"))
    successor = await_active(harness, former.node_id)
    harness.advance(1000)
    assert not former.is_active
    assert former.log.high_watermark == committed
    assert former.log.end_offset > committed
    client.create_topic("returns", 1, 3)
    harness.core.network.heal()
    harness.advance(1000)
    assert not lost
    assert metadata_bytes(former) == metadata_bytes(successor)  # what was never committed is gone
    assert "returns" in harness.core.broker(1).metadata.topics


def test_without_a_majority_nothing_is_decided(harness: Harness) -> None:
    await_active(harness)
    leader = active(harness)
    assert leader is not None
    for node_id in CONTROLLERS:
        if node_id != leader.node_id:
            harness.kill(node_id)
    harness.advance(2000)
    assert active(harness) is None
    for node_id in CONTROLLERS:
        if node_id != leader.node_id:
            harness.core.start_node(node_id)
    await_active(harness)


def test_a_restarted_cluster_elects_again_and_remembers(harness: Harness, tmp_path: Path) -> None:
    EosClient(harness).create_topic("orders", 1, 3)
    epoch = await_active(harness).leader_epoch
    shape = harness.core.shape
    harness.core.stop(clean=False)
    again = Harness(tmp_path, shape, seed=6)
    leader = await_active(again)
    assert leader.leader_epoch > epoch
    assert "orders" in leader.image.topics
    directory = again.core.nodes[leader.node_id].logs.metadata_directory
    state = json.loads((directory.directory_of(METADATA_PARTITION) / "quorum-state").read_text())
    assert (state["leaderId"], state["leaderEpoch"]) == (leader.node_id, leader.leader_epoch)
    assert [voter["voterId"] for voter in state["currentVoters"]] == list(CONTROLLERS)
    again.close()


def test_a_rejoining_controller_causes_no_election(tmp_path: Path) -> None:
    """A controller that was cut off first asks whether it could win (KIP-996), so the epoch stays."""
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), fast=True, controller_count=3), seed=5)
    leader = await_active(harness)
    harness.advance(500)
    epoch = leader.quorum.epoch
    other = next(node_id for node_id in CONTROLLERS if node_id != leader.node_id)
    harness.core.network.cut(other)
    harness.advance(3000)
    harness.core.network.heal()
    harness.advance(3000)
    assert active(harness) is leader
    assert leader.quorum.epoch == epoch
    harness.close()


def test_describe_quorum_reports_the_progress_of_each_node(harness: Harness) -> None:
    EosClient(harness).create_topic("orders", 1, 3)
    leader = await_active(harness)
    harness.advance(500)
    request = DescribeQuorumRequest([RequestTopicData(METADATA_TOPIC, [RequestPartitionData(0)])])
    (answer,) = harness.request(1, ApiKey.DESCRIBE_QUORUM, 1, request).topics[0].partitions
    assert (answer.leader_id, answer.leader_epoch) == (leader.node_id, leader.leader_epoch)
    assert answer.high_watermark == leader.log.end_offset
    assert {voter.replica_id for voter in answer.current_voters} == set(CONTROLLERS)
    assert {voter.log_end_offset for voter in answer.current_voters} == {leader.log.end_offset}
    assert {observer.replica_id for observer in answer.observers} == {1, 2, 3}
    assert all(state.last_caught_up_timestamp > 0 for state in (*answer.current_voters, *answer.observers))


def test_describe_quorum_without_majority_times_out(harness: Harness) -> None:
    await_active(harness)
    for node_id in CONTROLLERS[:2]:
        harness.kill(node_id)
    harness.advance(10_000)
    began_ms = harness.now_ms()
    request = DescribeQuorumRequest([RequestTopicData(METADATA_TOPIC, [RequestPartitionData(0)])])
    pending = harness.client(1).send(ApiKey.DESCRIBE_QUORUM, 1, request)
    harness.run_until(lambda: pending.is_over, 120_000)
    assert pending.response.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert harness.now_ms() - began_ms >= 60_000


def test_another_number_of_controllers_is_refused(tmp_path: Path) -> None:
    Harness(tmp_path, ClusterShape(3, fast=True, controller_count=3)).close()
    with pytest.raises(DamagedFile, match=r"written by a quorum of \[100, 101, 102\], not of \[100\]"):
        Harness(tmp_path, ClusterShape(3, fast=True))
