"""A share fetch that waits for records or for returned ones (`DelayedShareFetch`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from eosctl.sandbox.coordinator.share.state import SharePartitionKey
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import Runtime, Timer
from eosctl.sandbox.replication.reading import READ_COMMITTED
from eosctl.sandbox.share.acquisition import Acquired, Wish, acquire, filter_aborted
from eosctl.sandbox.share.group_limits import isolation_level
from eosctl.sandbox.share.partition_manager import LedSharePartition, SharePartitionManager
from eosctl.sandbox.share.reading import ShareRead, aborted_batches, log_batches, read, slice_records
from eosctl.sandbox.share.share_partition import SharePartition
from eosctl.wire.error_codes import ErrorCode


class FetchWish(NamedTuple):
    """The limits of a fetch, in milliseconds, bytes, and records."""

    member_id: str
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    mode: int


class Fetched(NamedTuple):
    """The result for a partition."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    records: bytes = b""
    acquired: Sequence[Acquired] = ()


Done = Callable[[Mapping[SharePartitionKey, Fetched]], None]


class DelayedShareFetch:
    """A fetch, from its first check of the partitions to its response."""

    def __init__(
        self,
        manager: SharePartitionManager,
        runtime: Runtime,
        keys: Sequence[SharePartitionKey],
        wish: FetchWish,
        done: Done,
    ) -> None:
        self._manager = manager
        self._runtime = runtime
        self._keys = keys
        self._wish = wish
        self._done = done
        self._isolation_level = isolation_level(manager.settings(keys[0].group_id))
        self._watched: list[LedSharePartition] = []
        self._timer: Timer | None = None
        self._is_over = False

    def start(self) -> None:
        """Respond immediately if possible, else wait."""
        self._check()
        if not self._is_over:
            self._timer = self._runtime.call_later(self._wish.max_wait_ms, self._expire)

    def _expire(self) -> None:
        self._look(is_last=True)

    def _check(self) -> None:
        self._look(is_last=False)

    def _look(self, *, is_last: bool) -> None:
        """Read every partition that has something to acquire; respond if that is enough, or the time is up."""
        if self._is_over:
            return
        errors: dict[SharePartitionKey, Fetched] = {}
        ready: dict[SharePartitionKey, tuple[LedSharePartition, SharePartition]] = {}
        self._unwatch()
        for key in self._keys:
            led = self._manager.open(key)
            if isinstance(led, ErrorCode):
                errors[key] = Fetched(led, kafka_text(led))
                continue
            led.waiting[self._check] = None
            self._watched.append(led)
            if led.state is not None and led.state.can_acquire(self._manager.limits(key.group_id)):
                ready[key] = led, led.state
        reads = self._read(ready)
        size = sum(len(found.records) for found in reads.values())
        failed = len(errors) == len(self._keys) or any(found.error is not ErrorCode.NONE for found in reads.values())
        if is_last or failed or (ready and size >= self._wish.min_bytes):
            self._answer(errors, ready, reads)

    def _read(
        self, ready: Mapping[SharePartitionKey, tuple[LedSharePartition, SharePartition]]
    ) -> dict[SharePartitionKey, ShareRead]:
        reads: dict[SharePartitionKey, ShareRead] = {}
        limit, is_first = self._wish.max_bytes // max(1, len(ready)), True
        for key, (led, state) in ready.items():
            offset = state.next_fetch_offset()
            reads[key] = read(led.partition, offset, self._isolation_level, limit, is_first)
            is_first = is_first and not reads[key].records
        return reads

    def _answer(
        self,
        errors: Mapping[SharePartitionKey, Fetched],
        ready: Mapping[SharePartitionKey, tuple[LedSharePartition, SharePartition]],
        reads: Mapping[SharePartitionKey, ShareRead],
    ) -> None:
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        self._unwatch()
        results, left = dict(errors), self._wish.max_records
        for key, found in reads.items():
            led, state = ready[key]
            results[key] = self._acquire(led, state, found, left)
            left -= sum(held.last_offset - held.first_offset + 1 for held in results[key].acquired)
        self._done(results)

    def _acquire(self, led: LedSharePartition, state: SharePartition, found: ShareRead, left: int) -> Fetched:
        if found.error is ErrorCode.OFFSET_OUT_OF_RANGE:  # Retention or DeleteRecords passed the group.
            state.log_start_moved(led.partition.log.start_offset)
            return Fetched()
        if found.error is not ErrorCode.NONE:
            return Fetched(found.error, kafka_text(found.error))
        wish = Wish(self._wish.member_id, left, self._wish.batch_size, self._wish.mode)
        limits, now_ms = self._manager.limits(led.key.group_id), self._runtime.now_ms()
        acquired = acquire(state, wish, found.fetch_offset, log_batches(found.records), limits, now_ms)
        if self._isolation_level == READ_COMMITTED and acquired:
            acquired = filter_aborted(state, acquired, aborted_batches(found.records, found.aborted))
        self._manager.acquired(led)
        if not acquired:
            return Fetched()
        return Fetched(records=slice_records(found.records, acquired), acquired=acquired)

    def _unwatch(self) -> None:
        for led in self._watched:
            led.waiting.pop(self._check, None)
        self._watched.clear()
