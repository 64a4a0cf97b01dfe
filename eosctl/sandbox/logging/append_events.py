"""Log lines about rejected batches (`kafka.server.ReplicaManager`), with Kafka's reasons."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.producer_state import ProducerEntry
from eosctl.sandbox.logging.event_log import ERROR, INFO, EventLog
from eosctl.sandbox.logging.rendering import exception_class, scala_set
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.uuid import render_uuid

REPLICA_MANAGER: Final = "kafka.server.ReplicaManager"

_SILENT: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
"""Errors that ReplicaManager returns without a log line."""


class Refused(NamedTuple):
    """The producer fields of a rejected batch or marker; `message` is the reason, if known."""

    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    coordinator_epoch: int = -1
    transactional: bool = False
    message: str | None = None


class AppendEvents:
    """Log lines of a broker's ReplicaManager."""

    def __init__(self, log: EventLog, broker_id: int, *, is_3_9: bool) -> None:
        self._log = log
        self._is_3_9 = is_3_9
        self._prefix = f"[ReplicaManager broker={broker_id}]"

    def refused(self, partition: Partition, error: ErrorCode, batch: Refused) -> None:
        """Log that a batch or marker was rejected; an old epoch is logged at INFO."""
        if error in _SILENT:
            return
        name = str(partition.partition)
        if not self._is_3_9:
            name = f"{render_uuid(partition.topic_id)}:{name}"
        self._log.write(
            REPLICA_MANAGER,
            f"{self._prefix} Error processing append operation on partition {name}",
            level=INFO if error is ErrorCode.INVALID_PRODUCER_EPOCH else ERROR,
            throwable=f"{exception_class(error)}: {batch.message or self._reason(partition, error, batch)}",
        )

    def _reason(self, partition: Partition, error: ErrorCode, batch: Refused) -> str:
        if error is ErrorCode.NOT_ENOUGH_REPLICAS:
            return self._too_few(partition)
        place = partition.partition
        offset = partition.log.end_offset
        producer = partition.log.producers.producers.get(batch.producer_id)
        if error is ErrorCode.INVALID_PRODUCER_EPOCH and producer is not None:
            # Transactional data is checked before it has an offset (KAFKA-19690).
            where = "" if batch.transactional else f" at offset {offset} in {place}"
            return (
                f"Epoch of producer {batch.producer_id}{where} is {batch.producer_epoch}, which is smaller than the "
                f"last seen epoch {producer.producer_epoch}"
            )
        if error is ErrorCode.TRANSACTION_COORDINATOR_FENCED and producer is not None:
            return (
                f"Invalid coordinator epoch for producerId {batch.producer_id} at offset {offset} in partition "
                f"{place}: {batch.coordinator_epoch} (zombie), {producer.coordinator_epoch} (current)"
            )
        if error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            return _out_of_order(place, offset, producer, batch)
        if error is ErrorCode.INVALID_TXN_STATE:
            producer_id = batch.producer_id
            return f"Expected transactional write from producer {producer_id} at offset {offset} in partition {place}"
        return error.message

    def _too_few(self, partition: Partition) -> str:
        required = partition.min_isr
        in_sync = scala_set(partition.isr)
        demand = f"is insufficient to satisfy the min.isr requirement of {required} for partition {partition.partition}"
        if self._is_3_9:
            return f"The size of the current ISR {in_sync} {demand}"
        return f"The size of the current ISR : {len(partition.isr)} {demand}, live replica(s) broker.id are : {in_sync}"


def _out_of_order(place: TopicPartition, offset: int, producer: ProducerEntry | None, batch: Refused) -> str:
    if producer is not None and producer.producer_epoch not in (-1, batch.producer_epoch):
        return (
            f"Invalid sequence number for new epoch of producer {batch.producer_id}at offset {offset} in partition "
            f"{place}: {batch.producer_epoch} (request epoch), {batch.base_sequence} (seq. number), "
            f"{producer.producer_epoch} (current producer epoch)"
        )
    last = producer.last_sequence if producer is not None else -1
    return (
        f"Out of order sequence number for producer {batch.producer_id} at offset {offset} in partition {place}: "
        f"{batch.base_sequence} (incoming seq. number), {last} (current end sequence number)"
    )
