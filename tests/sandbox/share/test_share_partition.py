"""A share-partition under random members, times, and failed writes, against a model of each offset.

- A record that was durably acknowledged is never delivered again, and no record is lost.
- A record has one member at a time, until it acknowledges, leaves, or its lock expires.
- After a failover to the durable state, the rest is delivered.
"""

from __future__ import annotations

import random

import pytest

from eosctl.sandbox.coordinator.share.state import ShareGroupOffset, combine_batches
from eosctl.sandbox.share.acknowledgement import (
    Acknowledgement,
    AcknowledgementRefusedError,
    AcknowledgeType,
    acknowledge,
)
from eosctl.sandbox.share.acquisition import Acquired, LogBatch, Wish, acquire, filter_aborted
from eosctl.sandbox.share.in_flight import RecordState, ShareLimits
from eosctl.sandbox.share.share_partition import SharePartition, Transition

LIMITS = ShareLimits(max_delivery_count=5, max_record_locks=100, lock_duration_ms=1000)
MEMBERS = ("m1", "m2", "m3")
DURABLE_START = ShareGroupOffset(0, 1, 0, 0, 0)


class Machine:
    """A leader with its log and its share coordinator, and what its members know."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now_ms = 0
        self.log: list[LogBatch] = []
        self.durable = DURABLE_START
        self.partition = SharePartition(self.durable, 0)
        self.held: dict[int, tuple[str, int]] = {}  # Member and end of its lock, by offset.
        self.done: set[int] = set()
        self.rejected: set[int] = set()
        self.deliveries: dict[int, int] = {}
        self.pending: list[tuple[Transition, dict[int, int]]] = []  # Written, without an answer yet.

    @property
    def end(self) -> int:
        return self.log[-1].last_offset + 1 if self.log else 0

    def append(self) -> None:
        self.log.append(LogBatch(self.end, self.end + self.random.randrange(1, 6) - 1))

    def fetch(self) -> None:
        member, start = self.random.choice(MEMBERS), self.partition.next_fetch_offset()
        read = [batch for batch in self.log if batch.last_offset >= start][: self.random.randrange(1, 4)]
        wish = Wish(member, self.random.randrange(1, 9), self.random.randrange(1, 6), self.random.randrange(2))
        for offset, count in self.offsets(acquire(self.partition, wish, start, read, LIMITS, self.now_ms)):
            holder, until_ms = self.held.get(offset, ("", 0))
            assert not holder or until_ms <= self.now_ms, "one member at a time"
            assert offset not in self.done, "an acknowledged record was delivered again"
            assert offset not in self.rejected, "a rejected record was delivered again"
            self.deliveries[offset] = self.deliveries.get(offset, 0) + 1
            assert count <= LIMITS.max_delivery_count
            self.held[offset] = member, self.now_ms + LIMITS.lock_duration_ms

    @staticmethod
    def offsets(acquired: list[Acquired]) -> list[tuple[int, int]]:
        return [
            (offset, held.delivery_count)
            for held in acquired
            for offset in range(held.first_offset, held.last_offset + 1)
        ]

    def acknowledge(self) -> None:
        member = self.random.choice(MEMBERS)
        waiting = {offset for _, kinds in self.pending for offset in kinds}
        mine = sorted(offset for offset, held in self.held.items() if held[0] == member and offset not in waiting)
        if not mine:
            return
        kinds = [self.random.choice((1, 1, 1, 2, 3, 4)) for _ in mine]
        batches = [Acknowledgement(offset, offset, (kind,)) for offset, kind in zip(mine, kinds, strict=True)]
        try:
            transition = acknowledge(self.partition, member, batches, LIMITS, self.now_ms)
        except AcknowledgementRefusedError:
            assert any(self.held[offset][1] <= self.now_ms for offset in mine), "only expired locks are refused"
            for offset in mine:
                del self.held[offset]
            return
        for offset, kind in zip(mine, kinds, strict=True):
            if kind == AcknowledgeType.RENEW:
                self.held[offset] = member, self.now_ms + LIMITS.lock_duration_ms
        changed = {offset: kind for offset, kind in zip(mine, kinds, strict=True) if kind != AcknowledgeType.RENEW}
        self.pending.append((transition, changed))
        if self.random.random() < 0.6:
            self.settle()

    def settle(self) -> None:
        """Answer the oldest write: durable or not."""
        if not self.pending:
            return
        transition, kinds = self.pending.pop(0)
        is_durable = self.random.random() < 0.8
        self.write(transition, is_durable=is_durable)
        for offset, kind in kinds.items():
            expired = self.held[offset][1] <= self.now_ms
            if is_durable or expired:
                del self.held[offset]
            if is_durable and kind == AcknowledgeType.ACCEPT:
                self.done.add(offset)
            if is_durable and kind == AcknowledgeType.REJECT:
                self.rejected.add(offset)

    def write(self, transition: Transition, *, is_durable: bool) -> None:
        if is_durable:
            self.durable = self.durable.updated(
                self.partition.start_offset, self.partition.delivery_complete_count(), 0, transition.state_batches
            )
        self.partition.complete(transition, LIMITS, self.now_ms, is_durable=is_durable)

    def leave(self) -> None:
        member = self.random.choice(MEMBERS)
        transition = self.partition.release_member(member, LIMITS)
        self.write(transition, is_durable=True)
        waiting = {offset for _, kinds in self.pending for offset in kinds}
        self.held = {key: held for key, held in self.held.items() if held[0] != member or key in waiting}

    def pass_time(self) -> None:
        self.now_ms += self.random.randrange(0, 700)
        expiry = self.partition.next_expiry_ms()
        if expiry is not None and expiry <= self.now_ms:
            expired = self.partition.expire_locks(LIMITS, self.now_ms)
            assert expired.records
            for offset, _ in expired.records:
                assert self.held.pop(offset, ("", 0))[1] <= self.now_ms, "a lock expired early"
            self.write_expired(expired)

    def write_expired(self, expired: Transition) -> None:
        if self.random.random() < 0.8:
            self.durable = self.durable.updated(
                self.partition.start_offset, self.partition.delivery_complete_count(), 0, expired.state_batches
            )
        self.partition.advance()

    def fail_over(self) -> None:
        self.partition = SharePartition(self.durable, self.durable.start_offset)
        self.held.clear()
        self.pending.clear()

    def drain(self) -> None:
        """Accept everything that is still delivered."""
        while self.pending:
            self.settle()
        for _ in range(20 * (self.end + 1)):
            self.now_ms += LIMITS.lock_duration_ms + 1
            self.write_expired(self.partition.expire_locks(LIMITS, self.now_ms))
            self.held.clear()
            start = self.partition.next_fetch_offset()
            read = [batch for batch in self.log if batch.last_offset >= start]
            acquired = acquire(self.partition, Wish("m1", 50, 50), start, read, LIMITS, self.now_ms)
            if not acquired and self.partition.start_offset >= self.end:
                return
            for offset, _ in self.offsets(acquired):
                assert offset not in self.done | self.rejected
                self.done.add(offset)
            batches = [Acknowledgement(held.first_offset, held.last_offset, (1,)) for held in acquired]
            self.write(acknowledge(self.partition, "m1", batches, LIMITS, self.now_ms), is_durable=True)
        raise AssertionError(f"records from {self.partition.start_offset} on are stuck")


@pytest.mark.parametrize("part", range(8))
def test_no_record_is_lost_or_delivered_when_done(part: int) -> None:
    for seed in range(part * 250, part * 250 + 250):
        machine = Machine(seed)
        steps = [machine.append, machine.fetch, machine.fetch, machine.acknowledge, machine.pass_time, machine.leave]
        steps.append(machine.settle)
        for _ in range(60):
            step = machine.random.choices([*steps, machine.fail_over], [2, 4, 4, 4, 3, 1, 2, 0.3])[0]
            step()
        machine.drain()
        exhausted = {offset for offset, count in machine.deliveries.items() if count >= LIMITS.max_delivery_count}
        assert machine.done | machine.rejected | exhausted >= set(range(machine.end)), seed
        assert machine.partition.start_offset == machine.end


def test_the_durable_state_is_that_of_the_leader() -> None:
    machine = Machine(1)
    machine.append()
    acquired = acquire(machine.partition, Wish("m1", 10, 10), 0, machine.log, LIMITS, 0)
    last = acquired[-1].last_offset
    machine.write(acknowledge(machine.partition, "m1", [Acknowledgement(0, last, (2,))], LIMITS, 0), is_durable=True)
    assert machine.durable.state_batches == combine_batches(machine.durable.state_batches, 0)
    assert machine.durable.state_batches[0].delivery_state == RecordState.AVAILABLE
    machine.fail_over()
    (again,) = acquire(machine.partition, Wish("m2", 10, 10), 0, machine.log, LIMITS, 0)
    assert (again.first_offset, again.last_offset, again.delivery_count) == (0, last, 2)


def test_aborted_records_are_archived() -> None:
    partition = SharePartition(DURABLE_START, 0)
    read = [LogBatch(0, 2), LogBatch(3, 4), LogBatch(5, 5)]
    acquired = acquire(partition, Wish("m1", 10, 10), 0, read, LIMITS, 0)
    kept = filter_aborted(partition, acquired, [LogBatch(3, 4)])
    assert [(held.first_offset, held.last_offset) for held in kept] == [(0, 2), (5, 5)]
    batches = [Acknowledgement(held.first_offset, held.last_offset, (1,)) for held in kept]
    partition.complete(acknowledge(partition, "m1", batches, LIMITS, 0), LIMITS, 0, is_durable=True)
    assert partition.start_offset == 6


def test_the_lock_limit_holds_for_new_records_only() -> None:
    limits = LIMITS._replace(max_record_locks=5)
    partition = SharePartition(DURABLE_START, 0)
    read = [LogBatch(offset, offset) for offset in range(10)]
    assert (
        sum(
            held.last_offset - held.first_offset + 1
            for held in acquire(partition, Wish("m1", 9, 9), 0, read, limits, 0)
        )
        == 5
    )
    assert not partition.can_acquire(limits)
    released = acknowledge(partition, "m1", [Acknowledgement(2, 2, (2,))], limits, 0)
    partition.complete(released, limits, 0, is_durable=True)
    assert partition.can_acquire(limits)
    again = acquire(partition, Wish("m2", 9, 9), 2, read[2:], limits, 0)
    assert [(held.first_offset, held.last_offset) for held in again] == [(2, 2)]


def test_renewal_needs_the_setting() -> None:
    partition = SharePartition(DURABLE_START, 0)
    acquire(partition, Wish("m1", 9, 9), 0, [LogBatch(0, 0)], LIMITS, 0)
    acknowledge(partition, "m1", [Acknowledgement(0, 0, (4,))], LIMITS, 500)
    assert partition.next_expiry_ms() == 1500
    with pytest.raises(AcknowledgementRefusedError):
        acknowledge(partition, "m1", [Acknowledgement(0, 0, (4,))], LIMITS._replace(renews_locks=False), 500)
