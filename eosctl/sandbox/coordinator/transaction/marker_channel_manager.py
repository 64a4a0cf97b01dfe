"""Send transaction markers to partition leaders, and complete the transaction after the last one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.transaction.metadata import PREPARE_COMMIT, TransactionMetadata
from eosctl.sandbox.coordinator.transaction.state_manager import CachedTransaction, TransactionStateManager
from eosctl.sandbox.logging.transaction_events import TransactionEvents
from eosctl.sandbox.ports import Channel, Emulation, MetadataView, Runtime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

RETRY_BACKOFF_MS: Final = 50
"""Delay in milliseconds before a rejected or undeliverable marker is sent again."""

_RETRIED: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
_DONE: Final = frozenset({ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT})
"""Written, or the partition cannot have a transaction."""


class PendingCompletion:
    """A prepared transaction with markers in progress, and its final value."""

    __slots__ = ("cached", "completed", "is_cancelled", "marker")

    def __init__(self, cached: CachedTransaction, completed: TransactionMetadata) -> None:
        self.cached = cached
        self.completed = completed
        self.marker = cached.metadata
        self.is_cancelled = False


Entry = tuple[PendingCompletion, list[TopicPartition]]


class TransactionMarkerChannelManager:
    """A queue per broker, with one WriteTxnMarkers request in flight to each, including this broker.

    `skips_leaderless_partitions` is KAFKA-20734: from 4.3, a partition without a leader is treated as deleted:
    its marker is skipped, and the completed transaction hangs there. Earlier releases wait for the leader.
    """

    def __init__(
        self,
        *,
        runtime: Runtime,
        emulation: Emulation,
        metadata: MetadataView,
        channel: Channel,
        states: TransactionStateManager,
        request_timeout_ms: int,
        events: TransactionEvents,
    ) -> None:
        self._runtime = runtime
        self._events = events
        self._metadata = metadata
        self._channel = channel
        self._states = states
        self._request_timeout_ms = request_timeout_ms
        self._version = 1 if emulation.is_3_9 else 2
        self.skips_leaderless_partitions = not emulation.is_3_9
        self._pending: dict[str, PendingCompletion] = {}
        self._queues: dict[int, list[Entry]] = {}
        self._in_flight: set[int] = set()
        self._leaderless_count = 0
        self._append_retry_count = 0

    @property
    def pending_count(self) -> int:
        """Return the number of transactions that wait for markers."""
        return len(self._pending)

    @property
    def unknown_destination_queue_size(self) -> int:
        """Return the number of markers that wait for a leader (Kafka's gauge UnknownDestinationQueueSize)."""
        return self._leaderless_count

    @property
    def log_append_retry_queue_size(self) -> int:
        """Return the number of completions with a repeated write (Kafka's gauge LogAppendRetryQueueSize)."""
        return self._append_retry_count

    def queue_size(self, node_id: int) -> int:
        """Return the number of transactions with queued markers for a broker, without those in flight."""
        return sum(not pending.is_cancelled for pending, _ in self._queues.get(node_id, ()))

    def add(self, cached: CachedTransaction, completed: TransactionMetadata) -> None:
        """Send the markers of a prepared transaction, then write `completed`."""
        pending = PendingCompletion(cached, completed)
        cached.pending = completed.state
        self._pending[completed.transactional_id] = pending
        # The iteration order of a set of strings differs between processes; a simulation must be reproducible.
        self._enqueue(pending, sorted(cached.metadata.partitions))
        self._complete_if_done(pending)

    def remove_partition(self, index: int) -> None:
        """Drop the queued markers of a state partition that this broker no longer leads."""
        for pending in [p for p in self._pending.values() if p.cached.partition.index == index]:
            self._cancel(pending)

    def _cancel(self, pending: PendingCompletion) -> None:
        pending.is_cancelled = True
        transactional_id = pending.completed.transactional_id
        if self._pending.get(transactional_id) is pending:
            del self._pending[transactional_id]

    def _enqueue(self, pending: PendingCompletion, partitions: Iterable[TopicPartition]) -> None:
        by_leader: dict[int, list[TopicPartition]] = {}
        deleted: list[TopicPartition] = []
        leaderless: list[TopicPartition] = []
        for partition in partitions:
            leadership = self._metadata.leadership(partition)
            if leadership is None:
                deleted.append(partition)
            elif leadership.leader_id >= 0:
                by_leader.setdefault(leadership.leader_id, []).append(partition)
            elif self.skips_leaderless_partitions:
                deleted.append(partition)
            else:
                leaderless.append(partition)
        for node_id, of_leader in by_leader.items():
            self._queues.setdefault(node_id, []).append((pending, of_leader))
            if node_id not in self._in_flight:
                self._in_flight.add(node_id)
                self._runtime.call_soon(partial(self._send, node_id))
        if leaderless:
            self._leaderless_count += len(leaderless)
            self._runtime.call_later(RETRY_BACKOFF_MS, partial(self._route_again, pending, leaderless))
        if deleted:
            self._events.markers_skipped(pending.completed.transactional_id, deleted)
            self._mark_done(pending, deleted)

    def _route_again(self, pending: PendingCompletion, partitions: list[TopicPartition]) -> None:
        self._leaderless_count -= len(partitions)
        self._enqueue_again(pending, partitions)

    def _enqueue_again(self, pending: PendingCompletion, partitions: list[TopicPartition]) -> None:
        if self._is_alive(pending):
            self._enqueue(pending, partitions)
            self._complete_if_done(pending)

    def _is_alive(self, pending: PendingCompletion) -> bool:
        if not pending.is_cancelled and not self._states.is_current(pending.cached.partition):
            self._cancel(pending)
        return not pending.is_cancelled

    def _send(self, node_id: int) -> None:
        entries = [entry for entry in self._queues.pop(node_id, ()) if self._is_alive(entry[0])]
        if not entries:
            self._in_flight.discard(node_id)
            return
        self._channel.send(
            node_id,
            ApiKey.WRITE_TXN_MARKERS,
            self._version,
            WriteTxnMarkersRequest([_marker(pending, partitions) for pending, partitions in entries]),
            partial(self._answered, node_id, entries),
            timeout_ms=self._request_timeout_ms,
        )

    def _answered(self, node_id: int, entries: list[Entry], response: Any | None) -> None:
        if response is None:  # The connection broke: send everything again to the current leaders.
            for pending, partitions in entries:
                self._runtime.call_later(RETRY_BACKOFF_MS, partial(self._enqueue_again, pending, partitions))
        else:
            codes = {
                (marker.producer_id, topic.name, partition.partition_index): partition.error_code
                for marker in response.markers
                for topic in marker.topics
                for partition in topic.partitions
            }
            for pending, partitions in entries:
                self._settle(pending, partitions, codes)
        if self._queues.get(node_id):
            self._runtime.call_soon(partial(self._send, node_id))
        else:
            self._in_flight.discard(node_id)

    def _settle(
        self, pending: PendingCompletion, partitions: list[TopicPartition], codes: dict[tuple[int, str, int], int]
    ) -> None:
        if not self._states.is_current(pending.cached.partition):
            self._cancel(pending)
            return
        producer_id = pending.marker.producer_id
        transactional_id, epoch = pending.completed.transactional_id, pending.cached.partition.coordinator_epoch
        done: list[TopicPartition] = []
        again: list[TopicPartition] = []
        is_refused = False
        for partition in partitions:
            code = codes.get((producer_id, *partition), ErrorCode.UNKNOWN_SERVER_ERROR)
            if code in _DONE:
                done.append(partition)
            elif code in _RETRIED:
                again.append(partition)
                self._events.marker_retried(transactional_id, partition, ErrorCode(code), epoch)
            else:  # 47 and 52: another coordinator is in charge; the id stays prepared until it is loaded again.
                is_refused = True
                self._events.marker_refused(transactional_id, partition, ErrorCode(code), epoch)
        if done:
            self._mark_done(pending, done)
        if is_refused:
            self._cancel(pending)
        elif again and not pending.is_cancelled:
            self._runtime.call_later(RETRY_BACKOFF_MS, partial(self._enqueue_again, pending, again))
        else:
            self._complete_if_done(pending)

    def _mark_done(self, pending: PendingCompletion, partitions: list[TopicPartition]) -> None:
        cached = pending.cached
        cached.metadata = cached.metadata.without(partitions)

    def _complete_if_done(self, pending: PendingCompletion) -> None:
        if pending.cached.metadata.partitions or pending.is_cancelled:
            return
        self._cancel(pending)
        self._write_completion(pending)

    def _write_completion(self, pending: PendingCompletion) -> None:
        if self._states.is_current(pending.cached.partition):
            self._states.append(pending.cached, pending.completed, partial(self._completion_written, pending))

    def _completion_written(self, pending: PendingCompletion, error: ErrorCode) -> None:
        if error is ErrorCode.COORDINATOR_NOT_AVAILABLE:
            self._append_retry_count += 1
            self._runtime.call_later(RETRY_BACKOFF_MS, partial(self._write_completion_again, pending))

    def _write_completion_again(self, pending: PendingCompletion) -> None:
        self._append_retry_count -= 1
        self._write_completion(pending)


def _marker(pending: PendingCompletion, partitions: list[TopicPartition]) -> WritableTxnMarker:
    topics: dict[str, list[int]] = {}
    for topic, index in partitions:
        topics.setdefault(topic, []).append(index)
    marker = pending.marker
    return WritableTxnMarker(
        marker.producer_id,
        marker.producer_epoch,
        marker.state is PREPARE_COMMIT,
        [WritableTxnMarkerTopic(name, indexes) for name, indexes in topics.items()],
        pending.cached.partition.coordinator_epoch,
        marker.client_transaction_version,
    )
