"""A producer and a reader of another language, which leave the same history as eosctl's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from eosctl.errors import UsageError
from eosctl.history.events import Ended, EndInvoked, Outcome, Polled, SendInvoked, Sent
from eosctl.lab.recording import Recorder
from eosctl.model.client_config import ClientConfig, SecurityProtocol
from eosctl.model.transaction import TopicPartition
from eosctl.verify.driver import Driver, DriverFailure, FailureClass
from eosctl.verify.plan import VerifyPlan, Workload
from eosctl.workloads.transactional import Fate, Step

_TRIES: Final = 10
_RETRY_S: Final = 0.2
_READ_WAIT_MS: Final = 100
_OUTCOMES: Final = {
    Fate.COMMITTED: Outcome.COMMITTED,
    Fate.ABORTED: Outcome.ABORTED,
    Fate.UNKNOWN: Outcome.UNKNOWN,
}


def check_driven(plan: VerifyPlan, config: ClientConfig) -> None:
    """Refuse what the clients of other languages cannot do here.

    Raises:
        UsageError: A chain, whose group offsets are eosctl's own, or a cluster that asks for more than an address.
    """
    if Workload.CHAIN in plan.workloads:
        raise UsageError(
            f"--clients {plan.clients} has no workload chain.",
            "It takes over from itself in ways that members of a group cannot.",
            "Name others: --workload appends --workload bank. A chain of your own is tested by eosctl verify app.",
        )
    if config.security_protocol is not SecurityProtocol.PLAINTEXT:
        raise UsageError(
            f"--clients {plan.clients} is used here without TLS and SASL alone.",
            "Its settings for them are not passed on.",
            "Use --clients auto.",
        )


class DrivenProducer:
    """A producer of another language.

    Producer ids are its own secret: what needs them is not checked.

    Args:
        driver: The program.
        transactional_id: The id.
        recorder: Keeps the history.
        actor: Names this producer in it, and for the program.
        transaction_timeout_ms: ``transaction.timeout.ms``.
    """

    def __init__(
        self, driver: Driver, transactional_id: str, recorder: Recorder, actor: str, *, transaction_timeout_ms: int
    ) -> None:
        self.actor = actor
        self.transaction = ""
        self._driver = driver
        self._transactional_id = transactional_id
        self._recorder = recorder
        self._timeout_ms = transaction_timeout_ms

    async def survives(self) -> bool:
        """Initialise, whatever it takes; False when that is hopeless."""
        needs = {"transactional_id": self._transactional_id, "timeout_ms": self._timeout_ms}
        try:
            await self._until_done("open", **needs)
        except DriverFailure:
            await asyncio.sleep(_RETRY_S)
            return False
        return True

    async def send_value(self, partition: TopicPartition, value: str, source: str = "", *, size_bytes: int = 0) -> None:
        """Send one value in the present transaction, padded with blanks to a size."""
        tell, now_ms = self._recorder.tell, self._recorder.now_ms
        tell(SendInvoked(now_ms(), self.actor, self.transaction, partition, value, source))
        answer = await self._driver.ask(
            self.actor,
            "append",
            topic=partition.topic,
            partition=partition.partition,
            value=value.ljust(size_bytes),
        )
        tell(Sent(now_ms(), self.actor, partition, value, answer["offset"]))

    async def attempt(self, name: str, work: Step, *, aborts: bool = False) -> Fate | None:
        """Do work in a transaction and tell how it ended; None when this producer cannot go on."""
        self.transaction = name
        try:
            fate: Fate | None = await self._transaction(work, aborts=aborts)
        except DriverFailure:
            fate = None
        outcome = Outcome.UNKNOWN if fate is None else _OUTCOMES[fate]
        self._recorder.tell(Ended(self._recorder.now_ms(), self.actor, name, outcome))
        return fate

    async def _transaction(self, work: Step, *, aborts: bool) -> Fate:
        try:
            await self._driver.ask(self.actor, "begin")
            await work()
            if not aborts:
                await self._end(committed=True)
                return Fate.COMMITTED
        except DriverFailure as failure:
            if failure.failure_class is not FailureClass.ABORTABLE:
                raise
        await self._end(committed=False)
        return Fate.ABORTED

    async def _end(self, *, committed: bool) -> None:
        self._recorder.tell(EndInvoked(self._recorder.now_ms(), self.actor, self.transaction, committed))
        await self._until_done("commit" if committed else "abort")

    async def _until_done(self, op: str, **needs: object) -> None:
        """Ask again as long as the client says that it may be: it goes on with the same request."""
        for _ in range(_TRIES - 1):
            try:
                await self._driver.ask(self.actor, op, **needs)
            except DriverFailure as failure:
                if failure.failure_class is not FailureClass.AGAIN:
                    raise
                await asyncio.sleep(_RETRY_S)
            else:
                return
        await self._driver.ask(self.actor, op, **needs)

    def drop(self) -> None:
        """Let the client go without a word to the brokers, as a process that dies."""
        self._driver.drop(self.actor)


async def follow_driven(
    driver: Driver, recorder: Recorder, actor: str, partitions: Sequence[TopicPartition], is_over: Callable[[], bool]
) -> None:
    """Read committed data with consumers of another language until it is over, one for each partition."""

    async def read(place: TopicPartition) -> None:
        name = f"{actor} {place.partition}"
        while not is_over():
            try:
                needs = {"topic": place.topic, "partition": place.partition, "wait_ms": _READ_WAIT_MS}
                answer = await driver.ask(name, "read", **needs)
            except DriverFailure:
                await asyncio.sleep(_RETRY_S)
                continue
            for offset, value in answer.get("records") or ():
                recorder.tell(Polled(recorder.now_ms(), name, place, offset, value.rstrip(" ")))
        driver.drop(name)

    await asyncio.gather(*map(read, partitions))
