"""The share coordinator of a broker: the partitions of `__share_group_state` that it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.share.records import StateRecord
from eosctl.sandbox.coordinator.share.shard import NO_STATE, StateRefusedError, StateShard, StateWrite
from eosctl.sandbox.coordinator.share.state import ShareGroupOffset, SharePartitionKey
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import (
    SHARE_GROUP_STATE_TOPIC,
    AppendResult,
    BrokerConfig,
    Emulation,
    MetadataView,
    Replicas,
    Runtime,
)
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.records.batch import decode_records

FENCED_TEXT_4_4: Final = "The coordinator rejected the request because the state epoch did not match."


class StateResult(NamedTuple):
    """The result of an operation on a share-partition; `state` is its state before the operation."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: ShareGroupOffset = NO_STATE


StateDone = Callable[[StateResult], None]


class ShareCoordinator:
    """Finds the shard of a share-partition, applies its rules, and writes what they return.

    A record is applied before it is replicated, so that the next request sees it. `done` is called once it is
    replicated; a record that could not be written is reverted.
    """

    def __init__(
        self,
        runtime: Runtime,
        config: BrokerConfig,
        metadata: MetadataView,
        replicas: Replicas,
        emulation: Emulation,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._metadata = metadata
        self._replicas = replicas
        self._is_before_4_4 = emulation.is_before_4_4
        self._fenced_text = "" if emulation.is_before_4_4 else FENCED_TEXT_4_4
        self._shards: dict[int, StateShard] = {}

    def partition_for(self, key: SharePartitionKey) -> int:
        """Return the partition of `__share_group_state` for a share-partition."""
        count = self._metadata.partition_count(SHARE_GROUP_STATE_TOPIC)
        return partition_for(str(key), count or self._config.get_int("share.coordinator.state.topic.num.partitions"))

    @property
    def shards(self) -> list[StateShard]:
        """Return all loaded shards."""
        return [shard for shard in self._shards.values() if not shard.is_loading]

    # --- leadership (CoordinatorHooks) ----------------------------------------------------------------------------

    def become_leader(self, partition_index: int, leader_epoch: int) -> None:
        """Load a partition at the end of this turn; until then requests get error 14."""
        known = self._shards.get(partition_index)
        if known is not None:
            known.leader_epoch = leader_epoch
            return
        shard = self._shards[partition_index] = StateShard(
            partition_index, leader_epoch, self._fenced_text, moves_start_back=self._is_before_4_4
        )
        self._runtime.call_soon(partial(self._load, shard))

    def resign(self, partition_index: int, leader_epoch: int | None) -> None:
        """Unload a partition; a resignation older than the election is ignored."""
        shard = self._shards.get(partition_index)
        if shard is None or (leader_epoch is not None and leader_epoch < shard.leader_epoch):
            return
        shard.is_closed = True
        del self._shards[partition_index]

    def marker_written(self, partition_index: int, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Ignore a transaction marker: the topic has no transactions."""

    def topics_deleted(self, topic_ids: Iterable[bytes]) -> None:
        """Remove the state of deleted topics."""
        gone = list(topic_ids)
        for shard in self.shards:
            for record in shard.delete_topics(gone):
                self._write(shard, record, StateResult(), lambda result: None)

    def _load(self, shard: StateShard) -> None:
        if shard.is_closed:
            return
        partition = TopicPartition(SHARE_GROUP_STATE_TOPIC, shard.index)
        for header, batch in self._replicas.read_all(partition):
            if header.is_control:
                continue
            for record in decode_records(batch, header):
                if record.key is not None:
                    self._replay(shard, StateRecord(record.key, record.value))
        shard.is_loading = False

    def _replay(self, shard: StateShard, record: StateRecord) -> None:
        try:
            shard.replay(record, self._updates_per_snapshot)
        except UnknownRecordError:
            return

    # --- operations -------------------------------------------------------------------------------------------------

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, done: StateDone) -> None:
        """Begin the state of a share-partition."""

        def change(shard: StateShard) -> tuple[StateRecord | None, StateResult]:
            now_ms = self._runtime.now_ms()
            return shard.initialize(key, state_epoch, start_offset, self._metadata, now_ms), StateResult()

        self._apply(key, change, done)

    def write(self, key: SharePartitionKey, state: StateWrite, done: StateDone) -> None:
        """Change the state of a share-partition."""

        def change(shard: StateShard) -> tuple[StateRecord | None, StateResult]:
            now_ms = self._runtime.now_ms()
            return shard.write(key, state, self._metadata, self._updates_per_snapshot, now_ms), StateResult()

        self._apply(key, change, done)

    def read(self, key: SharePartitionKey, leader_epoch: int, done: StateDone) -> None:
        """Return the state of a share-partition to its leader, and fence earlier leaders."""

        def change(shard: StateShard) -> tuple[StateRecord | None, StateResult]:
            now_ms = self._runtime.now_ms()
            state, record = shard.read(key, leader_epoch, self._metadata, self._updates_per_snapshot, now_ms)
            return record, StateResult(state=state)

        self._apply(key, change, done)

    def summarize(self, key: SharePartitionKey, done: StateDone) -> None:
        """Return the state of a share-partition without its batches."""
        self._apply(key, lambda shard: (None, StateResult(state=shard.summarize(key, self._metadata))), done)

    def delete(self, key: SharePartitionKey, done: StateDone) -> None:
        """Remove the state of a share-partition."""
        self._apply(key, lambda shard: (shard.delete(key, self._metadata), StateResult()), done)

    @property
    def _updates_per_snapshot(self) -> int:
        return self._config.get_int("share.coordinator.snapshot.update.records.per.snapshot")

    def _apply(
        self,
        key: SharePartitionKey,
        change: Callable[[StateShard], tuple[StateRecord | None, StateResult]],
        done: StateDone,
    ) -> None:
        shard = self._shards.get(self.partition_for(key))
        if shard is None or shard.is_loading:
            error = ErrorCode.NOT_COORDINATOR if shard is None else ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            done(StateResult(error, None))
            return
        try:
            record, result = change(shard)
        except StateRefusedError as refusal:
            done(StateResult(refusal.error, refusal.message))
            return
        if record is None:
            done(result)
        else:
            self._write(shard, record, result, done)

    def _write(self, shard: StateShard, record: StateRecord, result: StateResult, done: StateDone) -> None:
        key, before = shard.replay(record, self._updates_per_snapshot)
        after = shard.states.get(key)

        def appended(outcome: AppendResult) -> None:
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER if shard.is_closed else outcome.error
            if error is ErrorCode.NONE:
                done(result)
                return
            if shard.states.get(key) is after:
                shard.restore(key, before)
            shown = classify_group_error(error, is_3_9=False)
            done(StateResult(shown, kafka_text(shown)))

        partition = TopicPartition(SHARE_GROUP_STATE_TOPIC, shard.index)
        timeout_ms = self._config.get_int("share.coordinator.write.timeout.ms")
        self._replicas.append_entries(partition, [(record.key, record.value)], appended, timeout_ms=timeout_ms)
