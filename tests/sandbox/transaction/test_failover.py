"""The coordinator of three brokers is killed in every state; its successor keeps the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.lab.virtual_loop import VirtualLoop
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.registry import client_route
from eosctl.sandbox.core import ClusterCore, ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC, Emulation, RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest

WALL_MS = 1_700_000_000_000.0
LIMIT_S = 10


class Three:
    """Three brokers on virtual time, called through their handlers."""

    def __init__(self, data_dir: Path, emulation: str, transaction_version: int) -> None:
        self.loop = VirtualLoop()
        self.emulation = Emulation(emulation)
        settings = {"transaction.state.log.num.partitions": "3", "auto.create.topics.enable": "false"}
        shape = ClusterShape(3, self.emulation, transaction_version, settings, fast=True)
        self.core = ClusterCore(shape, data_dir, self.loop, WALL_MS, seed=1)
        self.core.start()
        self.until(lambda: self.core.is_ready)
        created = self.ask(1, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([CreatableTopic("orders", 3, 3)], 5_000))
        assert created.topics[0].error_code == 0
        self.until(lambda: self.coordinator_id("app") is not None)

    def until(self, holds: Callable[[], Any]) -> None:
        """Let time pass until a condition holds."""
        deadline = self.loop.time() + LIMIT_S
        while not holds():
            assert self.loop.time() < deadline, "it never happened"
            self.loop.call_later(0.005, self.loop.stop)
            self.loop.run_forever()

    def ask(self, node_id: int, api_key: ApiKey, version: int, request: Any) -> Any:
        """Return the answer of a broker."""
        form = codec(api_key, version)
        route = client_route(api_key, version, self.emulation)
        assert route is not None
        answers: list[Any] = []
        context = RequestContext(
            api_key, version, "test", "127.0.0.1", "User:ANONYMOUS", "PLAINTEXT", False, answers.append
        )
        broker = self.core.broker(node_id)
        self.core.ticks.post(
            lambda: route.handle(broker, context, form.decode_request(form.encode_request(request))[0])
        )
        self.until(lambda: answers)
        return answers[0]

    def coordinator_id(self, name: str) -> int | None:
        """Return the coordinator of a transactional id; None without one."""
        anyone = self.core.brokers()[0].node_id
        found = self.ask(anyone, ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest(name, 1))
        known = found.error_code == ErrorCode.NONE and found.node_id in self.core.nodes
        return int(found.node_id) if known else None

    def coordinate(self, api_key: ApiKey, version: int, request: Any) -> Any:
        """Ask the coordinator of ``app``; repeats while it is loading, moving or busy, as clients do."""
        answer: Any = None

        def settled() -> bool:
            nonlocal answer
            node_id = self.coordinator_id("app")
            if node_id is None:
                return False
            answer = self.ask(node_id, api_key, version, request)
            return code(answer) not in (14, 15, 16, 51)

        self.until(settled)
        return answer

    def state(self) -> str:
        answer = self.coordinate(ApiKey.DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(["app"]))
        return str(answer.transaction_states[0].transaction_state)

    def kill_coordinator(self) -> int:
        node_id = self.coordinator_id("app")
        assert node_id is not None
        self.core.stop_node(node_id, clean=False)
        self.until(lambda: self.coordinator_id("app") not in (None, node_id))
        return node_id

    def close(self) -> None:
        self.core.stop(clean=False)
        self.loop.close()


def code(answer: Any) -> int:
    if hasattr(answer, "transaction_states"):
        return int(answer.transaction_states[0].error_code)
    if hasattr(answer, "results_by_topic_v3_and_below"):
        return int(answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)
    return int(answer.error_code)


@pytest.fixture(params=[("3.9", 0), ("4.3", 1), ("4.3", 2)], ids=["3.9-tv0", "4.3-tv1", "4.3-tv2"])
def three(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Three]:
    cluster = Three(tmp_path, *request.param)
    yield cluster
    cluster.close()


def begin(three: Three) -> int:
    producer_id = int(three.coordinate(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("app", 60_000)).producer_id)
    topics = [AddPartitionsToTxnTopic("orders", [0, 1, 2])]
    added = three.coordinate(ApiKey.ADD_PARTITIONS_TO_TXN, 3, AddPartitionsToTxnRequest("app", producer_id, 0, topics))
    assert code(added) == 0
    return producer_id


def end(three: Three, producer_id: int, committed: bool) -> int:
    return code(three.coordinate(ApiKey.END_TXN, 3, EndTxnRequest("app", producer_id, 0, committed)))


def test_an_open_transaction_stays_open_and_can_be_committed(three: Three) -> None:
    producer_id = begin(three)
    three.kill_coordinator()
    assert three.state() == "Ongoing"
    assert end(three, producer_id, True) == 0
    three.until(lambda: three.state() == "CompleteCommit")


@pytest.mark.parametrize(("committed", "completed"), [(True, "CompleteCommit"), (False, "CompleteAbort")])
def test_a_prepared_outcome_is_carried_out_by_the_successor(three: Three, committed: bool, completed: str) -> None:
    producer_id = begin(three)
    coordinator = three.coordinator_id("app")
    # No marker leaves the coordinator, not even to itself.
    three.core.network.add_fault(LinkFault(FaultAction.DROP, source=coordinator, api_key=ApiKey.WRITE_TXN_MARKERS))
    assert end(three, producer_id, committed) == 0
    assert three.state().startswith("Prepare")
    three.kill_coordinator()
    three.core.network.heal()
    three.until(lambda: three.state() == completed)
    assert end(three, producer_id, committed) == 0
    assert end(three, producer_id, not committed) == ErrorCode.INVALID_TXN_STATE


def test_a_completed_outcome_is_remembered(three: Three) -> None:
    producer_id = begin(three)
    assert end(three, producer_id, True) == 0
    three.until(lambda: three.state() == "CompleteCommit")
    three.kill_coordinator()
    assert three.state() == "CompleteCommit"
    assert end(three, producer_id, True) == 0
    again = three.coordinate(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("app", 60_000))
    assert (again.producer_id, again.producer_epoch) == (producer_id, 1)


def test_the_coordinator_epoch_is_the_leader_epoch(three: Three) -> None:
    begin(three)
    old = three.core.broker(three.coordinator_id("app") or 0)
    partition = TopicPartition(TRANSACTION_STATE_TOPIC, old.transactions.states.partition_index("app"))
    before = old.metadata.leadership(partition)
    three.kill_coordinator()
    new = three.core.broker(three.coordinator_id("app") or 0)
    cached = new.transactions.states.find("app")
    after = new.metadata.leadership(partition)
    assert before is not None
    assert after is not None
    assert after.leader_epoch > before.leader_epoch
    assert not isinstance(cached, ErrorCode | None)
    assert cached.partition.coordinator_epoch == after.leader_epoch
