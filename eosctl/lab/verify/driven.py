"""A producer and a consumer of another language, which record the same history as eosctl's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from eosctl.lab.history.events import Ended, EndInvoked, Outcome, Polled, Sent
from eosctl.lab.recording import Recorder
from eosctl.lab.verify.driver import Driver, DriverFailure, FailureClass
from eosctl.lab.workloads.transactional import Fate, Step
from eosctl.model.transaction import TopicPartition

_TRIES: Final = 10
_RETRY_S: Final = 0.2
_READ_WAIT_MS: Final = 100
_OUTCOMES: Final = {
    Fate.COMMITTED: Outcome.COMMITTED,
    Fate.ABORTED: Outcome.ABORTED,
    Fate.UNKNOWN: Outcome.UNKNOWN,
}


class DrivenProducer:
    """A producer of another language.

    Its producer ids are unknown, so checks that need them are skipped.

    Args:
        driver: The program.
        transactional_id: The transactional id.
        recorder: Records the history.
        actor: Its name in the history and for the program.
        transaction_timeout_ms: `transaction.timeout.ms`.
    """

    def __init__(
        self, driver: Driver, transactional_id: str, recorder: Recorder, actor: str, *, transaction_timeout_ms: int
    ) -> None:
        self.actor = actor
        self.transaction = ""
        self._driver = driver
        self._recorder = recorder
        self._needs: dict[str, object] = {"transactional_id": transactional_id, "timeout_ms": transaction_timeout_ms}

    async def survives(self) -> bool:
        """Initialize with retries; return False if that is impossible."""
        try:
            await self._until_done("open", **self._needs)
        except DriverFailure:
            await asyncio.sleep(_RETRY_S)
            return False
        return True

    async def send_value(self, partition: TopicPartition, value: str, source: str = "", *, size_bytes: int = 0) -> None:
        """Send a value in the current transaction, padded with blanks to a size."""
        recorder = self._recorder
        recorder.record_send(self.actor, self.transaction, partition, value=value, source=source)
        answer = await self._driver.ask(
            self.actor,
            "append",
            topic=partition.topic,
            partition=partition.partition,
            value=value.ljust(size_bytes),
        )
        recorder.record(Sent(recorder.now_ms(), self.actor, partition, value, answer["offset"]))

    async def attempt(self, name: str, work: Step, *, aborts: bool = False) -> Fate | None:
        """Run work in a transaction and record the outcome; return None if this producer cannot continue."""
        self.transaction = name
        try:
            fate: Fate | None = await self._transaction(work, aborts=aborts)
        except DriverFailure:
            fate = None
        outcome = Outcome.UNKNOWN if fate is None else _OUTCOMES[fate]
        self._recorder.record(Ended(self._recorder.now_ms(), self.actor, name, outcome))
        return fate

    async def _transaction(self, work: Step, *, aborts: bool) -> Fate:
        try:
            await self._driver.ask(self.actor, "begin")
            await work()
            if not aborts:
                return await self._end(committed=True)
        except DriverFailure as failure:
            if failure.failure_class is not FailureClass.ABORTABLE:
                raise
        return await self._end(committed=False)

    async def _end(self, *, committed: bool) -> Fate:
        self._recorder.record(EndInvoked(self._recorder.now_ms(), self.actor, self.transaction, committed))
        answer = await self._until_done("commit" if committed else "abort")
        return Fate.COMMITTED if committed and not answer.get("aborted") else Fate.ABORTED

    async def _until_done(self, op: str, **needs: object) -> dict[str, Any]:
        """Repeat the same request while the client reports a retriable error."""
        for _ in range(_TRIES - 1):
            try:
                return await self._driver.ask(self.actor, op, **needs)
            except DriverFailure as failure:
                if failure.failure_class is not FailureClass.AGAIN:
                    raise
                await asyncio.sleep(_RETRY_S)
        return await self._driver.ask(self.actor, op, **needs)

    def drop(self) -> None:
        """Discard the client without a request to the brokers, like a process that dies."""
        self._driver.drop(self.actor)


class DrivenMember(DrivenProducer):
    """A producer with a consumer in a group (KIP-447): offsets are sent in its transactions.

    Args:
        driver: The program.
        transactional_id: The transactional id, not shared.
        recorder: Records the history.
        actor: Its name in the history and for the program.
        transaction_timeout_ms: `transaction.timeout.ms`.
        group: The group.
        topic: The group's topic.
    """

    def __init__(
        self,
        driver: Driver,
        transactional_id: str,
        recorder: Recorder,
        actor: str,
        *,
        transaction_timeout_ms: int,
        group: str,
        topic: str,
    ) -> None:
        super().__init__(driver, transactional_id, recorder, actor, transaction_timeout_ms=transaction_timeout_ms)
        self._group = group
        self._topic = topic
        self._needs |= {"group": group, "topic": topic}

    async def take(self) -> list[tuple[TopicPartition, int, str]]:
        """Return the next committed values of its assigned partitions, with their offsets.

        Raises:
            DriverFailure: It cannot be a member now.
        """
        answer = await self._driver.ask(self.actor, "take", wait_ms=_READ_WAIT_MS)
        return [
            (TopicPartition(self._topic, partition), offset, value.rstrip(" "))
            for partition, offset, value in answer.get("records") or ()
        ]

    async def send_positions(self, positions: Mapping[TopicPartition, int]) -> None:
        """Commit the group's offsets in the current transaction, or pass them to a client that does so at its end."""
        for place, offset in positions.items():
            self._recorder.record_position(self.actor, self.transaction, self._group, partition=place, offset=offset)
        offsets = [[place.partition, offset] for place, offset in positions.items()]
        await self._driver.ask(self.actor, "offsets", offsets=offsets)


async def follow_driven(
    driver: Driver, recorder: Recorder, actor: str, partitions: Sequence[TopicPartition], is_over: Callable[[], bool]
) -> None:
    """Read the committed records of a topic with a consumer of another language until `is_over`.

    Args:
        driver: The program.
        recorder: Records the history.
        actor: The name of the consumer.
        partitions: All partitions of the topic.
        is_over: Returns whether to stop.
    """
    topic = partitions[0].topic
    while not is_over():
        try:
            answer = await driver.ask(actor, "read", topic=topic, count=len(partitions), wait_ms=_READ_WAIT_MS)
        except DriverFailure:
            await asyncio.sleep(_RETRY_S)
            continue
        for partition, offset, value in answer.get("records") or ():
            place = partitions[partition]
            recorder.record(Polled(recorder.now_ms(), actor, place, offset, value.rstrip(" ")))
    driver.drop(actor)
