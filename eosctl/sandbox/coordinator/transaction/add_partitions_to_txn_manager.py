"""Verification of transactional appends with the coordinators (KIP-890, Kafka's `AddPartitionsToTxnManager`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from eosctl.model.transaction import TopicPartition, topic_partition
from eosctl.sandbox.ports import (
    TRANSACTION_STATE_TOPIC,
    BrokerConfig,
    Channel,
    Emulation,
    MetadataView,
    Runtime,
)
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import NO_ERROR, ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

Done = Callable[[ErrorCode], None]
Renew = Callable[[], ErrorCode | None]

NO_RETRY_MS: Final = -1

_UNVERIFIABLE: Final = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


def produce_error(error: ErrorCode, *, add_partition: bool) -> ErrorCode:
    """Return the producer's error for a verification result.

    Retriable errors become NOT_ENOUGH_REPLICAS, which every client retries. Produce 12, which adds the partition,
    returns CONCURRENT_TRANSACTIONS unchanged (KAFKA-18662).
    """
    if error in _UNVERIFIABLE or (error is ErrorCode.CONCURRENT_TRANSACTIONS and not add_partition):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return error


class _PendingPartition:
    """A partition to verify or add; an addition is retried until `deadline_ms` while the coordinator is busy."""

    __slots__ = ("deadline_ms", "done", "knows_abortable", "partition", "renew")

    def __init__(
        self, partition: TopicPartition, knows_abortable: bool, deadline_ms: int, done: Done, renew: Renew
    ) -> None:
        self.partition = partition
        self.knows_abortable = knows_abortable
        self.deadline_ms = deadline_ms
        self.done = done
        self.renew = renew


class _Entry:
    """The partitions of a producer that wait for the next request to a coordinator."""

    __slots__ = ("add_partition", "partitions", "producer_epoch", "producer_id", "transactional_id")

    def __init__(self, transactional_id: str, producer_id: int, producer_epoch: int, add_partition: bool) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.add_partition = add_partition
        self.partitions: dict[TopicPartition, _PendingPartition] = {}


class AddPartitionsToTxnManager:
    """One AddPartitionsToTxn request in flight per coordinator; other partitions wait for the next request."""

    def __init__(
        self,
        *,
        runtime: Runtime,
        config: BrokerConfig,
        emulation: Emulation,
        metadata: MetadataView,
        channel: Channel,
    ) -> None:
        self._runtime = runtime
        self._metadata = metadata
        self._channel = channel
        self._config = config
        self._request_timeout_ms = config.get_int("request.timeout.ms")
        self._retries_concurrent = not emulation.is_3_9
        self._waiting: dict[int, dict[tuple[str, bool], _Entry]] = {}
        self._in_flight: set[int] = set()

    def verify_partition(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partition: TopicPartition,
        *,
        add_partition: bool,
        done: Done,
        renew: Renew,
        knows_abortable: bool = True,
    ) -> None:
        """Verify with the coordinator that a partition belongs to the open transaction, or add it.

        4.x retries an addition for up to `add.partitions.to.txn.retry.backoff.max.ms` while the coordinator completes
        the previous transaction (51, KAFKA-18654). The marker of that transaction ends the verification at the leader,
        so each attempt begins one (`renew`), as in `ReplicaManager.handleProduceAppend`.
        """
        deadline_ms = NO_RETRY_MS
        if add_partition and self._retries_concurrent:
            deadline_ms = self._runtime.now_ms() + self._config.get_int("add.partitions.to.txn.retry.backoff.max.ms")
        pending = _PendingPartition(partition, knows_abortable, deadline_ms, done, renew)
        self._enqueue(transactional_id, producer_id, producer_epoch, add_partition, pending)

    def _enqueue(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        add_partition: bool,
        pending: _PendingPartition,
    ) -> None:
        partition, done = pending.partition, pending.done
        node_id = self._coordinator(transactional_id)
        if node_id is None:
            done(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        waiting = self._waiting.setdefault(node_id, {})
        key = (transactional_id, add_partition)
        entry = waiting.get(key)
        if entry is not None and producer_epoch < entry.producer_epoch:
            done(ErrorCode.INVALID_PRODUCER_EPOCH)
            return
        if entry is None or producer_epoch > entry.producer_epoch or producer_id != entry.producer_id:
            replaced = entry
            entry = _Entry(transactional_id, producer_id, producer_epoch, add_partition)
            waiting[key] = entry
            if replaced is not None:
                fenced = replaced.producer_epoch < producer_epoch
                for other in replaced.partitions.values():
                    other.done(ErrorCode.INVALID_PRODUCER_EPOCH if fenced else ErrorCode.NETWORK_EXCEPTION)
        repeated = entry.partitions.get(partition)
        entry.partitions[partition] = pending
        if repeated is not None:  # The client timed out and sent a newer request.
            repeated.done(ErrorCode.NETWORK_EXCEPTION)
        if node_id not in self._in_flight:
            self._in_flight.add(node_id)
            self._runtime.call_soon(partial(self._send, node_id))

    def _coordinator(self, transactional_id: str) -> int | None:
        count = self._metadata.partition_count(TRANSACTION_STATE_TOPIC)
        if not count:
            return None
        leadership = self._metadata.leadership(
            topic_partition(TRANSACTION_STATE_TOPIC, partition_for(transactional_id, count))
        )
        return None if leadership is None or leadership.leader_id < 0 else leadership.leader_id

    def _send(self, node_id: int) -> None:
        waiting = self._waiting.pop(node_id, {})
        if not waiting:
            self._in_flight.discard(node_id)
            return
        # A request contains an id once, so an id that both verifies and adds partitions needs two requests.
        sent: dict[str, _Entry] = {}
        for key, entry in waiting.items():
            if entry.transactional_id in sent:
                self._waiting.setdefault(node_id, {})[key] = entry
            else:
                sent[entry.transactional_id] = entry
        self._channel.send(
            node_id,
            ApiKey.ADD_PARTITIONS_TO_TXN,
            5,
            AddPartitionsToTxnRequest(transactions=[_transaction(entry) for entry in sent.values()]),
            partial(self._answered, node_id, sent),
            timeout_ms=self._request_timeout_ms,
        )

    def _answered(self, node_id: int, sent: dict[str, _Entry], response: Any | None) -> None:
        if self._waiting.get(node_id):
            self._runtime.call_soon(partial(self._send, node_id))
        else:
            self._in_flight.discard(node_id)
        if response is None or response.error_code:
            error = ErrorCode.NETWORK_EXCEPTION if response is None else ErrorCode(response.error_code)
            if error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
                error = ErrorCode.INVALID_TXN_STATE
            for entry in sent.values():
                for pending in entry.partitions.values():
                    pending.done(error)
            return
        for result in response.results_by_transaction:
            entry = sent[result.transactional_id]
            for topic in result.topic_results:
                for answer in topic.results_by_partition:
                    pending = entry.partitions[topic_partition(topic.name, answer.partition_index)]
                    self._complete(entry, pending, _append_error(answer.partition_error_code, pending.knows_abortable))

    def _complete(self, entry: _Entry, pending: _PendingPartition, error: ErrorCode) -> None:
        if error is ErrorCode.CONCURRENT_TRANSACTIONS and self._runtime.now_ms() < pending.deadline_ms:
            self._runtime.call_later(
                self._config.get_int("add.partitions.to.txn.retry.backoff.ms"), partial(self._retry, entry, pending)
            )
        else:
            pending.done(error)

    def _retry(self, entry: _Entry, pending: _PendingPartition) -> None:
        outcome = pending.renew()
        if outcome is None:
            self._enqueue(entry.transactional_id, entry.producer_id, entry.producer_epoch, entry.add_partition, pending)
        else:
            pending.done(outcome)


def _append_error(code: int, knows_abortable: bool) -> ErrorCode:
    if code == NO_ERROR:
        return NO_ERROR
    error = ErrorCode(code)
    if error is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and not knows_abortable:
        return ErrorCode.INVALID_TXN_STATE
    return error


def _transaction(entry: _Entry) -> AddPartitionsToTxnTransaction:
    topics: dict[str, list[int]] = {}
    for topic, index in entry.partitions:
        topics.setdefault(topic, []).append(index)
    return AddPartitionsToTxnTransaction(
        entry.transactional_id,
        entry.producer_id,
        entry.producer_epoch,
        not entry.add_partition,
        [AddPartitionsToTxnTopic(name, indexes) for name, indexes in topics.items()],
    )
