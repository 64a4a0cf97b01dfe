"""The partitions that a broker hosts: roles from metadata, and appends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Final, Protocol

from eosctl.model.transaction import ProducerState, TopicPartition
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.producer_state import VerificationGuard
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.logging.append_events import AppendEvents
from eosctl.sandbox.logging.replica_events import FormerRole, ReplicaEvents
from eosctl.sandbox.metadata.image import RECOVERING, ClusterImage, ImageDelta, PartitionState, directory_of
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, AppendResult
from eosctl.sandbox.replication.appends import LeaderAppends
from eosctl.sandbox.replication.partition import Partition, TopicTraffic
from eosctl.sandbox.replication.purgatory import Deadlines
from eosctl.sandbox.replication.verification import VerificationPolicy
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import BatchHeader, decode_header, with_offset
from eosctl.wire.records.control import EndTxnMarker

APPLIED_PER_STEP: Final = 20  # Partitions, whose files are created or renamed: some 5 ms, which each broker takes.

FOLLOWED_PER_STEP: Final = 200  # Partitions whose first fetches a leader handles together: some 5 ms.


class LogOpener(Protocol):
    """Opens and deletes the logs of a node's data directory."""

    def open(
        self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings, assigned: bytes
    ) -> PartitionLog:
        """Open the log of a partition and recover existing files; without files, use the directory `assigned`."""

    def remove(self, partition: TopicPartition, log: PartitionLog) -> None:
        """Delete a partition's files."""


class RoleListener(Protocol):
    """Receives changes of the partitions that this broker hosts."""

    def became_leader(self, partition: Partition) -> None:
        """Handle that this broker leads the partition in a new leader epoch."""

    def became_follower(self, partition: Partition) -> None:
        """Handle that this broker follows, or no longer hosts, the partition."""

    def marker_replicated(self, partition: Partition, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Handle a replicated transaction marker for a group's offsets, which this leader has appended."""


class ReplicaManager:
    """The replicas of a broker; implements `Replicas` of `sandbox.ports`."""

    def __init__(
        self, broker_id: int, runtime: NodeRuntime, logs: LogOpener, verification: VerificationPolicy, *, is_3_9: bool
    ) -> None:
        self.broker_id = broker_id
        self.verification = verification
        self.runtime = runtime
        self.partitions: dict[TopicPartition, Partition] = {}
        self.traffic: dict[str, TopicTraffic] = {}  # Of each topic with a replica here.
        self.former_traffic = TopicTraffic()  # Of all topics whose last replica was removed.
        self.deadlines = Deadlines(runtime)
        self.events = ReplicaEvents(runtime.log, broker_id)
        self.refusals = AppendEvents(runtime.log, broker_id, is_3_9=is_3_9)
        self.appends = LeaderAppends(self.partitions, runtime, self.deadlines, self.refusals)
        self.listeners: list[RoleListener] = []
        self.known: Callable[[TopicPartition], bool] = lambda _: False
        self.offline: set[TopicPartition] = set()  # Partitions in a failed log directory.
        self._logs = logs

    # --- roles --------------------------------------------------------------------------------------------------

    def apply(
        self, image: ClusterImage, delta: ImageDelta, settings_of: Callable[[str], TopicSettings]
    ) -> Iterator[None]:
        """Apply metadata: host, lead, follow, or drop partitions, `APPLIED_PER_STEP` in each step."""
        removed = [
            (TopicPartition(topic.name, index), topic.topic_id)
            for topic in delta.removed_topics
            for index in range(topic.partition_count)
        ]
        for count, (topic_partition, topic_id) in enumerate(removed, 1):
            self._drop(topic_partition, topic_id)
            if count % APPLIED_PER_STEP == 0:
                yield
        for count, topic_partition in enumerate(delta.partitions, 1):
            if count % APPLIED_PER_STEP == 0:
                yield
            topic = image.topics.get(topic_partition.topic)
            state = topic.partitions.get(topic_partition.partition) if topic is not None else None
            if topic is None or state is None or self.broker_id not in state.replicas:
                self._drop(topic_partition, None)
            elif topic_partition not in self.offline:
                self._host(topic_partition, topic.topic_id, state, settings_of)
        for count, topic_partition in enumerate(delta.partitions, 1):
            if count % FOLLOWED_PER_STEP == 0:
                yield
            partition = self.partitions.get(topic_partition)
            if partition is not None and not partition.is_leader:
                for listener in self.listeners:
                    listener.became_follower(partition)

    def apply_settings(self, topic: str, settings: TopicSettings) -> None:
        """Apply changed settings of a topic."""
        for partition in self.partitions.values():
            if partition.partition.topic == topic:
                partition.log.apply_settings(settings)

    def _host(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        state: PartitionState,
        settings_of: Callable[[str], TopicSettings],
    ) -> None:
        partition = self.partitions.get(topic_partition)
        if partition is None:
            assigned = directory_of(state, self.broker_id)
            log = self._logs.open(topic_partition, topic_id, settings_of(topic_partition.topic), assigned)
            traffic = self.traffic.setdefault(topic_partition.topic, TopicTraffic())
            traffic.replica_count += 1
            partition = Partition(self.broker_id, topic_partition, topic_id, log, traffic)
            self.partitions[topic_partition] = partition
            self.events.hosted(partition)
        former = FormerRole(partition.leader_id, partition.leader_epoch)
        new_epoch = partition.apply(state, self.runtime.now_ms())
        if new_epoch:
            if partition.is_leader and state.leader_recovery_state == RECOVERING:
                self.events.recovered(partition)
            self.events.changed_role(partition, former)
        if partition.is_leader and new_epoch:
            for listener in self.listeners:
                listener.became_leader(partition)

    def _drop(self, topic_partition: TopicPartition, topic_id: bytes | None) -> None:
        self.offline.discard(topic_partition)
        partition = self.partitions.get(topic_partition)
        if partition is None or (topic_id is not None and partition.topic_id != topic_id):
            return
        self._let_go(partition, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self._logs.remove(topic_partition, partition.log)

    def _let_go(self, partition: Partition, error: ErrorCode) -> None:
        del self.partitions[partition.partition]
        traffic = partition.traffic
        traffic.replica_count -= 1
        if not traffic.replica_count:  # Its metrics are removed, as in Kafka (ReplicaManager.maybeRemoveTopicMetrics).
            del self.traffic[partition.partition.topic]
            self.former_traffic.add(traffic)
        partition.leader_id = -1
        partition.fail_waits(error)
        partition.remove_watchers()
        for listener in self.listeners:
            listener.became_follower(partition)

    def take_offline(self, lost: Collection[TopicPartition]) -> None:
        """Stop serving the partitions of a failed log directory, until this broker restarts."""
        for topic_partition in lost:
            partition = self.partitions.get(topic_partition)
            if partition is not None:
                self.offline.add(topic_partition)
                self._let_go(partition, ErrorCode.KAFKA_STORAGE_ERROR)
                partition.log.close(clean=False)

    # --- lookups ------------------------------------------------------------------------------------------------

    def leader(self, topic_partition: TopicPartition) -> Partition | ErrorCode:
        """Return the partition if this broker leads it, else the error."""
        partition = self.partitions.get(topic_partition)
        if partition is not None and partition.is_leader:
            return partition
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if partition is not None else self.absence(topic_partition)

    def readable(self, topic_partition: TopicPartition) -> Partition | ErrorCode:
        """Return the partition if this broker has a replica, which consumers may read too, else the error."""
        return self.partitions.get(topic_partition) or self.absence(topic_partition)

    def absence(self, topic_partition: TopicPartition) -> ErrorCode:
        """Return the error for a partition that this broker does not serve."""
        if topic_partition in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if self.known(topic_partition):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    # --- the coordinators' view (ports.Replicas) ----------------------------------------------------------------

    def append_internal(
        self,
        partition: TopicPartition,
        batch: bytes,
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int = 5000,
        guard: object | None = None,
    ) -> None:
        """Append a coordinator's batch as leader with acks=all."""
        hosted = self.partitions.get(partition)
        if hosted is not None:
            batch = with_offset(batch, hosted.log.end_offset, hosted.leader_epoch)
        header = decode_header(batch)
        if header.producer_id >= 0 and hosted is not None and self.verification.is_missing(hosted, header, guard):
            done(AppendResult(ErrorCode.INVALID_TXN_STATE))
            return
        self.appends.internal(hosted, batch, header, done, timeout_ms)

    def append_entries(
        self,
        partition: TopicPartition,
        entries: Sequence[tuple[bytes, bytes | None]],
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int,
    ) -> None:
        """Append a coordinator's keys and values as one batch, as leader with acks=all."""
        self.appends.entries(self.partitions.get(partition), entries, done, timeout_ms)

    def begin_verification(
        self, partition: TopicPartition, producer_id: int, producer_epoch: int, *, adds_partition: bool = False
    ) -> VerificationGuard | ErrorCode | None:
        """Return the verification guard for an append.

        None if no verification is needed, or INVALID_PRODUCER_EPOCH.
        """
        hosted = self.partitions.get(partition)
        if hosted is None or not hosted.is_leader:
            return None
        return self.verification.begin(hosted, producer_id, producer_epoch, 0, adds_partition=adds_partition)

    def append_marker(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        coordinator_epoch: int,
        transaction_version: int,
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int = 30_000,
    ) -> None:
        """Append an end-transaction marker as leader; `done` is called when it is replicated."""
        hosted = self.partitions.get(partition)
        if hosted is None and self.absence(partition) is not ErrorCode.NOT_LEADER_OR_FOLLOWER:
            done(AppendResult(self.absence(partition)))
            return
        if hosted is not None and partition.topic == CONSUMER_OFFSETS_TOPIC:
            done = partial(self._marker_done, hosted, producer_id, producer_epoch, committed, done)
        self.appends.marker(
            hosted,
            producer_id,
            producer_epoch,
            EndTxnMarker(committed, coordinator_epoch),
            transaction_version,
            done,
            timeout_ms,
        )

    def _marker_done(
        self,
        partition: Partition,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        done: Callable[[AppendResult], None],
        result: AppendResult,
    ) -> None:
        """Commit or drop the offsets of the transaction before the marker is acknowledged."""
        if result.error is ErrorCode.NONE:
            for listener in self.listeners:
                listener.marker_replicated(partition, producer_id, producer_epoch, committed)
        done(result)

    def read_all(self, partition: TopicPartition) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield header and bytes of each batch of the local log."""
        hosted = self.partitions.get(partition)
        return hosted.log.batches() if hosted is not None else iter(())

    def log_end_offset(self, partition: TopicPartition) -> int:
        """Return the local log end offset.

        Raises:
            KeyError: The partition is not hosted here.
        """
        return self.partitions[partition].log.end_offset

    def active_producers(self, partition: TopicPartition) -> Sequence[ProducerState] | ErrorCode:
        """Return the state of every producer in the local replica."""
        hosted = self.partitions.get(partition)
        if hosted is None:
            return self.absence(partition)
        return [
            ProducerState(
                entry.producer_id,
                entry.producer_epoch,
                entry.last_sequence,
                entry.last_timestamp,
                entry.coordinator_epoch,
                entry.txn_first_offset if entry.txn_first_offset >= 0 else None,
            )
            for entry in hosted.log.producers.producers.values()
        ]

    # --- end ----------------------------------------------------------------------------------------------------

    def close(self, *, clean: bool) -> None:
        """Close every log."""
        for partition in self.partitions.values():
            partition.log.close(clean=clean)
