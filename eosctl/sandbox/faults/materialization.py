"""KAFKA-17507: late materialization of transactional offsets after their transaction's marker.

Kafka's classic group coordinator up to 3.9.0 acknowledges the marker first. A task of its group thread commits or drops
the pending offsets later. Meanwhile, the producer may commit offsets of its next transaction for the same group and
partition. The task then applies to those: it fails if they are not appended yet (A), exposes them before their
transaction ends (B), or drops them if the former transaction was aborted (C).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from eosctl.sandbox.faults.kinds import Moment

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker


class LateMaterialization:
    """Delays tasks until the producer's next transactional offset commit, up to a maximum.

    Args:
        broker: The group coordinator's broker.
        moment: Before or after that commit is appended; `Moment.LATER` waits for the maximum delay.
        delay_ms: Returns a task's maximum delay, drawn at random.
    """

    def __init__(self, broker: Broker, moment: Moment, delay_ms: Callable[[], float]) -> None:
        self._runtime = broker.runtime
        self._delay_ms = delay_ms
        self._waiting: dict[int, list[Callable[[], None]]] = {}
        offsets = broker.groups.offsets
        offsets.on_pending = self.release if moment is Moment.BEFORE_APPEND else _ignore
        offsets.on_appended = self.release if moment is Moment.AFTER_APPEND else _ignore

    def __call__(self, producer_id: int, end_transaction: Callable[[], None]) -> None:
        """Delay a task instead of running it."""
        task = _once(end_transaction)
        self._waiting.setdefault(producer_id, []).append(task)
        self._runtime.call_later(self._delay_ms(), partial(self._run, producer_id, task))

    def release(self, producer_id: int) -> None:
        """Run a producer's delayed tasks."""
        for task in self._waiting.pop(producer_id, ()):
            task()

    def release_all(self) -> None:
        """Run all delayed tasks."""
        for producer_id in tuple(self._waiting):
            self.release(producer_id)

    def _run(self, producer_id: int, task: Callable[[], None]) -> None:
        waiting = self._waiting.get(producer_id, [])
        if task in waiting:
            waiting.remove(task)
            task()


def _once(call: Callable[[], None]) -> Callable[[], None]:
    """Return a distinct object for a call, so that equal calls are distinguishable."""
    return lambda: call()


def _ignore(_: int) -> None:
    """Ignore a notification without a receiver."""
