"""Polling of sockets: immediately for few clients, rarely for many."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from eosctl.sandbox.process.moderation import (
    FEW,
    GATHERING_S,
    LONGEST_S,
    ONE_BROKER,
    REPLICATING,
    SHARE_S,
    ModeratedSelector,
    pause_s,
)

CROWD = FEW + 8
MOMENT_S = 8 * SHARE_S


class Time:
    """A clock that sleeping moves, and that counts the sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept_s: list[float] = []

    def clock(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_s += seconds


class Clients:
    """Connections to a selector; each can have readable bytes."""

    def __init__(self, selector: ModeratedSelector, stack: ExitStack) -> None:
        self._pairs = [socket.socketpair() for _ in range(CROWD)]
        for here, there in self._pairs:
            stack.enter_context(here)
            stack.enter_context(there)
            selector.register(here, selectors.EVENT_READ)
        self._selector = selector

    def speak(self, count: int) -> None:
        for number in range(count):
            self.speak_alone(number)

    def speak_alone(self, number: int) -> None:
        self._pairs[number][1].send(b"x")

    def served(self, timeout: float | None) -> int:
        ready = self._selector.select(timeout)
        for key, _ in ready:
            key.fileobj.recv(1)
        return len(ready)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def clients(time: Time) -> Iterator[Clients]:
    with ExitStack() as stack:
        selector = stack.enter_context(ModeratedSelector(ONE_BROKER, time.clock, time.sleep))
        yield Clients(selector, stack)


def crowd(clients: Clients, time: Time) -> None:
    """Make all clients active for some milliseconds, so that their number is detected."""
    for _ in range(4):
        clients.speak(CROWD)
        time.now_s += 1e-3
        assert clients.served(None) == CROWD
    assert not time.slept_s


def test_the_pause_grows_with_clients_up_to_a_limit() -> None:
    assert pause_s(FEW, 0.0) == 0
    assert pause_s(FEW + 1, 0.0) == pytest.approx(SHARE_S)
    assert pause_s(CROWD, MOMENT_S / 4) == pytest.approx(MOMENT_S * 3 / 4)
    assert pause_s(CROWD, MOMENT_S * 2) < 0
    assert pause_s(100_000, 0.0) == LONGEST_S


def test_a_few_clients_never_wait(clients: Clients, time: Time) -> None:
    for timeout in (None, 0.0, 1.0) * 20:
        time.now_s += MOMENT_S / 4
        clients.speak(FEW)
        assert clients.served(timeout) == FEW
    assert not time.slept_s


def test_clients_in_quick_succession_count_as_many(clients: Clients, time: Time) -> None:
    for turn in range(CROWD * 4):
        time.now_s += 1e-3 / CROWD / 2
        clients.speak_alone(turn % CROWD)
        assert clients.served(None) == 1
    assert time.slept_s


def test_clients_that_come_slowly_are_none(clients: Clients, time: Time) -> None:
    for turn in range(CROWD * 4):
        time.now_s += 1e-3
        clients.speak_alone(turn % CROWD)
        assert clients.served(None) == 1
    assert not time.slept_s


def test_many_clients_are_polled_once_per_interval(clients: Clients, time: Time) -> None:
    crowd(clients, time)
    clients.speak(1)
    time.now_s += MOMENT_S / 4
    assert clients.served(None) == 1
    assert time.slept_s == [pytest.approx(MOMENT_S * 3 / 4)]


def test_other_work_runs_before_the_next_poll_without_delay(clients: Clients, time: Time) -> None:
    crowd(clients, time)
    clients.speak(2)
    assert clients.served(0) == 0
    time.now_s += MOMENT_S
    assert clients.served(0) == 2
    assert not time.slept_s


def test_a_timer_is_not_late(clients: Clients, time: Time) -> None:
    crowd(clients, time)
    clients.speak(1)
    assert clients.served(MOMENT_S / 2) == 1
    assert time.slept_s == [MOMENT_S / 2]


def test_a_client_after_a_pause_is_served_immediately(clients: Clients, time: Time) -> None:
    crowd(clients, time)
    clients.speak(1)
    time.now_s += 1
    assert clients.served(None) == 1
    assert not time.slept_s


def test_a_crowd_that_has_gone_is_forgotten_in_milliseconds(clients: Clients, time: Time) -> None:
    crowd(clients, time)
    for _ in range(30):
        time.now_s += MOMENT_S / 2
        clients.speak(1)
        assert clients.served(None) == 1
    slept = len(time.slept_s)
    assert 0 < slept < 15
    clients.speak(1)
    assert clients.served(None) == 1
    assert len(time.slept_s) == slept


class TestReplication:
    """Turns of brokers that replicate are long, and what they cost is the more worth sharing."""

    @pytest.fixture
    def clients(self, time: Time) -> Iterator[Clients]:
        with ExitStack() as stack:
            selector = stack.enter_context(ModeratedSelector(REPLICATING, time.clock, time.sleep))
            yield Clients(selector, stack)

    def gathered(self, clients: Clients, time: Time, turn_s: float, timeout: float | None = None) -> list[float]:
        """Make many clients active, then run a turn of a duration; return the sleeps before the next poll."""
        for _ in range(8):
            clients.speak(CROWD)
            time.now_s += 1e-3
            assert clients.served(None) == CROWD
        time.slept_s.clear()
        clients.speak(1)
        time.now_s += turn_s
        assert clients.served(timeout) == 1
        return time.slept_s

    def test_after_a_turn_many_clients_get_a_share_of_its_length(self, clients: Clients, time: Time) -> None:
        assert self.gathered(clients, time, 2e-3) == [pytest.approx(2e-3 * REPLICATING.gathering)]

    def test_the_longest_turn_is_followed_by_no_more_than_a_moment(self, clients: Clients, time: Time) -> None:
        assert self.gathered(clients, time, 1.0) == [GATHERING_S]

    def test_other_work_and_timers_do_not_wait_for_it(self, clients: Clients, time: Time) -> None:
        assert not self.gathered(clients, time, 2e-3, timeout=0)
        assert self.gathered(clients, time, 2e-3, timeout=1e-6) == [1e-6]

    def test_many_clients_are_detected_across_long_turns(self, clients: Clients, time: Time) -> None:
        for turn in range(12):
            for number in range(turn % 3 * 6, min(turn % 3 * 6 + 6, CROWD)):
                clients.speak_alone(number)
            time.now_s += 1.5e-3
            assert clients.served(None)
        assert time.slept_s

    def test_a_few_clients_never_wait(self, clients: Clients, time: Time) -> None:
        for timeout in (None, 0.0, 1.0) * 20:
            time.now_s += 2e-3
            clients.speak(FEW)
            assert clients.served(timeout) == FEW
        assert not time.slept_s
