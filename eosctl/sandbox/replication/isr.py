"""In-sync replicas: the followers' progress, and AlterPartition requests to the controller (KIP-497)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import Channel
from eosctl.sandbox.replication.partition import Follower, Partition
from eosctl.sandbox.replication.reading import diverges
from eosctl.sandbox.replication.replica_manager import ReplicaManager
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
)
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest

ALTER_PARTITION_VERSION = 3
RETRY_MS = 50


class IsrManager:
    """Tracks the followers of every partition that this broker leads.

    `broker_epoch` returns this broker's epoch, `epoch_of` another broker's, `is_active` whether a broker may be in an
    ISR. One AlterPartition request is in flight at a time, with all pending changes.
    """

    def __init__(
        self,
        replicas: ReplicaManager,
        runtime: NodeRuntime,
        channel: Channel,
        *,
        broker_epoch: Callable[[], int],
        epoch_of: Callable[[int], int],
        is_active: Callable[[int], bool],
        max_lag_ms: Callable[[], int],
    ) -> None:
        self._replicas = replicas
        self._runtime = runtime
        self._channel = channel
        self._broker_epoch = broker_epoch
        self._epoch_of = epoch_of
        self._is_active = is_active
        self._max_lag_ms = max_lag_ms
        self._waiting: dict[TopicPartition, None] = {}
        self._in_flight = False
        self.shrink_count = 0
        self.expand_count = 0

    # --- fetches of followers -----------------------------------------------------------------------------------

    def follower_fetched(
        self, partition: Partition, replica_id: int, requested: FetchPartition, request: FetchRequest, now_ms: int
    ) -> Follower | None:
        """Record a follower's fetch; return the follower if the fetch determines its offset.

        A follower with a diverging log does not have the records before its offset (`Partition.fetchRecords`).
        """
        follower = partition.followers.get(replica_id)
        if follower is None:
            return None
        log, offset = partition.log, requested.fetch_offset
        store = log.store
        end_offset = store.log_end_offset
        if (
            not store.log_start_offset <= offset <= end_offset
            or requested.current_leader_epoch not in (partition.leader_epoch, -1)
            or (requested.last_fetched_epoch != log.epochs.latest and diverges(partition, requested))
        ):
            return None
        follower.fetched(offset, requested.log_start_offset, now_ms, end_offset, request.replica_state.replica_epoch)
        if offset > log.high_watermark:
            partition.maybe_advance_high_watermark()
        if replica_id not in partition.isr:
            self._maybe_expand(partition, replica_id)
        return follower

    def _maybe_expand(self, partition: Partition, replica_id: int) -> None:
        follower = partition.followers[replica_id]
        log = partition.log
        if (
            partition.pending_isr is None
            and partition.is_leader
            and follower.end_offset >= max(log.high_watermark, partition.leader_start_offset)
            and self._is_active(replica_id)
            and follower.broker_epoch in (-1, self._epoch_of(replica_id))
        ):
            self._request_isr(partition, (*partition.isr, replica_id))

    # --- lag ----------------------------------------------------------------------------------------------------

    def shrink_lagging(self) -> None:
        """Remove followers from ISRs that have not caught up for `replica.lag.time.max.ms`."""
        now_ms, max_lag_ms = self._runtime.now_ms(), self._max_lag_ms()
        for partition in self._replicas.partitions.values():
            leader_id = partition.broker_id
            if partition.leader_id != leader_id or partition.pending_isr is not None:
                continue
            end_offset, followers = partition.log.end_offset, partition.followers
            lagging = [
                broker
                for broker in partition.isr
                if broker != leader_id
                and (
                    (follower := followers.get(broker)) is None
                    or (follower.end_offset != end_offset and not follower.is_caught_up(end_offset, now_ms, max_lag_ms))
                )
            ]
            if lagging:
                kept = tuple(broker for broker in partition.isr if broker not in lagging)
                self._replicas.events.shrinks_isr(partition, kept)
                self._request_isr(partition, kept)

    # --- AlterPartition -----------------------------------------------------------------------------------------

    def _request_isr(self, partition: Partition, isr: tuple[int, ...]) -> None:
        partition.pending_isr = isr
        self._waiting[partition.partition] = None
        if not self._in_flight:
            self._in_flight = True
            self._runtime.call_soon(self._send)

    def _send(self) -> None:
        topics: dict[bytes, list[RequestPartitionData]] = {}
        sent = []
        for topic_partition in self._waiting:
            partition = self._replicas.partitions.get(topic_partition)
            if partition is None or not partition.is_leader or partition.pending_isr is None:
                continue
            sent.append(topic_partition)
            topics.setdefault(partition.topic_id, []).append(
                RequestPartitionData(
                    topic_partition.partition,
                    partition.leader_epoch,
                    (),
                    [BrokerState(broker, self._member_epoch(broker)) for broker in partition.pending_isr],
                    0,
                    partition.partition_epoch,
                )
            )
        self._waiting.clear()
        if not sent:
            self._in_flight = False
            return
        request = AlterPartitionRequest(
            self._replicas.broker_id,
            self._broker_epoch(),
            [RequestTopicData("", topic_id, partitions) for topic_id, partitions in topics.items()],
        )
        self._channel.send_to_controller(
            ApiKey.ALTER_PARTITION, ALTER_PARTITION_VERSION, request, partial(self._answered, sent)
        )

    def _member_epoch(self, broker_id: int) -> int:
        return self._broker_epoch() if broker_id == self._replicas.broker_id else self._epoch_of(broker_id)

    def _answered(self, sent: list[TopicPartition], response: Any | None) -> None:
        self._in_flight = False
        if response is None or response.error_code:
            for topic_partition in sent:
                self._waiting[topic_partition] = None
            self._in_flight = True
            self._runtime.call_later(RETRY_MS, self._send)
            return
        by_id = {partition.topic_id: name for name, partition in self._replicas.partitions.items()}
        for topic in response.topics:
            known = by_id.get(topic.topic_id)
            for answer in topic.partitions:
                if known is not None:
                    self._apply(TopicPartition(known.topic, answer.partition_index), answer)
        if self._waiting and not self._in_flight:
            self._in_flight = True
            self._runtime.call_soon(self._send)

    def _apply(self, topic_partition: TopicPartition, answer: ResponsePartitionData) -> None:
        partition = self._replicas.partitions.get(topic_partition)
        if partition is None or not partition.is_leader:
            return
        if answer.error_code == ErrorCode.NONE and answer.leader_epoch == partition.leader_epoch:
            if answer.partition_epoch >= partition.partition_epoch:
                self.shrink_count += len(answer.isr) < len(partition.isr)
                self.expand_count += len(answer.isr) > len(partition.isr)
                partition.apply_isr(tuple(answer.isr), answer.partition_epoch)
                self._replicas.events.changed_isr(partition)
                partition.maybe_advance_high_watermark()
        else:
            # The controller's decision arrives through the metadata log; lag is checked again.
            partition.pending_isr = None
