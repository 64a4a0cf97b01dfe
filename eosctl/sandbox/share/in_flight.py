"""The delivery state of records of a share-partition (`InFlightState`, `InFlightBatch`)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

NO_MEMBER: Final = ""


class RecordState(IntEnum):
    """A record's delivery state, as stored by the share coordinator; ARCHIVING waits for the dead-letter topic."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4

    @property
    def is_terminal(self) -> bool:
        """Return whether the record is never delivered again."""
        return self in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


class ShareLimits(NamedTuple):
    """The settings of a group: `share.delivery.count.limit` and others.

    Attributes:
        has_dead_letters: Whether the group names a dead-letter topic (KIP-1191).
    """

    max_delivery_count: int
    max_record_locks: int
    lock_duration_ms: int
    renews_locks: bool = True
    has_dead_letters: bool = False

    @property
    def given_up(self) -> RecordState:
        """Return the state of a record that is rejected or has no deliveries left."""
        return RecordState.ARCHIVING if self.has_dead_letters else RecordState.ARCHIVED


class Rollback(NamedTuple):
    """The state before a transition that is not durable yet."""

    state: RecordState
    member_id: str


class InFlightRecord:
    """One offset: its state, the number of its deliveries, and the member that has it.

    Attributes:
        lock_until_ms: When the member loses the record; None if no member has it.
        rollback: The state before a transition that waits for the share coordinator.
    """

    __slots__ = ("delivery_count", "lock_until_ms", "member_id", "rollback", "state")

    def __init__(
        self,
        state: RecordState,
        delivery_count: int,
        member_id: str = NO_MEMBER,
        lock_until_ms: float | None = None,
    ) -> None:
        self.state = state
        self.delivery_count = delivery_count
        self.member_id = member_id
        self.lock_until_ms = lock_until_ms
        self.rollback: Rollback | None = None

    @property
    def is_free(self) -> bool:
        """Return whether a member may acquire the record."""
        return self.state is RecordState.AVAILABLE and self.rollback is None

    @property
    def is_done(self) -> bool:
        """Return whether the record is durably in a terminal state."""
        return self.state.is_terminal and self.rollback is None

    def acquire(self, member_id: str, lock_until_ms: float) -> None:
        """Deliver the record to a member."""
        self.state = RecordState.ACQUIRED
        self.delivery_count += 1
        self.member_id = member_id
        self.lock_until_ms = lock_until_ms

    def begin(self, state: RecordState, limits: ShareLimits) -> None:
        """Start a transition; a record with no deliveries left is given up instead of made available."""
        self.rollback = Rollback(self.state, self.member_id)
        self._enter(state, limits)

    def commit(self) -> None:
        """Complete a transition that is durable."""
        self.rollback = None
        if self.state is not RecordState.ACQUIRED:
            self.lock_until_ms = None

    def revert(self, limits: ShareLimits, now_ms: float) -> None:
        """Undo a transition that could not be written; a lock that expired meanwhile is not taken again."""
        before, self.rollback = self.rollback, None
        if before is None:
            return
        if self.lock_until_ms is not None and self.lock_until_ms <= now_ms:
            self.state = RecordState.ACQUIRED
            self.release(limits)
        else:
            self.state, self.member_id = before

    def release(self, limits: ShareLimits) -> None:
        """Take the record from its member without waiting."""
        self._enter(RecordState.AVAILABLE, limits)
        self.lock_until_ms = None

    def archive(self) -> None:
        """Never deliver the record again; the log no longer has it, or its transaction was aborted."""
        self.state = RecordState.ARCHIVED
        self.member_id = NO_MEMBER
        self.lock_until_ms = None
        self.rollback = None

    def _enter(self, state: RecordState, limits: ShareLimits) -> None:
        if state is RecordState.AVAILABLE and self.delivery_count >= limits.max_delivery_count:
            state = limits.given_up
        self.state = state
        self.member_id = NO_MEMBER


class InFlightBatch:
    """Consecutive offsets that were acquired together.

    Attributes:
        is_per_offset: Whether its records were ever treated one by one; Kafka's error messages differ then.
    """

    __slots__ = ("first_offset", "is_per_offset", "records")

    def __init__(self, first_offset: int, records: list[InFlightRecord], *, is_per_offset: bool = False) -> None:
        self.first_offset = first_offset
        self.records = records
        self.is_per_offset = is_per_offset

    @property
    def last_offset(self) -> int:
        """Return the last offset, which is included."""
        return self.first_offset + len(self.records) - 1

    def between(self, first_offset: int, last_offset: int) -> Iterator[tuple[int, InFlightRecord]]:
        """Yield the records in a range of offsets, both included."""
        start = max(0, first_offset - self.first_offset)
        stop = min(len(self.records), last_offset - self.first_offset + 1)
        for index in range(start, stop):
            yield self.first_offset + index, self.records[index]
