"""KAFKA-17507: offsets that follow their transaction's marker late, at the moment in which it does harm.

Kafka's classic group coordinator up to 3.9.0 acknowledges the marker first and lets a task of its group thread commit
or drop the pending offsets later. The transaction's producer may meanwhile commit offsets of its next transaction for
the same group and partition, and the task then takes those for its own: it fails when they are not appended yet (A),
makes them visible before their transaction ends (B), or drops them where the former transaction was aborted (C).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from eosctl.sandbox.faults.kinds import Moment

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker


class LateMaterialization:
    """Keeps tasks back until the next transactional offset commit of their producer, at the latest for a time.

    Args:
        broker: The group coordinator's broker.
        moment: Before or after that commit is appended; `Moment.LATER` waits for the time alone.
        delay_ms: Draws how long a task waits at most.
    """

    def __init__(self, broker: Broker, moment: Moment, delay_ms: Callable[[], float]) -> None:
        self._runtime = broker.runtime
        self._delay_ms = delay_ms
        self._waiting: dict[int, list[Callable[[], None]]] = {}
        offsets = broker.groups.offsets
        offsets.on_pending = self.release if moment is Moment.BEFORE_APPEND else _ignore
        offsets.on_appended = self.release if moment is Moment.AFTER_APPEND else _ignore

    def __call__(self, producer_id: int, end_transaction: Callable[[], None]) -> None:
        """Take a task instead of running it."""
        task = _once(end_transaction)
        self._waiting.setdefault(producer_id, []).append(task)
        self._runtime.call_later(self._delay_ms(), partial(self._run, producer_id, task))

    def release(self, producer_id: int) -> None:
        """Run what waits for a producer."""
        for task in self._waiting.pop(producer_id, ()):
            task()

    def release_all(self) -> None:
        """Run everything that waits."""
        for producer_id in tuple(self._waiting):
            self.release(producer_id)

    def _run(self, producer_id: int, task: Callable[[], None]) -> None:
        waiting = self._waiting.get(producer_id, [])
        if task in waiting:
            waiting.remove(task)
            task()


def _once(call: Callable[[], None]) -> Callable[[], None]:
    """Return an object of its own for a call, so that equal ones are told apart."""
    return lambda: call()


def _ignore(_: int) -> None:
    """Take a notice that nobody waits for."""
