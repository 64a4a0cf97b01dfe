"""Verification of transactional appends: batches, mapping of codes, retries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.add_partitions_to_txn_manager import (
    AddPartitionsToTxnManager,
    produce_error,
)
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC, Emulation, PartitionLeadership
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ZERO, ONE, TWO = (TopicPartition("orders", index) for index in range(3))


class Leader:
    """A partition leader that requests verification."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.renewals = 0
        self.renewed: ErrorCode | None = None
        self.manager = AddPartitionsToTxnManager(
            runtime=world.runtime,
            config=world.config,
            emulation=world.emulation,
            metadata=world.metadata,
            channel=world.channel,
        )

    def ask(
        self,
        producer_id: int,
        epoch: int = 0,
        partition: TopicPartition = ZERO,
        *,
        name: str = "app",
        add: bool = False,
        knows_abortable: bool = True,
    ) -> list[ErrorCode]:
        codes: list[ErrorCode] = []
        self.manager.verify_partition(
            name,
            producer_id,
            epoch,
            partition,
            add_partition=add,
            done=codes.append,
            renew=self.renew,
            knows_abortable=knows_abortable,
        )
        return codes

    def renew(self) -> ErrorCode | None:
        self.renewals += 1
        return self.renewed


@pytest.fixture
def leader(world: Any) -> Leader:
    return Leader(world)


def sent(world: Any) -> list[Any]:
    return [request for _, api, request in world.channel.sent if api == ApiKey.ADD_PARTITIONS_TO_TXN]


@pytest.mark.parametrize(("knows_abortable", "missing"), [(True, 120), (False, 48)])
def test_codes(world: Any, leader: Leader, knows_abortable: bool, missing: int) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    asked = [
        leader.ask(producer_id, partition=ZERO, knows_abortable=knows_abortable),
        leader.ask(producer_id, partition=ONE, knows_abortable=knows_abortable),
    ]
    world.runtime.run()
    assert asked == [[0], [missing]]
    for other_id, epoch, code in ((producer_id + 7, 0, 49), (producer_id, 1, 47)):
        question = leader.ask(other_id, epoch)
        world.runtime.run()
        assert question == [code]


def test_an_unknown_id_has_no_mapping(world: Any, leader: Leader) -> None:
    codes = leader.ask(5, name="nobody")
    world.runtime.run()
    assert codes == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]


def test_one_request_per_node_holds_what_one_turn_asks(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0, 1)
    asked = [leader.ask(producer_id, partition=partition) for partition in (ZERO, ONE)] + [leader.ask(9, name="other")]
    world.runtime.run()
    assert asked == [[0], [0], [49]]
    (request,) = sent(world)
    assert [(entry.transactional_id, entry.verify_only) for entry in request.transactions] == [
        ("app", True),
        ("other", True),
    ]


def test_partitions_wait_while_a_request_is_in_flight(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0, 1, 2)
    world.channel.blocked.add(1)
    asked = [leader.ask(producer_id, partition=ZERO)]
    world.runtime.run()
    asked += [leader.ask(producer_id, partition=partition) for partition in (ONE, TWO)]
    world.runtime.run()
    assert len(sent(world)) == 1
    assert asked == [[], [], []]
    world.channel.unblock(1)
    assert asked == [[0], [0], [0]]
    assert len(sent(world)) == 2


def test_the_older_of_two_questions_about_one_partition_hears_13(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    older, newer = leader.ask(producer_id), leader.ask(producer_id)
    world.runtime.run()
    assert (older, newer) == ([ErrorCode.NETWORK_EXCEPTION], [ErrorCode.NONE])


def test_the_lower_of_two_epochs_is_fenced_without_asking(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    world.init()
    world.add(producer_id, 1, 0)
    old, new, older = leader.ask(producer_id, 0), leader.ask(producer_id, 1), leader.ask(producer_id, 0)
    world.runtime.run()
    assert (old, new, older) == ([47], [0], [47])


def test_a_broken_link_and_a_missing_coordinator(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    world.channel.cut.add(1)
    broken = leader.ask(producer_id)
    world.runtime.run()
    assert broken == [ErrorCode.NETWORK_EXCEPTION]
    for index in range(5):
        world.metadata.leaders[TopicPartition(TRANSACTION_STATE_TOPIC, index)] = PartitionLeadership(-1, 1)
    assert leader.ask(producer_id) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    for index in range(5):
        del world.metadata.leaders[TopicPartition(TRANSACTION_STATE_TOPIC, index)]
    assert leader.ask(producer_id) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]


def test_adding_opens_the_transaction(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    asked = [leader.ask(producer_id, partition=partition, add=True) for partition in (ZERO, ONE)]
    world.runtime.run()
    assert asked == [[0], [0]]
    assert world.state().state is TransactionState.ONGOING
    assert world.state().partitions == {ZERO, ONE}
    assert world.state().client_transaction_version == (0 if world.emulation.is_3_9 else 2)


def test_verifying_and_adding_for_one_id_go_into_two_requests(world: Any, leader: Leader) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    asked = [leader.ask(producer_id, partition=ZERO), leader.ask(producer_id, partition=ONE, add=True)]
    world.runtime.run()
    assert asked == [[0], [0]]
    assert [len(request.transactions) for request in sent(world)] == [1, 1]


@pytest.mark.parametrize(("completes_after_ms", "code"), [(50, 0), (150, 51)])
def test_4_x_adds_again_while_the_last_transaction_completes(
    make_world: Any, completes_after_ms: int, code: int
) -> None:
    world = make_world("4.3-tv2", brokers=2)
    leader = Leader(world)
    world.metadata.leaders[ONE] = PartitionLeadership(2, 0)
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 1, version=2)
    world.channel.blocked.add(2)
    world.end(producer_id, 0, True, version=2)
    codes = leader.ask(producer_id, 1, ZERO, add=True)
    world.runtime.advance(completes_after_ms)
    world.channel.unblock(2)
    world.runtime.advance(100)
    assert codes == [code]
    assert leader.renewals > 0


def test_a_marker_between_two_attempts_does_no_harm(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(broker_count=1, emulation=Emulation("4.3")))
    client = EosClient(harness, implicit=True)
    client.create_topic("orders")
    handle = client.init("app")
    assert client.produce(handle, ZERO, ["first"]) is ErrorCode.NONE
    markers = LinkFault(FaultAction.DELAY, api_key=int(ApiKey.WRITE_TXN_MARKERS), requests=True, delay_ms=30)
    harness.core.network.add_fault(markers)
    assert client.end(handle, commit=True) is ErrorCode.NONE
    assert client.produce(handle, ZERO, ["second"]) is ErrorCode.NONE
    assert markers.hit_count == 1
    harness.close()


def test_a_retry_ends_where_the_leader_does_not_begin_again(make_world: Any) -> None:
    world = make_world("4.3-tv2", brokers=2)
    leader = Leader(world)
    world.metadata.leaders[ONE] = PartitionLeadership(2, 0)
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 1, version=2)
    world.channel.blocked.add(2)
    world.end(producer_id, 0, True, version=2)
    leader.renewed = ErrorCode.INVALID_PRODUCER_EPOCH
    codes = leader.ask(producer_id, 1, ZERO, add=True)
    world.runtime.advance(30)
    assert (codes, leader.renewals) == ([ErrorCode.INVALID_PRODUCER_EPOCH], 1)


def test_3_9_does_not_add_again(make_world: Any) -> None:
    world = make_world("3.9-tv0")
    world.channel.blocked.add(1)
    leader = Leader(world)
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    world.end(producer_id, 0, True)
    codes = leader.ask(producer_id, add=True)
    waiting = len(world.channel.waiting)
    world.channel.waiting.clear()
    assert waiting == 1  # the marker; answer the question alone
    world.channel.blocked.clear()
    world.runtime.run()
    assert codes == [ErrorCode.CONCURRENT_TRANSACTIONS]


@pytest.mark.parametrize(
    ("code", "verified", "added"),
    [(0, 0, 0), (13, 19, 19), (14, 19, 19), (15, 19, 19), (16, 19, 19), (51, 19, 51), (47, 47, 47), (48, 48, 48)],
)
def test_what_a_producer_hears(code: int, verified: int, added: int) -> None:
    assert produce_error(ErrorCode(code), add_partition=False) == verified
    assert produce_error(ErrorCode(code), add_partition=True) == added
