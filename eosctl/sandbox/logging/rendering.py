"""Text forms of values in log lines, as Scala (3.9) and Java (4.x) print them: sets, options, states, exceptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.wire.error_codes import ErrorCode

_LARGEST_PLAIN_SET: Final = 4
"""Scala prints sets of up to four elements as `Set`, larger ones as `HashSet`."""

_EXCEPTIONS: Final = {
    ErrorCode.CORRUPT_MESSAGE: "CorruptRecordException",
    ErrorCode.KAFKA_STORAGE_ERROR: "KafkaStorageException",
    ErrorCode.MESSAGE_TOO_LARGE: "RecordTooLargeException",
    ErrorCode.NETWORK_EXCEPTION: "NetworkException",
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: "OutOfOrderSequenceException",
    ErrorCode.RECORD_LIST_TOO_LARGE: "RecordBatchTooLargeException",
    ErrorCode.REQUEST_TIMED_OUT: "TimeoutException",
    ErrorCode.UNKNOWN_SERVER_ERROR: "UnknownServerException",
}


def exception_class(error: ErrorCode) -> str:
    """Return the Java exception that carries an error code (`Errors.exception`)."""
    named = _EXCEPTIONS.get(error) or "".join(word.capitalize() for word in error.name.split("_")) + "Exception"
    return f"org.apache.kafka.common.errors.{named}"


def state_name(state: TransactionState, *, is_3_9: bool) -> str:
    """Return a transaction's state as the release prints it: `CompleteAbort`, from 4.0 on `COMPLETE_ABORT`."""
    return state.value if is_3_9 else state.name


def scala_set(elements: Iterable[object]) -> str:
    """Print an immutable Scala set."""
    printed = sorted(map(str, elements))
    return f"{'Set' if len(printed) <= _LARGEST_PLAIN_SET else 'HashSet'}({', '.join(printed)})"


def partition_set(partitions: Iterable[TopicPartition], *, is_3_9: bool) -> str:
    """Print a set of partitions: a Scala set up to 3.9, a Java one from 4.0 on."""
    return scala_set(partitions) if is_3_9 else f"[{', '.join(sorted(map(str, partitions)))}]"


def transition(following: TransactionMetadata, *, is_3_9: bool) -> str:
    """Render a transaction's next value (`TxnTransitMetadata`)."""
    state = state_name(following.state, is_3_9=is_3_9)
    partitions = partition_set(following.partitions, is_3_9=is_3_9)
    times = f"txnStartTimestamp={following.start_ms}, txnLastUpdateTimestamp={following.last_update_ms}"
    if is_3_9:
        return (
            f"TxnTransitMetadata(producerId={following.producer_id}, lastProducerId={following.previous_producer_id}, "
            f"producerEpoch={following.producer_epoch}, lastProducerEpoch={following.last_producer_epoch}, "
            f"txnTimeoutMs={following.timeout_ms}, txnState={state}, topicPartitions={partitions}, {times})"
        )
    return (
        f"TxnTransitMetadata[producerId={following.producer_id}, prevProducerId={following.previous_producer_id}, "
        f"nextProducerId={following.next_producer_id}, producerEpoch={following.producer_epoch}, "
        f"lastProducerEpoch={following.last_producer_epoch}, txnTimeoutMs={following.timeout_ms}, txnState={state}, "
        f"topicPartitions={partitions}, {times}, clientTransactionVersion=TV_{following.client_transaction_version}]"
    )
