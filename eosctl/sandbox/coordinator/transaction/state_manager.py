"""The partitions of `__transaction_state` that this broker leads: cache, loading, and appends.

Kafka's `TransactionStateManager`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from eosctl.model.transaction import TransactionState, topic_partition
from eosctl.sandbox.coordinator.transaction.metadata import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    DEAD,
    EMPTY,
    ONGOING,
    TransactionMetadata,
)
from eosctl.sandbox.coordinator.transaction.state_log import (
    decode_transactional_id,
    decode_value,
    encode_key,
    encode_value,
)
from eosctl.sandbox.logging.transaction_events import TransactionEvents
from eosctl.sandbox.ports import (
    TRANSACTION_STATE_TOPIC,
    AppendResult,
    BrokerConfig,
    Emulation,
    MetadataView,
    Replicas,
    Runtime,
)
from eosctl.wire.error_codes import NO_ERROR, ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.records.batch import BatchHeader, decode_records

LOAD_BATCHES_PER_TURN: Final = 1000
"""Number of batches to replay before other work runs."""
LOAD_VALUES_PER_TURN: Final = 2000
"""Number of decoded values before other work runs; takes some milliseconds."""
GROUP_BYTES: Final = 256 * 1024
"""Approximate maximum size in bytes of the batches that the records of a turn share."""

Done = Callable[[ErrorCode], None]

_APPEND_ERRORS: Final = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


class StatePartition:
    """A partition of the state topic under one leader epoch; a new epoch creates a new object.

    None of its transactions times out before `calm_until_ms`.
    """

    __slots__ = (
        "calm_until_ms",
        "coordinator_epoch",
        "index",
        "load_started_ms",
        "loading",
        "queue",
        "topic_partition",
        "transactions",
    )

    def __init__(self, index: int, coordinator_epoch: int) -> None:
        self.index = index
        self.coordinator_epoch = coordinator_epoch
        self.topic_partition = topic_partition(TRANSACTION_STATE_TOPIC, index)
        self.loading = True
        self.load_started_ms = 0
        self.calm_until_ms = 0
        self.transactions: dict[str, CachedTransaction] = {}
        self.queue: list[Waiting] = []


class CachedTransaction:
    """A cached transactional id: its value, and the transition that is being written.

    While `pending` is set, every client operation is rejected. `has_failed_epoch_fence` is set if the value has a
    bumped epoch whose abort could not be written.
    """

    __slots__ = ("has_failed_epoch_fence", "key", "metadata", "partition", "pending")

    def __init__(self, metadata: TransactionMetadata, partition: StatePartition, key: bytes) -> None:
        self.metadata = metadata
        self.partition = partition
        self.key = key
        self.pending: TransactionState | None = None
        self.has_failed_epoch_fence = False


Waiting = tuple[CachedTransaction, TransactionMetadata | None, Done]
"""A value to write (None for a tombstone), and the callback for its result."""


class TransactionStateManager:
    """Owns the cache; a value enters it only after this leader epoch has written its record."""

    def __init__(
        self,
        *,
        runtime: Runtime,
        config: BrokerConfig,
        emulation: Emulation,
        metadata: MetadataView,
        replicas: Replicas,
        loaded: Callable[[StatePartition], None],
        events: TransactionEvents,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._emulation = emulation
        self._metadata = metadata
        self._replicas = replicas
        self._loaded = loaded
        self._events = events
        self._writes_tags = not emulation.is_3_9
        self._partitions: dict[int, StatePartition] = {}
        self._cache: dict[str, CachedTransaction] = {}
        self.load_ms = 0.0  # Extra delay in milliseconds before a load reads its log, to simulate a slow disk.
        self._unwritten: deque[StatePartition] = deque()  # Partitions with queued values, which the next flush writes.

    def partition_index(self, transactional_id: str) -> int:
        """Return the state partition of an id (Java's `String.hashCode`)."""
        count = self._metadata.partition_count(TRANSACTION_STATE_TOPIC)
        return partition_for(transactional_id, count or self._config.get_int("transaction.state.log.num.partitions"))

    def partition_of(self, transactional_id: str) -> StatePartition | ErrorCode:
        """Return the loaded partition of an id, or error 14 while it loads, 16 if another broker leads it."""
        return self._loaded_partition(self.partition_index(transactional_id))

    def find(self, transactional_id: str) -> CachedTransaction | ErrorCode | None:
        """Return the state of an id: None if unknown, an error if this broker is not its coordinator."""
        cached = self._cache.get(transactional_id)
        if cached is not None:
            return cached
        partition = self.partition_of(transactional_id)
        return partition if isinstance(partition, ErrorCode) else None

    def add(self, partition: StatePartition, metadata: TransactionMetadata) -> CachedTransaction:
        """Add a new id to the cache; nothing is written yet."""
        cached = CachedTransaction(metadata, partition, encode_key(metadata.transactional_id))
        partition.transactions[metadata.transactional_id] = cached
        self._cache[metadata.transactional_id] = cached
        return cached

    def is_current(self, partition: StatePartition) -> bool:
        """Return whether this broker still leads the partition in the same epoch."""
        return self._partitions.get(partition.index) is partition

    @property
    def is_loading(self) -> bool:
        """Return whether a partition is still loading."""
        return any(partition.loading for partition in self._partitions.values())

    def loaded_partitions(self) -> list[StatePartition]:
        """Return the loaded partitions."""
        return [partition for partition in self._partitions.values() if not partition.loading]

    def become_leader(self, index: int, coordinator_epoch: int) -> None:
        """Start to load a partition, unless it is already led in this epoch."""
        known = self._partitions.get(index)
        if known is not None:
            if known.coordinator_epoch >= coordinator_epoch:
                return
            self._forget(known)
        partition = StatePartition(index, coordinator_epoch)
        self._partitions[index] = partition
        self._events.elected(index, coordinator_epoch)
        partition.load_started_ms = self._runtime.now_ms()
        if self.load_ms:
            self._runtime.call_later(self.load_ms, partial(self._begin_load, partition))
        else:
            self._begin_load(partition)

    def resign(self, index: int, coordinator_epoch: int | None) -> bool:
        """Unload a partition; return whether it was led in an epoch that is not newer."""
        partition = self._partitions.get(index)
        if partition is None or (coordinator_epoch is not None and partition.coordinator_epoch > coordinator_epoch):
            return False
        del self._partitions[index]
        self._events.resigned(index, coordinator_epoch, partition.coordinator_epoch, len(partition.transactions))
        self._forget(partition)
        return True

    def _forget(self, partition: StatePartition) -> None:
        for transactional_id in partition.transactions:
            self._cache.pop(transactional_id, None)

    def _begin_load(self, partition: StatePartition) -> None:
        if self.is_current(partition):
            self._load(partition, self._replicas.read_all(partition.topic_partition), {})

    def _load(
        self, partition: StatePartition, batches: Iterator[tuple[BatchHeader, bytes]], latest: dict[bytes, bytes]
    ) -> None:
        if not self.is_current(partition):
            return
        count = 0
        for header, batch in islice(batches, LOAD_BATCHES_PER_TURN):
            count += 1
            if header.is_control:
                continue
            for _, _, key, value, _ in decode_records(batch, header):
                if key is None:
                    continue
                if value is None:
                    latest.pop(key, None)
                else:
                    latest[key] = value
        if count == LOAD_BATCHES_PER_TURN:
            self._runtime.call_later(0, partial(self._load, partition, batches, latest))
        else:
            self._decode(partition, iter(latest.items()))

    def _decode(self, partition: StatePartition, values: Iterator[tuple[bytes, bytes]]) -> None:
        if not self.is_current(partition):
            return
        transactions, count = partition.transactions, 0
        for key, value in islice(values, LOAD_VALUES_PER_TURN):
            count += 1
            transactional_id = decode_transactional_id(key)
            if transactional_id is not None:
                metadata = decode_value(transactional_id, value)
                transactions[transactional_id] = CachedTransaction(metadata, partition, key)
        if count == LOAD_VALUES_PER_TURN:
            self._runtime.call_later(0, partial(self._decode, partition, values))
            return
        self._cache.update(transactions)
        partition.loading = False
        took_ms = self._runtime.now_ms() - partition.load_started_ms
        self._events.loaded(partition.index, partition.coordinator_epoch, len(partition.transactions), took_ms)
        self._loaded(partition)

    def append(self, cached: CachedTransaction, following: TransactionMetadata, done: Done) -> None:
        """Write a transaction's next value; it replaces the cached one when it is durable.

        `done` receives NONE or the coordinator's error: 14 or 16 if the partition has moved, 15 for a write that may be
        retried. A completion that fails with 15 stays pending, so that it can be retried.
        """
        cached.pending = following.state
        self._enqueue(cached, following, done)

    def append_tombstone(self, cached: CachedTransaction, done: Done) -> None:
        """Write a tombstone for an id; the id leaves the cache when the tombstone is durable."""
        cached.pending = DEAD
        self._enqueue(cached, None, done)

    def _enqueue(self, cached: CachedTransaction, following: TransactionMetadata | None, done: Done) -> None:
        partition = cached.partition
        if not partition.queue:
            if not self._unwritten:
                self._runtime.call_soon(self._flush)
            self._unwritten.append(partition)
        partition.queue.append((cached, following, done))

    def _flush(self) -> None:
        """Write the queued values: one batch per partition, or several if it would exceed the size limit."""
        partitions, self._unwritten = self._unwritten, deque()
        version = 1 if self._metadata.finalized_feature("transaction.version") >= 1 else 0
        try:
            while partitions:
                self._flush_partition(partitions.popleft(), version)
        finally:
            if partitions:  # One partition's disk failed; continue with the others.
                self._unwritten.extend(partitions)
                self._runtime.call_soon(self._flush)

    def _flush_partition(self, partition: StatePartition, version: int) -> None:
        queue, partition.queue = partition.queue, []
        entries: list[tuple[bytes, bytes | None]] = []
        size_bytes = first = 0
        for cached, following, _ in queue:
            value = None if following is None else encode_value(following, version, writes_tags=self._writes_tags)
            entries.append((cached.key, value))
            size_bytes += len(cached.key) + (0 if value is None else len(value))
            if size_bytes >= GROUP_BYTES:
                self._write(partition, entries, queue[first : first + len(entries)])
                first += len(entries)
                entries = []
                size_bytes = 0
        if entries:
            self._write(partition, entries, queue[first:] if first else queue)

    def _write(
        self, partition: StatePartition, entries: list[tuple[bytes, bytes | None]], written: list[Waiting]
    ) -> None:
        timeout_ms = 0
        for cached, _, _ in written:
            timeout_ms = max(timeout_ms, cached.metadata.timeout_ms)
        self._replicas.append_entries(
            partition.topic_partition, entries, partial(self._appended, partition, written), timeout_ms=timeout_ms
        )

    def _appended(
        self,
        partition: StatePartition,
        written: list[Waiting],
        result: AppendResult,
    ) -> None:
        if self._partitions.get(partition.index) is not partition:
            moved = self._loaded_partition(partition.index)
            error = moved if isinstance(moved, ErrorCode) else ErrorCode.NOT_COORDINATOR
            for _, _, done in written:
                done(error)
            return
        error = result.error
        if error is not NO_ERROR:
            error = _APPEND_ERRORS.get(error, error)
        for cached, following, done in written:
            if error is NO_ERROR:
                self._take_effect(cached, following)
            elif not (error is ErrorCode.COORDINATOR_NOT_AVAILABLE and _is_completion(following)):
                cached.pending = None
                if following is not None:
                    self._events.not_written(following, error)
            done(error)

    def _take_effect(self, cached: CachedTransaction, following: TransactionMetadata | None) -> None:
        cached.pending = None
        if following is None:
            transactional_id = cached.metadata.transactional_id
            cached.partition.transactions.pop(transactional_id, None)
            self._cache.pop(transactional_id, None)
        elif following.state is EMPTY and self._emulation.is_3_9:
            # When an id starts over, 3.9 keeps the start of the last transaction in its cache, but not in the log.
            cached.metadata = replace(following, start_ms=cached.metadata.start_ms)
        else:
            cached.metadata = following
            if following.state is ONGOING:
                cached.partition.calm_until_ms = min(cached.partition.calm_until_ms, following.times_out_at_ms)

    def _loaded_partition(self, index: int) -> StatePartition | ErrorCode:
        partition = self._partitions.get(index)
        if partition is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if partition.loading else partition


def _is_completion(following: TransactionMetadata | None) -> bool:
    return following is not None and following.state in (COMPLETE_COMMIT, COMPLETE_ABORT)
