"""Requests of a broker to the share coordinators, with retries (`PersisterStateManager`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.share.coordinator import StateDone, StateResult
from eosctl.sandbox.coordinator.share.shard import NO_STATE, StateWrite
from eosctl.sandbox.coordinator.share.state import ShareGroupOffset, SharePartitionKey, StateBatch
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import SHARE_GROUP_STATE_TOPIC, Channel, MetadataView, Runtime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)

BACKOFF_MS: Final = 1000
MAX_BACKOFF_MS: Final = 30_000
MAX_ATTEMPTS: Final = 5
JITTER: Final = 0.2
RETRIABLE: Final = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)
VERSIONS: Final = {
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: 0,
    ApiKey.READ_SHARE_GROUP_STATE: 0,
    ApiKey.WRITE_SHARE_GROUP_STATE: 1,
    ApiKey.DELETE_SHARE_GROUP_STATE: 0,
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: 1,
}


class StatePersister:
    """Sends each request to the coordinator of its share-partition, and again after errors that pass.

    `ensure_topic` starts the creation of `__share_group_state`.
    """

    def __init__(
        self, runtime: Runtime, metadata: MetadataView, channel: Channel, ensure_topic: Callable[[], None]
    ) -> None:
        self._runtime = runtime
        self._metadata = metadata
        self._channel = channel
        self._ensure_topic = ensure_topic

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, done: StateDone) -> None:
        """Begin the state of a share-partition."""
        part = initialize_share_group_state.PartitionData(key.partition, state_epoch, start_offset)
        topic = initialize_share_group_state.InitializeStateData(key.topic_id, [part])
        request = initialize_share_group_state.InitializeShareGroupStateRequest(key.group_id, [topic])
        self._send(key, ApiKey.INITIALIZE_SHARE_GROUP_STATE, request, done)

    def read(self, key: SharePartitionKey, leader_epoch: int, done: StateDone) -> None:
        """Read the state of a share-partition as its new leader."""
        part = read_share_group_state.PartitionData(key.partition, leader_epoch)
        topic = read_share_group_state.ReadStateData(key.topic_id, [part])
        request = read_share_group_state.ReadShareGroupStateRequest(key.group_id, [topic])
        self._send(key, ApiKey.READ_SHARE_GROUP_STATE, request, done)

    def write(self, key: SharePartitionKey, change: StateWrite, done: StateDone) -> None:
        """Write a change of a share-partition as its leader."""
        batches = [write_share_group_state.StateBatch(*batch) for batch in change.state_batches]
        part = write_share_group_state.PartitionData(
            partition=key.partition,
            state_epoch=change.state_epoch,
            leader_epoch=change.leader_epoch,
            start_offset=change.start_offset,
            delivery_complete_count=change.delivery_complete_count,
            state_batches=batches,
        )
        topic = write_share_group_state.WriteStateData(key.topic_id, [part])
        request = write_share_group_state.WriteShareGroupStateRequest(key.group_id, [topic])
        self._send(key, ApiKey.WRITE_SHARE_GROUP_STATE, request, done)

    def summarize(self, key: SharePartitionKey, leader_epoch: int, done: StateDone) -> None:
        """Read the start offset of a share-partition."""
        part = read_share_group_state_summary.PartitionData(key.partition, leader_epoch)
        topic = read_share_group_state_summary.ReadStateSummaryData(key.topic_id, [part])
        request = read_share_group_state_summary.ReadShareGroupStateSummaryRequest(key.group_id, [topic])
        self._send(key, ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, request, done)

    def delete(self, key: SharePartitionKey, done: StateDone) -> None:
        """Remove the state of a share-partition."""
        part = delete_share_group_state.PartitionData(key.partition)
        topic = delete_share_group_state.DeleteStateData(key.topic_id, [part])
        request = delete_share_group_state.DeleteShareGroupStateRequest(key.group_id, [topic])
        self._send(key, ApiKey.DELETE_SHARE_GROUP_STATE, request, done)

    def _send(self, key: SharePartitionKey, api_key: ApiKey, request: Any, done: StateDone, attempt: int = 1) -> None:
        again = partial(self._send, key, api_key, request, done, attempt + 1)
        received = partial(self._received, again, done, attempt)
        node_id = self._coordinator_of(key)
        if node_id is None:
            received(StateResult(ErrorCode.COORDINATOR_NOT_AVAILABLE, None))
            return
        self._channel.send(
            node_id, api_key, VERSIONS[api_key], request, lambda response: received(_read_result(response))
        )

    def _coordinator_of(self, key: SharePartitionKey) -> int | None:
        count = self._metadata.partition_count(SHARE_GROUP_STATE_TOPIC)
        if not count:
            self._ensure_topic()
            return None
        leadership = self._metadata.leadership(TopicPartition(SHARE_GROUP_STATE_TOPIC, partition_for(str(key), count)))
        return None if leadership is None or leadership.leader_id < 0 else leadership.leader_id

    def _received(self, again: Callable[[], None], done: StateDone, attempt: int, result: StateResult) -> None:
        if result.error not in RETRIABLE:
            done(result)
        elif attempt >= MAX_ATTEMPTS:
            done(result._replace(message="Exhausted max retries without success."))
        else:
            delay_ms = min(BACKOFF_MS * 2**attempt, MAX_BACKOFF_MS)
            self._runtime.call_later(delay_ms * self._runtime.random.uniform(1 - JITTER, 1 + JITTER), again)


def _read_result(response: Any | None) -> StateResult:
    """Return the result of the only partition in a response; an error without one."""
    if response is None:
        return StateResult(ErrorCode.NETWORK_EXCEPTION, kafka_text(ErrorCode.NETWORK_EXCEPTION))
    if not response.results:  # as for a group without a name
        return StateResult(ErrorCode.UNKNOWN_SERVER_ERROR, kafka_text(ErrorCode.UNKNOWN_SERVER_ERROR))
    part = response.results[0].partitions[0]
    error = ErrorCode(part.error_code)
    message = part.error_message or kafka_text(error)
    if error is not ErrorCode.NONE:
        return StateResult(error, message)
    if isinstance(part, read_share_group_state.PartitionResult):
        batches = tuple(
            StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
            for batch in part.state_batches
        )
        state = NO_STATE._replace(state_epoch=part.state_epoch, start_offset=part.start_offset, state_batches=batches)
        return StateResult(state=state)
    if isinstance(part, read_share_group_state_summary.PartitionResult):
        count = part.delivery_complete_count
        return StateResult(state=ShareGroupOffset(0, part.state_epoch, part.leader_epoch, part.start_offset, count))
    return StateResult()
