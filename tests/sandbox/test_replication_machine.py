"""Random failures of three brokers: cut links, kills, restarts, lagging followers; nothing acknowledged is ever lost.

A producer sends each batch until it is answered. An unknown outcome (a timeout, a broken connection) leaves the
batch uncertain: it may be in the log once or not at all. Records sent with acks=1 are uncertain from the start, and are
what makes logs diverge. The model is checked when all is healed; what must hold at any moment is checked all the time.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC, Emulation
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import decode_records, encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient, Handle
from tests.sandbox.harness import Harness
from tests.sandbox.test_exactly_once_machine import examples

ORDERS = TopicPartition("orders", 0)
STATE = TopicPartition(TRANSACTION_STATE_TOPIC, 0)
BROKERS = (1, 2, 3)
MAX_KILLS = 5
ATTEMPTS = 3
PATIENCE_MS = 120_000  # requests whose frames vanished are given up after 30 s
BROKER_SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.wait.max.ms": "200",
}


class Replication(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.harness = Harness(self.folder, ClusterShape(3, Emulation("4.3"), 1, BROKER_SETTINGS))
        self.client = EosClient(self.harness)
        self.acknowledged: list[str] = []
        self.uncertain: set[str] = set()
        self.seen: list[str] = []
        self.count = self.kill_count = 0
        self.handle = Handle(None, -1, -1)
        self.ending: LinkFault | None = None

    def teardown(self) -> None:
        self.harness.close()
        shutil.rmtree(self.folder)

    @initialize()
    def create(self) -> None:
        self.client.create_topic("orders", 1, 3, min_insync_replicas="2")
        self.client.init("app")  # makes the topic of transaction states
        self.harness.advance(500)

    # --- load -------------------------------------------------------------------------------------------------------

    def next_value(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def leader(self) -> Broker | None:
        """Return the broker that leads as it knows itself and the controller agrees."""
        for broker in self.harness.core.brokers():
            hosted = broker.replicas.partitions.get(ORDERS)
            known = broker.metadata.leadership(ORDERS)
            if hosted is not None and hosted.is_leader and known is not None and known.leader_id == broker.node_id:
                return broker
        return None

    def send(self, value: str, acks: int) -> ErrorCode | None:
        """Send a record once; return None without a definite response."""
        leader = self.leader()
        if leader is None:
            return ErrorCode.LEADER_NOT_AVAILABLE
        batch = encode_batch([Record(0, leader.runtime.now_ms(), None, value.encode())])
        data = [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])]
        pending = self.harness.client(leader.node_id).send(ApiKey.PRODUCE, 9, ProduceRequest(None, acks, 3_000, data))
        self.harness.run_until(lambda: pending.is_over)
        if pending.response is None:
            return None
        return ErrorCode(pending.response.responses[0].partition_responses[0].error_code)

    @rule()
    def produce(self) -> None:
        value = self.next_value()
        error = self.send(value, acks=-1)
        if error is ErrorCode.NONE:
            self.acknowledged.append(value)
        elif error in (None, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND) or error in (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ):
            self.uncertain.add(value)
        else:
            assert error in (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.LEADER_NOT_AVAILABLE), error

    @rule()
    def produce_without_waiting(self) -> None:
        value = self.next_value()
        self.send(value, acks=1)
        self.uncertain.add(value)

    @rule()
    def read(self) -> None:
        """What was read once is never unread, and never reordered."""
        leader = self.leader()
        if leader is None:
            return
        hosted = leader.replicas.partitions[ORDERS]
        seen = values_of(hosted, hosted.log.high_watermark)
        shorter = min(len(seen), len(self.seen))
        assert seen[:shorter] == self.seen[:shorter]
        self.seen = max(seen, self.seen, key=len)

    # --- faults -----------------------------------------------------------------------------------------------------

    @rule(first=st.sampled_from(BROKERS), second=st.sampled_from(BROKERS))
    def cut_link(self, first: int, second: int) -> None:
        if first != second:
            self.harness.core.network.cut(first, second)

    @rule(broker_id=st.sampled_from(BROKERS))
    def isolate(self, broker_id: int) -> None:
        """Isolate a broker, which continues for a while, also as leader."""
        self.harness.core.network.cut(broker_id)

    @rule()
    def isolate_leader(self) -> None:
        leader = self.leader()
        if leader is not None:
            self.harness.core.network.cut(leader.node_id)

    @rule()
    def heal(self) -> None:
        self.harness.core.network.heal()

    @precondition(lambda self: self.kill_count < MAX_KILLS)
    @rule(broker_id=st.sampled_from(BROKERS))
    def kill(self, broker_id: int) -> None:
        if broker_id in self.harness.core.nodes:
            self.kill_count += 1
            self.harness.kill(broker_id)

    @rule(broker_id=st.sampled_from(BROKERS))
    def start(self, broker_id: int) -> None:
        if broker_id not in self.harness.core.nodes:
            self.harness.core.start_node(broker_id)

    @rule(ms=st.sampled_from([10, 300, 3_000]))
    def pass_time(self, ms: int) -> None:
        self.harness.advance(ms)

    # --- a commit whose outcome cannot be made durable --------------------------------------------------------------

    @rule(commit=st.booleans())
    def end_while_the_coordinator_is_alone(self, commit: bool) -> None:
        """No marker may be written before the outcome is durable: another coordinator might decide otherwise."""
        self.recover()
        handle = self.begin_transaction()
        coordinator = self.client.coordinator("app")
        for other in BROKERS:
            if other != coordinator:
                fault = LinkFault(FaultAction.DROP, source=other, destination=coordinator, api_key=ApiKey.FETCH)
                self.harness.core.network.add_fault(fault)
        self.harness.advance(500)  # what was under way
        state = self.harness.core.broker(coordinator).replicas.partitions[STATE]
        before = state.log.end_offset
        request = EndTxnRequest("app", handle.producer_id, handle.producer_epoch, commit)
        pending = self.harness.client(coordinator).send(ApiKey.END_TXN, 3, request)
        self.harness.advance(200)
        if state.log.high_watermark <= before:
            assert pending.response is None or pending.response.error_code
            assert self.markers_of(handle) == 0
        self.harness.core.network.heal()

    def begin_transaction(self) -> Handle:
        """Return a producer with an open transaction on the topic."""
        for _ in range(ATTEMPTS):
            handle, value = self.client.init("app"), self.next_value()
            self.uncertain.add(value)
            error = self.client.produce(handle, ORDERS, [value])
            if error is not ErrorCode.REQUEST_TIMED_OUT:  # followers still wait for answers that a cut link swallowed
                break
            self.recover()
        assert error is ErrorCode.NONE
        return handle

    @precondition(lambda self: self.kill_count + len(BROKERS) - 1 <= MAX_KILLS)
    @rule()
    def lose_all_that_were_in_sync(self) -> None:
        """A replica that lags, for it was cut off, is all that is left for a while."""
        self.recover()
        leader = self.leader()
        assert leader is not None
        left = next(broker for broker in BROKERS if broker != leader.node_id)
        self.harness.core.network.cut(left)
        self.harness.advance(5_000)
        self.produce()
        for broker_id in BROKERS:
            if broker_id != left:
                self.kill_count += 1
                self.harness.kill(broker_id)
        self.harness.core.network.heal()
        self.harness.advance(5_000)

    def markers_of(self, handle: Handle) -> int:
        leader = self.leader()
        assert leader is not None
        batches = leader.replicas.partitions[ORDERS].log.batches()
        return sum(
            header.is_control
            and header.producer_id == handle.producer_id
            and header.producer_epoch == handle.producer_epoch
            for header, _ in batches
        )

    # --- what must hold ---------------------------------------------------------------------------------------------

    @invariant()
    def the_high_watermark_is_on_every_replica_in_sync(self) -> None:
        """What readers may see is held by every member of the ISR that lives (the controller's, not the leader's)."""
        leader = self.leader()
        if leader is None:
            return
        hosted = leader.replicas.partitions[ORDERS]
        for broker in self.harness.core.brokers():
            replica = broker.replicas.partitions.get(ORDERS)
            if broker.node_id in hosted.isr and replica is not None and replica.leader_epoch == hosted.leader_epoch:
                assert hosted.log.high_watermark <= replica.log.end_offset

    @rule()
    def nothing_is_lost(self) -> None:
        self.recover()
        leader = self.leader()
        assert leader is not None
        hosted = leader.replicas.partitions[ORDERS]
        values = values_of(hosted, hosted.log.end_offset)
        assert len(values) == len(set(values))
        certain = [value for value in values if value not in self.uncertain]
        assert certain == self.acknowledged
        assert values[: len(self.seen)] == self.seen
        replicas = [broker.replicas.partitions[ORDERS] for broker in self.harness.core.brokers()]
        assert len({b"".join(data for _, data in replica.log.batches()) for replica in replicas}) == 1

    def recover(self) -> None:
        """Heal everything and wait until all replicas are in sync again."""
        self.harness.core.network.heal()
        for broker_id in BROKERS:
            if broker_id not in self.harness.core.nodes:
                self.harness.core.start_node(broker_id)
        self.harness.run_until(lambda: self.harness.core.is_ready and self.is_in_sync, PATIENCE_MS)

    @property
    def is_in_sync(self) -> bool:
        leader = self.leader()
        for partition in (ORDERS, STATE):
            replicas = [broker.replicas.partitions.get(partition) for broker in self.harness.core.brokers()]
            leading = [replica for replica in replicas if replica is not None and replica.is_leader]
            if len(leading) != 1 or None in replicas or len(leading[0].isr) < len(BROKERS):
                return False
            ends = {(replica.log.end_offset, replica.leader_epoch) for replica in replicas if replica is not None}
            if len(ends) > 1 or leading[0].log.high_watermark < leading[0].log.end_offset:
                return False
        return leader is not None


def values_of(replica: Partition, end_offset: int) -> list[str]:
    return [
        (record.value or b"").decode()
        for header, batch in replica.log.batches()
        if header.next_offset <= end_offset and not header.is_control
        for record in decode_records(batch, header)
    ]


def test_nothing_acknowledged_is_lost_despite_failures() -> None:
    run_state_machine_as_test(Replication, settings=examples(30))
