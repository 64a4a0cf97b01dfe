"""A partition on a broker: its leader, its followers' progress, and its waiting requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.metadata.image import PartitionState
from eosctl.sandbox.replication.purgatory import ReplicationWait
from eosctl.wire.error_codes import NO_ERROR, ErrorCode
from eosctl.wire.records.header import BatchHeader

UNKNOWN_OFFSET: Final = -1
MOST_RECENT: Final = 16
"""Maximum number of batches kept for followers, in addition to the logs' memory."""


def place_of(topic_id: bytes, index: int) -> bytes:
    """Return a key of a partition with a cached hash; followers are looked up with every append."""
    return topic_id + index.to_bytes(4, "big", signed=True)


class FetchWatcher(ABC):
    """A fetch session's view of a partition; a base class, since compiled code calls its methods directly."""

    __slots__ = ()

    @abstractmethod
    def check_again(self) -> None:
        """Handle any change of the partition: leader, ISR, offsets."""

    @abstractmethod
    def appended(self) -> None:
        """Handle an append that does not raise the high watermark."""

    @abstractmethod
    def high_watermark_moved(self) -> None:
        """Handle a higher high watermark."""

    @abstractmethod
    def lose(self) -> None:
        """Handle that this broker no longer hosts the partition, and release it."""


class Follower:
    """A leader's state of a follower."""

    __slots__ = ("broker_epoch", "caught_up_ms", "end_offset", "last_fetch_end_offset", "last_fetch_ms", "start_offset")

    def __init__(self) -> None:
        self.end_offset = UNKNOWN_OFFSET
        self.start_offset = UNKNOWN_OFFSET
        self.caught_up_ms = 0
        self.last_fetch_ms = 0
        self.last_fetch_end_offset = UNKNOWN_OFFSET
        self.broker_epoch = -1

    def fetched(self, offset: int, start_offset: int, now_ms: int, leader_end_offset: int, broker_epoch: int) -> None:
        """Record a fetch: the follower has everything below `offset` (Kafka's `Replica.updateFetchState`)."""
        if offset >= leader_end_offset:
            self.caught_up_ms = now_ms
        elif offset >= self.last_fetch_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, self.last_fetch_ms)
        self.end_offset = offset
        self.start_offset = start_offset
        self.last_fetch_ms = now_ms
        self.last_fetch_end_offset = leader_end_offset
        self.broker_epoch = broker_epoch

    def record_push(self, end_offset: int, start_offset: int, now_ms: int) -> None:
        """Record that the follower has all of the leader's records, as a fetch at the log end does."""
        self.caught_up_ms = self.last_fetch_ms = now_ms
        self.end_offset = self.last_fetch_end_offset = end_offset
        self.start_offset = start_offset

    def idled(self, last_fetch_ms: int) -> None:
        """Record the last fetch of a period without new records for this follower."""
        if last_fetch_ms > self.caught_up_ms:
            self.caught_up_ms = last_fetch_ms
        if last_fetch_ms > self.last_fetch_ms:
            self.last_fetch_ms = last_fetch_ms

    def is_caught_up(self, leader_end_offset: int, now_ms: int, max_lag_ms: int) -> bool:
        """Return whether the follower is at the log end, or was within `replica.lag.time.max.ms`."""
        return self.end_offset == leader_end_offset or now_ms - self.caught_up_ms <= max_lag_ms


class TopicTraffic:
    """A broker's traffic of a topic as leader, since its start.

    `append_count` counts batches that were to be appended, those of the broker itself and rejected ones included;
    `replica_count` is the number of hosted replicas.
    """

    __slots__ = ("append_count", "bytes_in", "bytes_out", "record_count_in", "replica_count")

    def __init__(self) -> None:
        self.append_count = 0
        self.bytes_in = 0
        self.bytes_out = 0  # Bytes sent to consumers.
        self.record_count_in = 0
        self.replica_count = 0

    def add(self, other: TopicTraffic) -> None:
        """Add another topic's traffic."""
        self.append_count += other.append_count
        self.bytes_in += other.bytes_in
        self.bytes_out += other.bytes_out
        self.record_count_in += other.record_count_in


class Partition:
    """A replica with its role. Offsets of the log change only through this object.

    Attributes:
        recent: The leader's newest batches with headers, which a follower may lack.
    """

    __slots__ = (
        "broker_id",
        "followers",
        "in_sync",
        "isr",
        "leader_epoch",
        "leader_id",
        "leader_start_offset",
        "log",
        "partition",
        "partition_epoch",
        "pending_isr",
        "recent",
        "replicas",
        "topic_id",
        "traffic",
        "waits",
        "watchers",
    )

    def __init__(
        self, broker_id: int, partition: TopicPartition, topic_id: bytes, log: PartitionLog, traffic: TopicTraffic
    ) -> None:
        self.broker_id = broker_id
        self.partition = partition
        self.topic_id = topic_id
        self.log = log
        self.traffic = traffic
        self.leader_id = -1
        self.leader_epoch = -1
        self.partition_epoch = -1
        self.leader_start_offset = 0
        self.replicas: tuple[int, ...] = ()
        self.isr: tuple[int, ...] = ()
        self.pending_isr: tuple[int, ...] | None = None  # Requested from the controller, without a response yet.
        self.followers: dict[int, Follower] = {}
        self.in_sync: tuple[Follower, ...] | None = ()  # Followers of the ISR; None if one of them has not fetched yet.
        self.recent: list[tuple[bytes, BatchHeader]] = []
        self.waits: deque[ReplicationWait] = deque()
        self.watchers: dict[FetchWatcher, None] = {}

    @property
    def min_isr(self) -> int:
        """Return the required number of in-sync replicas: `min.insync.replicas`, at most the number of replicas."""
        return min(self.log.settings.min_insync_replicas, max(1, len(self.replicas)))

    @property
    def is_below_min_isr(self) -> bool:
        """Return whether the ISR is smaller than `min_isr`."""
        count = len(self.isr)
        return count < self.log.settings.min_insync_replicas and count < max(1, len(self.replicas))

    @property
    def is_leader(self) -> bool:
        """Return whether this broker leads the partition."""
        return self.leader_id == self.broker_id

    # --- role ---------------------------------------------------------------------------------------------------

    def apply(self, state: PartitionState, now_ms: int) -> bool:
        """Apply the controller's decision; return whether the leader epoch is new to this broker."""
        new_epoch = state.leader_epoch > self.leader_epoch
        was_leader = self.is_leader
        self.leader_id = state.leader
        self.leader_epoch = state.leader_epoch
        self.replicas = state.replicas
        if state.partition_epoch >= self.partition_epoch:
            self.apply_isr(state.isr, state.partition_epoch)
        if self.is_leader:
            if new_epoch or not was_leader:
                self._lead(now_ms)
            self._keep_followers(now_ms)
            self.maybe_advance_high_watermark()
        elif was_leader:
            self.followers.clear()
            self.recent.clear()
            self._find_in_sync()
            self.fail_waits(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if new_epoch or was_leader != self.is_leader:
            self.notify_watchers()
        return new_epoch

    def apply_isr(self, isr: tuple[int, ...], partition_epoch: int) -> None:
        """Apply the controller's ISR."""
        has_lost_replicas = not set(self.isr) <= set(isr)
        self.isr = isr
        self.partition_epoch = partition_epoch
        self.pending_isr = None
        self._find_in_sync()
        if has_lost_replicas:
            self.notify_watchers()  # Idle sessions do not check followers in the ISR; these followers have to rejoin.

    def _lead(self, now_ms: int) -> None:
        self.leader_start_offset = self.log.end_offset
        self.log.epochs.assign(self.leader_epoch, self.log.end_offset)
        self.followers.clear()
        for broker_id in self.isr:
            if broker_id != self.broker_id:
                follower = self.followers[broker_id] = Follower()
                follower.caught_up_ms = now_ms

    def _keep_followers(self, now_ms: int) -> None:
        for broker_id in self.replicas:
            if broker_id != self.broker_id and broker_id not in self.followers:
                self.followers[broker_id] = Follower()
        for broker_id in tuple(self.followers):
            if broker_id not in self.replicas:
                del self.followers[broker_id]
        self._find_in_sync()

    def _find_in_sync(self) -> None:
        """Return the followers of the ISR; each of their fetches may raise the high watermark."""
        others = [self.followers.get(broker_id) for broker_id in self.isr if broker_id != self.broker_id]
        known = tuple(follower for follower in others if follower is not None)
        self.in_sync = known if len(known) == len(others) else None

    # --- the high watermark -------------------------------------------------------------------------------------

    def maybe_advance_high_watermark(self) -> bool:
        """Raise the high watermark to the offset that every in-sync replica has; return whether it moved.

        It does not move while the ISR is smaller than `min.insync.replicas` (KAFKA-15583): a replica that has left the
        ISR may lead again, and records that consumers have read must not be lost.
        """
        log, in_sync = self.log, self.in_sync
        if in_sync is None:
            return False
        end = log.store.log_end_offset
        for follower in in_sync:
            if follower.end_offset < end:
                end = follower.end_offset
                if end <= log.high_watermark:
                    return False
        if self.pending_isr is not None:
            end = min(end, self._lowest_end_offset(self.pending_isr))
        if end <= log.high_watermark or self.is_below_min_isr:
            return False
        log.advance_high_watermark(end)
        if end == log.store.log_end_offset and self.recent:
            self.recent = []
        if self.watchers:
            for watcher in self.watchers:
                watcher.high_watermark_moved()
        waits = self.waits
        if waits:
            while waits and waits[0].offset < end:
                waits.popleft().complete(NO_ERROR)
        return True

    def _lowest_end_offset(self, isr: tuple[int, ...]) -> int:
        """Return the lowest log end offset of the followers in a requested ISR."""
        known = [self.followers.get(broker_id) for broker_id in isr if broker_id != self.broker_id]
        return min(
            (UNKNOWN_OFFSET if follower is None else follower.end_offset for follower in known),
            default=self.log.end_offset,
        )

    def appended(self, batch: bytes, header: BatchHeader) -> None:
        """Record a batch that was appended to the leader's log."""
        traffic = self.traffic
        traffic.bytes_in += len(batch)
        traffic.record_count_in += header.last_offset_delta + 1
        if len(self.isr) == 1 and self.pending_isr is None:
            self.maybe_advance_high_watermark()
        else:
            if len(self.recent) == MOST_RECENT:
                self.recent.clear()
            self.recent.append((batch, header))
        if self.watchers:
            for watcher in self.watchers:
                watcher.appended()

    def wait_for(self, wait: ReplicationWait) -> None:
        """Complete `wait` once its offset is replicated."""
        if wait.offset < self.log.high_watermark:
            wait.complete(NO_ERROR)
        else:
            self.waits.append(wait)

    def fail_waits(self, error: ErrorCode) -> None:
        """Fail every wait with an error."""
        waits = self.waits
        self.waits = deque()
        for wait in waits:
            wait.complete(error)

    # --- fetches ------------------------------------------------------------------------------------------------

    def watch(self, watcher: FetchWatcher) -> None:
        """Notify `watcher` of every change."""
        self.watchers[watcher] = None

    def unwatch(self, watcher: FetchWatcher) -> None:
        """Stop notifying `watcher`."""
        self.watchers.pop(watcher, None)

    def notify_watchers(self) -> None:
        """Notify every fetch session of a change."""
        for watcher in self.watchers:
            watcher.check_again()

    def remove_watchers(self) -> None:
        """Notify every fetch session that this partition is gone; sessions may outlive their clients."""
        watchers = self.watchers
        self.watchers = {}
        for watcher in watchers:
            watcher.lose()
