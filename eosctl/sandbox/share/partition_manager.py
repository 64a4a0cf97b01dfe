"""The share-partitions of a broker: loaded, written, and given up with the leadership (`SharePartitionManager`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.share.coordinator import StateResult
from eosctl.sandbox.coordinator.share.persister import StatePersister
from eosctl.sandbox.coordinator.share.shard import StateWrite
from eosctl.sandbox.coordinator.share.state import NO_OFFSET, SharePartitionKey
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import BrokerConfig, MetadataView, Runtime, Timer
from eosctl.sandbox.replication.partition import FetchWatcher, Partition
from eosctl.sandbox.replication.replica_manager import ReplicaManager
from eosctl.sandbox.share.acknowledgement import Acknowledgement, AcknowledgementRefusedError, acknowledge
from eosctl.sandbox.share.dead_letter_queue import DeadLetterQueue
from eosctl.sandbox.share.dead_letters import DeadLetters, find_dead_letters
from eosctl.sandbox.share.group_limits import initial_offset, read_limits
from eosctl.sandbox.share.in_flight import ShareLimits
from eosctl.sandbox.share.share_partition import SharePartition, Transition
from eosctl.wire.error_codes import ErrorCode


class Outcome(NamedTuple):
    """The result of an acknowledgement; `message` is None without an error."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


OutcomeDone = Callable[[Outcome], None]
_COORDINATOR_ERRORS: Final = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
_FENCES: Final = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH)
_KEPT: Final = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_ENDS: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, *_KEPT)
"""Errors after which a share-partition is loaded again."""


def shown_error(error: ErrorCode) -> ErrorCode:
    """Return the error for members after a failed request to the share coordinator."""
    if error in _COORDINATOR_ERRORS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if error in _FENCES:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error if error in _KEPT else ErrorCode.UNKNOWN_SERVER_ERROR


class LedSharePartition(FetchWatcher):
    """A share-partition of a led partition, with its timer and the fetches that wait for it.

    Attributes:
        state: None while the state is read.
        failure: Why the state could not be read.
    """

    __slots__ = ("_is_waking", "_manager", "_timer", "failure", "key", "leader_epoch", "partition", "state", "waiting")

    def __init__(self, manager: SharePartitionManager, key: SharePartitionKey, partition: Partition) -> None:
        self._manager = manager
        self.key = key
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.state: SharePartition | None = None
        self.failure: Outcome | None = None
        self.waiting: dict[Callable[[], None], None] = {}
        self._timer: Timer | None = None
        self._is_waking = False

    def check_again(self) -> None:
        """End with the leadership."""
        if not self.partition.is_leader or self.partition.leader_epoch != self.leader_epoch:
            self._manager.give_up(self)

    def appended(self) -> None:
        """Wait for the high watermark."""

    def high_watermark_moved(self) -> None:
        """Wake the waiting fetches."""
        self.wake()

    def lose(self) -> None:
        """End with the replica."""
        self._manager.give_up(self)

    def wake(self) -> None:
        """Let the waiting fetches check again, after the work that changed something."""
        if self.waiting and not self._is_waking:
            self._is_waking = True
            self._manager.call_soon(self._wake)

    def _wake(self) -> None:
        self._is_waking = False
        for check in tuple(self.waiting):
            check()

    def arm(self, now_ms: float, call_later: Callable[[float, Callable[[], None]], Timer]) -> None:
        """Start the timer of the next lock that expires."""
        self.disarm()
        expiry = None if self.state is None else self.state.next_expiry_ms()
        if expiry is not None:
            self._timer = call_later(max(1, expiry - now_ms), partial(self._manager.expire_locks, self))

    def disarm(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class SharePartitionManager:
    """Owns the share-partitions, writes their changes, and lets locks expire."""

    def __init__(
        self,
        runtime: Runtime,
        config: BrokerConfig,
        metadata: MetadataView,
        replicas: ReplicaManager,
        states: StatePersister,
        dead_letters: DeadLetterQueue,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._metadata = metadata
        self._replicas = replicas
        self._states = states
        self._dead_letters = dead_letters
        self._led: dict[SharePartitionKey, LedSharePartition] = {}
        self.call_soon = runtime.call_soon

    def settings(self, group_id: str) -> Mapping[str, str]:
        """Return a group's own settings."""
        return self._metadata.group_settings(group_id)

    def limits(self, group_id: str) -> ShareLimits:
        """Return a group's limits."""
        return read_limits(self.settings(group_id), self._config, self._metadata.finalized_feature("share.version"))

    def open(self, key: SharePartitionKey) -> LedSharePartition | ErrorCode:
        """Return a share-partition, and start to read its state if it is new here."""
        led = self._led.get(key)
        if led is not None:
            return led
        name = self._metadata.topic_name(key.topic_id)
        found = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        partition = found if name is None else self._replicas.leader(TopicPartition(name, key.partition))
        if isinstance(partition, ErrorCode):
            return partition
        led = self._led[key] = LedSharePartition(self, key, partition)
        partition.watch(led)
        self._states.read(key, led.leader_epoch, partial(self._loaded, led))
        return led

    def _loaded(self, led: LedSharePartition, result: StateResult) -> None:
        if self._led.get(led.key) is not led:
            return
        if result.error is not ErrorCode.NONE:
            error = shown_error(result.error)
            led.failure = Outcome(error, result.message or kafka_text(error))
            self.give_up(led)
            return
        start = result.state.start_offset
        if start == NO_OFFSET:
            start = initial_offset(self.settings(led.key.group_id), led.partition, self._runtime.now_ms())
        state = led.state = SharePartition(result.state, start)
        max_count = self.limits(led.key.group_id).max_delivery_count
        self._give_up(led, state, find_dead_letters(state.records(), (), max_count))
        led.wake()

    def give_up(self, led: LedSharePartition) -> None:
        """Forget a share-partition, whose state is in the share coordinator; waiting fetches check again."""
        if self._led.get(led.key) is led:
            del self._led[led.key]
        led.state = None
        led.disarm()
        self.call_soon(partial(led.partition.unwatch, led))  # The partition may be notifying its watchers.
        led.wake()

    def forget_group(self, group_id: str) -> None:
        """Forget the share-partitions of a group without sessions here; their state is read again if needed."""
        for led in [led for key, led in self._led.items() if key.group_id == group_id]:
            self.give_up(led)

    def acquired(self, led: LedSharePartition) -> None:
        """Watch the locks of acquired records."""
        led.arm(self._runtime.now_ms(), self._runtime.call_later)

    def acknowledge(
        self, key: SharePartitionKey, member_id: str, batches: Sequence[Acknowledgement], done: OutcomeDone
    ) -> None:
        """Acknowledge records; `done` is called once that is durable."""
        led = self._led.get(key)
        if led is None or led.state is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            done(Outcome(error, kafka_text(error)))
            return
        try:
            limits = self.limits(key.group_id)
            transition = acknowledge(led.state, member_id, batches, limits, self._runtime.now_ms())
        except AcknowledgementRefusedError as refusal:
            done(Outcome(refusal.error, refusal.message))
            return
        self._write(led, led.state, transition, done)
        self.acquired(led)

    def release(self, key: SharePartitionKey, member_id: str, done: OutcomeDone) -> None:
        """Take all records from a member whose session ends."""
        led = self._led.get(key)
        if led is None or led.state is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            done(Outcome(error, kafka_text(error)))
            return
        transition = led.state.release_member(member_id, self.limits(key.group_id))
        self._write(led, led.state, transition, done)

    def expire_locks(self, led: LedSharePartition) -> None:
        """Take the records whose locks have expired."""
        state = led.state
        if state is None:
            return
        expired = state.expire_locks(self.limits(led.key.group_id), self._runtime.now_ms())
        if expired.records:
            self._states.write(led.key, self._change(led, state, expired), partial(self._expired, led, state, expired))
            led.wake()
        self.acquired(led)

    def _expired(self, led: LedSharePartition, state: SharePartition, expired: Transition, _: StateResult) -> None:
        if state.advance():
            led.wake()
        self._give_up(led, state, find_dead_letters(expired.records, ()))

    def _give_up(self, led: LedSharePartition, state: SharePartition, letters: Sequence[DeadLetters]) -> None:
        for one in letters:
            archive = partial(self._archive, led, state, one)
            self._dead_letters.enqueue(led.key.group_id, led.partition, one, archive)

    def _archive(self, led: LedSharePartition, state: SharePartition, letters: DeadLetters) -> None:
        archived = state.archive(letters.first_offset, letters.last_offset)
        if led.state is state and archived.records:
            change = self._change(led, state, archived)
            self._states.write(led.key, change, partial(self._expired, led, state, archived))

    def _change(self, led: LedSharePartition, state: SharePartition, transition: Transition) -> StateWrite:
        return StateWrite(
            state_epoch=state.state_epoch,
            leader_epoch=led.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.delivery_complete_count(),
            state_batches=transition.state_batches,
        )

    def _write(self, led: LedSharePartition, state: SharePartition, transition: Transition, done: OutcomeDone) -> None:
        if not transition.records:
            done(Outcome())
            return

        def written(result: StateResult) -> None:
            limits, is_durable = self.limits(led.key.group_id), result.error is ErrorCode.NONE
            changed = state.complete(transition, limits, self._runtime.now_ms(), is_durable=is_durable)
            if is_durable:
                done(Outcome())
            else:
                error = shown_error(result.error)
                if error in _ENDS:
                    self.give_up(led)
                done(Outcome(error, result.message or kafka_text(error)))
            if changed:
                led.wake()
            self._give_up(led, state, find_dead_letters(transition.records, transition.rejected))
            self.acquired(led)

        self._states.write(led.key, self._change(led, state, transition), written)
