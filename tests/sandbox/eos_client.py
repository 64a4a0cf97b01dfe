"""A small exactly-once client over the harness, for tests: producers with explicit handles, a read_committed reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from eosctl.wire.records.batch import decode_records, encode_batch, iter_headers
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.record import Record
from tests.sandbox.harness import Harness

GROUP, TRANSACTION = 0, 1
ACKS_ALL = -1
#: Between attempts. In all longer than a coordinator waits (30 s) for the answer to markers that got lost on the way.
PAUSES_MS = (*[20] * 100, *[500] * 120)
RETRIED = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
    }
)


class Sent(NamedTuple):
    """An acknowledged batch of the open transaction: what was sent, and the offset that the broker gave it."""

    batch: bytes
    base_offset: int


@dataclass
class Handle:
    """What a producer instance believes about itself."""

    transactional_id: str | None
    producer_id: int
    producer_epoch: int
    sequences: dict[TopicPartition, int] = field(default_factory=dict)
    added: set[TopicPartition] = field(default_factory=set)
    batches: dict[TopicPartition, list[Sent]] = field(default_factory=dict)


class EosClient:
    """Speaks as a producer below 4.0 (``implicit`` False) or as one of transaction.version 2."""

    def __init__(self, harness: Harness, *, implicit: bool = False) -> None:
        self.harness = harness
        self.implicit = implicit

    # --- where --------------------------------------------------------------------------------------------------

    def any_broker(self) -> int:
        """Return a running broker."""
        return self.harness.core.brokers()[0].node_id

    def leader(self, partition: TopicPartition) -> int:
        """Return the leader as a running broker knows it."""
        for pause_ms in PAUSES_MS:
            leadership = self.harness.core.brokers()[0].metadata.leadership(partition)
            if leadership is not None and leadership.leader_id in self.harness.core.nodes:
                return leadership.leader_id
            self.harness.advance(pause_ms)
        raise TimeoutError(f"{partition} has no leader")

    def coordinator(self, transactional_id: str) -> int:
        """Find the coordinator."""
        return self._find_coordinator(FindCoordinatorRequest(transactional_id, TRANSACTION))

    def coordinator_of_group(self, group_id: str) -> int:
        """Find the coordinator of a consumer group."""
        return self._find_coordinator(FindCoordinatorRequest(group_id, GROUP))

    def _find_coordinator(self, request: FindCoordinatorRequest) -> int:
        for pause_ms in PAUSES_MS:
            found = self.harness.request(self.any_broker(), ApiKey.FIND_COORDINATOR, 3, request)
            if found is not None and not found.error_code and found.node_id in self.harness.core.nodes:
                return int(found.node_id)
            self.harness.advance(pause_ms)
        raise TimeoutError("no coordinator")

    # --- topics -------------------------------------------------------------------------------------------------

    def create_topic(self, name: str, partitions: int = 1, replicas: int = 1, **configs: str) -> None:
        """Create a topic and wait until every partition has a leader."""
        settings = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        topic = CreatableTopic(name, partitions, replicas, (), settings)
        response = self.harness.request(self.any_broker(), ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([topic], 1000))
        assert response.topics[0].error_code == 0, response
        for index in range(partitions):
            self.leader(TopicPartition(name, index))

    # --- producing ----------------------------------------------------------------------------------------------

    def init(self, transactional_id: str, timeout_ms: int = 60_000) -> Handle:
        """Initialize a producer; waits while an older transaction is being ended."""
        for pause_ms in PAUSES_MS:
            answer = self.harness.request(
                self.coordinator(transactional_id),
                ApiKey.INIT_PRODUCER_ID,
                4,
                InitProducerIdRequest(transactional_id, timeout_ms),
            )
            if answer is not None and answer.error_code not in RETRIED:
                assert answer.error_code == 0, answer
                return Handle(transactional_id, answer.producer_id, answer.producer_epoch)
            self.harness.advance(pause_ms)
        raise TimeoutError("InitProducerId goes on answering retriable errors")

    def add_partition(self, handle: Handle, partition: TopicPartition) -> ErrorCode:
        """Add a partition to the transaction."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=handle.transactional_id or "",
            v3_and_below_producer_id=handle.producer_id,
            v3_and_below_producer_epoch=handle.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(partition.topic, [partition.partition])],
        )
        error = ErrorCode.NONE
        for pause_ms in PAUSES_MS:
            node = self.coordinator(handle.transactional_id or "")
            answer = self.harness.request(node, ApiKey.ADD_PARTITIONS_TO_TXN, 3, request)
            if answer is None:
                self.harness.advance(pause_ms)
                continue
            (topic,) = answer.results_by_topic_v3_and_below
            error = ErrorCode(topic.results_by_partition[0].partition_error_code)
            if error not in RETRIED:
                break
            self.harness.advance(pause_ms)
        if error is ErrorCode.NONE:
            handle.added.add(partition)
        return error

    def produce(self, handle: Handle | None, partition: TopicPartition, values: Sequence[str]) -> ErrorCode:
        """Append one batch with acks=all, adding the partition first where this client does that."""
        transactional = handle is not None and handle.transactional_id is not None
        if handle is not None and transactional and not self.implicit and partition not in handle.added:
            error = self.add_partition(handle, partition)
            if error is not ErrorCode.NONE:
                return error
        sequence = -1 if handle is None else handle.sequences.get(partition, 0)
        batch = encode_batch(
            [Record(0, self.harness.core.brokers()[0].runtime.now_ms(), None, value.encode()) for value in values],
            producer_id=-1 if handle is None else handle.producer_id,
            producer_epoch=-1 if handle is None else handle.producer_epoch,
            base_sequence=sequence,
            transactional=transactional,
        )
        error = ErrorCode.NONE
        for pause_ms in PAUSES_MS:
            answer = self.append(partition, batch, handle.transactional_id if handle is not None else None)
            error = ErrorCode.NETWORK_EXCEPTION if answer is None else ErrorCode(answer.error_code)
            if answer is not None and error not in RETRIED:
                break
            self.harness.advance(pause_ms)
        if error is ErrorCode.NONE and handle is not None:
            assert answer is not None
            handle.sequences[partition] = sequence + len(values)
            handle.added.add(partition)
            handle.batches.setdefault(partition, []).append(Sent(batch, answer.base_offset))
        return error

    def append(
        self, partition: TopicPartition, batch: bytes, transactional_id: str | None = None, acks: int = ACKS_ALL
    ) -> PartitionProduceResponse | None:
        """Send one batch once."""
        request = ProduceRequest(
            transactional_id,
            acks,
            1000,
            [TopicProduceData(partition.topic, partition_data=[PartitionProduceData(partition.partition, batch)])],
        )
        version = 12 if self.implicit else 9
        answer = self.harness.request(self.leader(partition), ApiKey.PRODUCE, version, request)
        return None if answer is None else answer.responses[0].partition_responses[0]

    def end(self, handle: Handle, *, commit: bool) -> ErrorCode:
        """Commit or abort."""
        version = 5 if self.implicit else 3
        request = EndTxnRequest(handle.transactional_id or "", handle.producer_id, handle.producer_epoch, commit)
        error = ErrorCode.NONE
        for pause_ms in PAUSES_MS:
            answer = self.harness.request(
                self.coordinator(handle.transactional_id or ""), ApiKey.END_TXN, version, request
            )
            error = ErrorCode.NETWORK_EXCEPTION if answer is None else ErrorCode(answer.error_code)
            if answer is not None and error not in RETRIED:
                if error is ErrorCode.NONE:
                    handle.added.clear()
                    handle.batches.clear()
                    if self.implicit:
                        handle.producer_id, handle.producer_epoch = answer.producer_id, answer.producer_epoch
                        handle.sequences.clear()
                break
            self.harness.advance(pause_ms)
        return error

    # --- reading ------------------------------------------------------------------------------------------------

    def fetch(self, partition: TopicPartition, offset: int, *, committed: bool) -> PartitionData:
        """Fetch once, without waiting."""
        asked = FetchPartition(partition.partition, -1, offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            isolation_level=int(committed),
            topics=[FetchTopic(partition.topic, partitions=[asked])],
        )
        answer = self.harness.request(self.leader(partition), ApiKey.FETCH, 11, request)
        data: PartitionData = answer.responses[0].partitions[0]
        assert data.error_code == 0, data
        return data

    def read(self, partition: TopicPartition, *, committed: bool = True, start: int = 0) -> list[str]:
        """Read everything as a consumer does, leaving out what was aborted."""
        values: list[str] = []
        offset = start
        while True:
            data = self.fetch(partition, offset, committed=committed)
            if not data.records:
                return values
            values_here, offset = _filtered(data, offset)
            values += values_here


def _filtered(data: PartitionData, offset: int) -> tuple[list[str], int]:
    """Apply the consumer's algorithm to one answer: skip batches of aborted producers until their abort marker."""
    waiting = sorted(data.aborted_transactions or (), key=lambda aborted: aborted.first_offset)
    aborted: set[int] = set()
    values = []
    records = data.records or b""
    for position, header in iter_headers(records):
        while waiting and waiting[0].first_offset <= header.last_offset:
            aborted.add(waiting.pop(0).producer_id)
        batch = records[position : position + header.size_bytes]
        found = decode_records(batch, header)
        offset = header.next_offset
        if header.is_control:
            marker = decode_control(found[0]) if found else None  # the cleaner may have emptied it
            if isinstance(marker, EndTxnMarker) and not marker.committed:
                aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            values += [(record.value or b"").decode() for record in found]
    return values, offset
