"""The group coordinator of a broker: the partitions of `__consumer_offsets` that it serves, and their handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.admin import GroupAdmin
from eosctl.sandbox.coordinator.group.classic_driver import ClassicDriver
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.classic_requests import ClassicRequests
from eosctl.sandbox.coordinator.group.consumer.classic_member_driver import ClassicMemberDriver
from eosctl.sandbox.coordinator.group.consumer.driver import ConsumerDriver
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.loader import LoadCounter, replay_log
from eosctl.sandbox.coordinator.group.offset_manager import OffsetManager
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.coordinator.group.share.driver import ShareDriver
from eosctl.sandbox.coordinator.group.streams.driver import StreamsDriver
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup
from eosctl.sandbox.coordinator.share.persister import StatePersister
from eosctl.sandbox.logging.event_log import NO_LOG, EventLog
from eosctl.sandbox.logging.group_events import GroupEvents
from eosctl.sandbox.logging.streams_events import StreamsEvents
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, Timer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for

Materialise = Callable[[int, Callable[[], None]], None]


def materialize_immediately(_producer_id: int, end_transaction: Callable[[], None]) -> None:
    """End a transaction's offsets before its marker is acknowledged."""
    end_transaction()


class GroupCoordinator:
    """Finds the shard of a group and passes requests to the responsible part.

    `materialize` runs after a marker and commits or drops its pending offsets. The default runs it before the marker is
    acknowledged; Kafka's classic coordinator up to 3.9.0 runs it later (KAFKA-17507).
    """

    def __init__(
        self, host: GroupHost, log: EventLog = NO_LOG, node_id: int = -1, states: StatePersister | None = None
    ) -> None:
        self._host = host
        self._events = GroupEvents(log, node_id, is_3_9=host.emulation.is_3_9)
        self._classic = ClassicDriver(host, self._events)
        self.consumer = ConsumerDriver(host, self._events, self._classic)
        self.streams = StreamsDriver(host, StreamsEvents(log, node_id))
        self.classic = ClassicRequests(host, self._classic, ClassicMemberDriver(host, self.consumer))
        self.offsets = OffsetManager(host, self._classic)
        self.admin = GroupAdmin(host)
        self.share = ShareDriver(host, states, self._events)
        self.materialize: Materialise = materialize_immediately
        self._shards: dict[int, Shard] = {}
        self._expiry: Timer | None = None

    def partition_for(self, group_id: str) -> int:
        """Return the partition of `__consumer_offsets` for a group."""
        count = self._host.metadata.partition_count(CONSUMER_OFFSETS_TOPIC)
        return partition_for(group_id, count or self._host.config.get_int("offsets.topic.num.partitions"))

    def find_shard(self, group_id: str) -> Shard | ErrorCode:
        """Return the shard of a group, or the error: 14 while loading, 16 if this broker is not the coordinator."""
        shard = self._shards.get(self.partition_for(group_id))
        if shard is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if shard.is_loading else shard

    @property
    def shards(self) -> Sequence[Shard]:
        """Return all loaded shards."""
        return [shard for shard in self._shards.values() if not shard.is_loading]

    @property
    def is_loading(self) -> bool:
        """Return whether a shard is still loading; ListGroups then returns error 14."""
        return any(shard.is_loading for shard in self._shards.values())

    # --- leadership (CoordinatorHooks) --------------------------------------------------------------------------

    def become_leader(self, partition_index: int, leader_epoch: int) -> None:
        """Load a partition at the end of this turn; until then requests get error 14."""
        known = self._shards.get(partition_index)
        if known is not None:
            known.leader_epoch = leader_epoch
            return
        shard = self._shards[partition_index] = Shard(self._host, partition_index, leader_epoch)
        self._events.elected(partition_index, leader_epoch)
        self._host.runtime.call_soon(partial(self._load, shard))

    def resign(self, partition_index: int, leader_epoch: int | None) -> None:
        """Unload a partition and reject its held requests.

        A resignation older than the election is ignored.
        """
        shard = self._shards.get(partition_index)
        if shard is None or (leader_epoch is not None and leader_epoch < shard.leader_epoch):
            return
        del self._shards[partition_index]
        offsets = shard.offsets
        offset_count = sum(len(offsets.committed(group_id)) for group_id in offsets.group_ids())
        group_count = len(shard.groups) + len(shard.share_groups)
        self._events.resigned(partition_index, shard.leader_epoch, offset_count, group_count)
        for group in list(shard.groups.values()):
            if isinstance(group, ClassicGroup):
                self._classic.unloaded(shard, group)
        shard.close()

    def marker_written(self, partition_index: int, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Commit or drop a producer's pending offsets; a loading shard reads the marker from its log."""
        shard = self._shards.get(partition_index)
        if shard is not None and not shard.is_loading:
            self.materialize(producer_id, partial(self._end_transaction, shard, producer_id, committed))

    def _end_transaction(self, shard: Shard, producer_id: int, committed: bool) -> None:
        lost = [] if shard.is_closed else shard.end_transaction(producer_id, committed)
        if lost:
            self._events.completion_failed(producer_id, lost[0][0])

    def partitions_deleted(self, partitions: Iterable[TopicPartition]) -> None:
        """Remove the offsets of deleted partitions from all groups."""
        gone = set(partitions)
        for shard in self.shards:
            wanted = [
                (group_id, partition)
                for group_id in shard.offsets.group_ids()
                for partition in {*shard.offsets.committed(group_id), *shard.offsets.pending_partitions(group_id)}
                if partition in gone
            ]
            if wanted:
                self.offsets.remove(shard, wanted)

    def topics_deleted(self, topic_ids: Iterable[bytes]) -> None:
        """Forget the share-partitions of deleted topics."""
        gone = list(topic_ids)
        for shard in self.shards:
            self.share.topics_deleted(shard, gone)

    def _load(self, shard: Shard) -> None:
        if shard.is_closed:
            return
        started_ms = self._host.runtime.now_ms()
        batches = LoadCounter(self._host.replicas.read_all(shard.partition))
        is_3_9 = self._host.emulation.is_3_9
        replay_log(batches, shard.groups, shard.offsets, is_3_9, shard.share_groups, started_ms)
        shard.is_loading = False
        took_ms = self._host.runtime.now_ms() - started_ms
        index, epoch = shard.partition.partition, shard.leader_epoch
        self._events.loaded(index, epoch, batches.record_count, batches.size_bytes, took_ms)
        for group in list(shard.groups.values()):
            if isinstance(group, ClassicGroup):
                self._classic.loaded(shard, group)
            elif isinstance(group, StreamsGroup):
                self.streams.loaded(shard, group)
            else:
                self.consumer.loaded(shard, group)
        self.share.loaded(shard)
        if self._expiry is None:
            self._schedule_expiry()

    def _schedule_expiry(self) -> None:
        interval_ms = self._host.config.get_int("offsets.retention.check.interval.ms")
        self._expiry = self._host.runtime.call_later(interval_ms, self._expire)

    def _expire(self) -> None:
        for shard in self.shards:
            self.admin.expire(shard)
        if self._shards:
            self._schedule_expiry()
        else:
            self._expiry = None
