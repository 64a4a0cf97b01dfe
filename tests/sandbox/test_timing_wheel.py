"""The timing wheel against a sorted heap: the same timers, in the same order, at the same time."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from eosctl.sandbox.timing_wheel import WHEEL_SIZE, TimingWheel, WheelTimer

SMALL_WHEEL = 3  # many rings within small numbers


class WheelMachine(RuleBasedStateMachine):
    """A wheel and a heap of (due, serial) live through the same starts, cancellations and jumps of time."""

    size = SMALL_WHEEL

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.wheel = TimingWheel(0, self.size)
        self.heap: list[tuple[int, int]] = []
        self.timers: dict[int, WheelTimer] = {}
        self.ran: list[int] = []
        self.started = 0

    @rule(delay=st.one_of(st.integers(1, 40), st.integers(1, 10**9)))
    def start(self, delay: int) -> None:
        serial, self.started = self.started, self.started + 1
        timer = self.wheel.add(self.now + delay, lambda: self.ran.append(serial), self.now)
        self.timers[serial] = timer
        heappush(self.heap, (self.now + delay, serial))

    @precondition(lambda self: self.timers)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        serial = data.draw(st.sampled_from(sorted(self.timers)))
        self.timers.pop(serial).cancel()
        self.heap = [entry for entry in self.heap if entry[1] != serial]
        heapify(self.heap)

    @rule(step=st.one_of(st.integers(0, 10), st.integers(0, 10**10)))
    def pass_time(self, step: int) -> None:
        self.advance(self.now + step)

    @precondition(lambda self: self.heap)
    @rule(early=st.integers(0, 1))
    def pass_time_to_the_next(self, early: int) -> None:
        self.advance(max(self.now, self.heap[0][0] - early))

    @rule()
    def clear(self) -> None:
        self.wheel.clear()
        assert not any(timer.is_pending for timer in self.timers.values())
        self.heap.clear()
        self.timers.clear()

    def advance(self, now: int) -> None:
        self.now = now
        expected = []
        while self.heap and self.heap[0][0] <= now:
            expected.append(heappop(self.heap)[1])
        self.ran.clear()
        for timer in self.wheel.advance(now):
            timer.run()
        assert self.ran == expected
        for serial in expected:
            del self.timers[serial]

    @invariant()
    def the_next_tick_is_never_late(self) -> None:
        tick = self.wheel.next_tick()
        if self.heap:
            assert tick is not None
            assert self.now < tick <= self.heap[0][0]
        else:
            assert tick is None


class FullSizeWheelMachine(WheelMachine):
    """The same with the size that the sandbox uses."""

    size = WHEEL_SIZE


@pytest.mark.parametrize("machine", [WheelMachine, FullSizeWheelMachine])
def test_a_wheel_and_a_sorted_heap_agree(machine: type[WheelMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))


def test_an_expired_timer_fires_with_the_next_tick() -> None:
    wheel = TimingWheel(100)
    timer = wheel.add(90, lambda: None, 100)
    assert wheel.advance(100) == []
    assert wheel.advance(101) == [timer]


def test_a_far_deadline_is_reached_in_few_ticks() -> None:
    wheel = TimingWheel(0)
    due = 7 * 24 * 3_600_000 + 123
    timer = wheel.add(due, lambda: None, 0)
    wakes = 0
    while timer.bucket is not None:
        now = wheel.next_tick()
        assert now is not None
        wakes += 1
        fired = wheel.advance(now)
    assert fired == [timer]
    assert now == due
    assert wakes <= 8  # one for each ring, not one for each tick


def test_cancelled_timers_cost_no_wake_and_no_memory() -> None:
    wheel = TimingWheel(0)
    for delay in range(1, 10_000):
        wheel.add(delay, lambda: None, 0).cancel()
    assert wheel.next_tick() is None
    assert not any(bucket for ring in wheel._wheels for bucket in ring.buckets)


def test_running_and_cancelling_twice_is_harmless() -> None:
    ran: list[str] = []
    wheel = TimingWheel(0)
    timer = wheel.add(1, lambda: ran.append("once"), 0)
    (fired,) = wheel.advance(5)
    fired.run()
    fired.run()
    timer.cancel()
    timer.cancel()
    assert ran == ["once"]


def test_a_due_timer_can_be_cancelled_before_it_runs() -> None:
    wheel = TimingWheel(0)
    ran: list[str] = []
    first = wheel.add(5, lambda: second.cancel(), 0)
    second = wheel.add(5, lambda: ran.append("second"), 0)
    for timer in wheel.advance(5):
        timer.run()
    assert not first.is_pending
    assert ran == []
