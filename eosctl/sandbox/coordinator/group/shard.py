"""A partition of `__consumer_offsets` while this broker coordinates it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.classic_effects import JoinResult, SyncResult
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.offset_store import OffsetStore
from eosctl.sandbox.coordinator.group.records import StoredRecord, encode_batch_of
from eosctl.sandbox.coordinator.group.share.group import ShareGroup
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, AppendResult, Timer
from eosctl.wire.error_codes import ErrorCode

AppendDone = Callable[[ErrorCode, int], None]
WaitingKey = tuple[str, str]


class Shard:
    """The groups and offsets of a partition, with their timers, held responses, and pending appends.

    A shard lives from election to resignation. Later results of appends and timers are ignored because it is closed.
    """

    def __init__(self, host: GroupHost, index: int, leader_epoch: int) -> None:
        self.host = host
        self.partition = TopicPartition(CONSUMER_OFFSETS_TOPIC, index)
        self.leader_epoch = leader_epoch
        self.is_loading = True
        self.is_closed = False
        self.share_groups: dict[str, ShareGroup] = {}  # They have no offsets here; see `coordinator.share`.
        self.groups: dict[str, ClassicGroup | ConsumerGroup | StreamsGroup] = {}
        self.offsets = OffsetStore()
        self.waiting_joins: dict[WaitingKey, Callable[[JoinResult], None]] = {}
        self.waiting_syncs: dict[WaitingKey, Callable[[SyncResult], None]] = {}
        self._timers: dict[tuple[object, ...], Timer] = {}
        self._appends_started = 0
        self._appends_ended = 0
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    def append(
        self,
        records: Sequence[StoredRecord],
        done: AppendDone,
        *,
        base_sequence: int,
        producer: tuple[int, int] | None = None,
        guard: object | None = None,
    ) -> None:
        """Append records as one batch; `done` receives the error and the first offset once replicated."""
        self._appends_started += 1

        def appended(result: AppendResult) -> None:
            self._appends_ended += 1
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER if self.is_closed else result.error
            done(error, result.base_offset)
            self._release_waiting()

        batch = encode_batch_of(records, self.host.runtime.now_ms(), base_sequence, producer)
        timeout_ms = self.host.config.get_int("offsets.commit.timeout.ms")
        self.host.replicas.append_internal(self.partition, batch, appended, timeout_ms=timeout_ms, guard=guard)

    def after_appends(self, call: Callable[[], None]) -> None:
        """Run `call` when all current appends have completed; immediately without any."""
        if self._appends_started == self._appends_ended:
            call()
        else:
            self._waiting.append((self._appends_started, call))

    def end_transaction(self, producer_id: int, committed: bool) -> list[tuple[str, TopicPartition]]:
        """Commit or drop the pending offsets of a producer; return those that were lost (KAFKA-17507)."""
        return self.offsets.end_transaction(producer_id, committed)

    def start_timer(self, key: tuple[object, ...], delay_ms: float, call: Callable[[], None]) -> None:
        """Start or restart the timer of this key."""
        self.stop_timer(key)

        def fired() -> None:
            self._timers.pop(key, None)
            if not self.is_closed:
                call()

        self._timers[key] = self.host.runtime.call_later(delay_ms, fired)

    def stop_timer(self, key: tuple[object, ...]) -> None:
        """Stop the timer of this key if it runs."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def has_timer(self, key: tuple[object, ...]) -> bool:
        """Return whether the timer of this key runs."""
        return key in self._timers

    def stop_timers_of(self, group_id: str) -> None:
        """Stop every timer of a group; keys start with the group id."""
        for key in [key for key in self._timers if key[0] == group_id]:
            self.stop_timer(key)

    def close(self) -> None:
        """Stop all timers; later results of appends and held reads have no effect on the groups."""
        self.is_closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        waiting, self._waiting = self._waiting, deque()
        for _, call in waiting:
            call()

    def _release_waiting(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._appends_ended:
            self._waiting.popleft()[1]()
