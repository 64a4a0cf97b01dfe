"""Applications that record a history of their operations, for the checkers of `eosctl.lab.history`."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from eosctl.client import Client
from eosctl.client.consumer import EARLIEST, IsolationLevel, Reader, list_offset
from eosctl.client.destinations import group_coordinator
from eosctl.client.offsets import committed_offsets
from eosctl.client.ports import WallClock
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import ProducerFenced
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, ProducerIdentity, TransactionDialect
from eosctl.errors import AuthorizationDenied, EosctlError
from eosctl.lab.history.coverage import Coverage
from eosctl.lab.history.events import (
    Drained,
    Ended,
    EndInvoked,
    Event,
    History,
    Identified,
    InitInvoked,
    OffsetAsked,
    OffsetFetched,
    OffsetsSent,
    Outcome,
    Polled,
    SendInvoked,
    Sent,
)
from eosctl.lab.history.packed import PackedHistory
from eosctl.lab.workloads.transactional import Fate, Step, attempt_transaction
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.record import Record

View: TypeAlias = Callable[[Client, str], Awaitable[tuple[int, int] | None]]
"""Queries the leader and epoch of a group's offsets; None while the brokers disagree."""

_INIT_TRIES: Final = 10
_DISTRUST_S: Final = 0.2
_WATCH_S: Final = 0.05
_OUTCOMES: Final = {
    Fate.COMMITTED: Outcome.COMMITTED,
    Fate.ABORTED: Outcome.ABORTED,
    Fate.UNKNOWN: Outcome.UNKNOWN,
}


class Recorder:
    """Collects events.

    Args:
        clock: Returns milliseconds.
        is_stale: Whether a broker that responded for a group has lost it, as far as an outside observer knows.
        view: Queries the leader of a group's offsets, if no observer has access to the brokers.
        coverage: Receives every event, to select faults by coverage.
    """

    def __init__(
        self,
        clock: Callable[[], int],
        is_stale: Callable[[str, int], bool] = lambda *_: False,
        coverage: Coverage | None = None,
        view: View | None = None,
    ) -> None:
        self.now_ms = clock
        self.is_stale = is_stale
        self.view = view
        self._coverage = coverage
        self.packed = PackedHistory()

    @property
    def history(self) -> History:
        """Return all events, unpacked; use `packed` for long runs."""
        return self.packed.unpack()

    def record(self, event: Event) -> None:
        """Add an event."""
        self.packed.append(event)
        if self._coverage is not None:
            self._coverage.see(event)

    def record_send(
        self, actor: str, transaction: str, partition: TopicPartition, *, value: str, source: str = ""
    ) -> None:
        """Add the start of a send in a transaction."""
        self.record(
            SendInvoked(
                at_ms=self.now_ms(),
                actor=actor,
                transaction=transaction,
                partition=partition,
                value=value,
                source=source,
            )
        )

    def record_position(
        self, actor: str, transaction: str, group: str, *, partition: TopicPartition, offset: int
    ) -> None:
        """Add a group's offset that is sent in a transaction."""
        self.record(
            OffsetsSent(
                at_ms=self.now_ms(),
                actor=actor,
                transaction=transaction,
                group=group,
                partition=partition,
                offset=offset,
            )
        )


class RecordedProducer(TransactionalProducer):
    """A producer that records its operations; `transaction` is the current one's name, unique in the history."""

    def __init__(
        self,
        client: Client,
        transactional_id: str,
        recorder: Recorder,
        actor: str,
        *,
        now_ms: WallClock,
        transaction_timeout_ms: int,
        dialect: TransactionDialect | None = None,
    ) -> None:
        super().__init__(
            client,
            transactional_id,
            now_ms=now_ms,
            transaction_timeout_ms=transaction_timeout_ms,
            dialect=dialect,
        )
        self.actor = actor
        self.transaction = ""
        self._recorder = recorder

    def record_in(self, recorder: Recorder) -> None:
        """Record what follows elsewhere."""
        self._recorder = recorder

    async def init_transactions(self, *, keep_identity: bool = False) -> ProducerIdentity:
        """Initialize as `TransactionalProducer` does, and record it."""
        record, now_ms = self._recorder.record, self._recorder.now_ms
        record(InitInvoked(now_ms(), self.actor, self.transactional_id))
        identity = await super().init_transactions(keep_identity=keep_identity)
        record(Identified(now_ms(), self.actor, *identity))
        return identity

    async def send_value(self, partition: TopicPartition, value: str, source: str = "", *, size_bytes: int = 0) -> None:
        """Send a value in the current transaction, padded with blanks to a size."""
        recorder = self._recorder
        recorder.record_send(self.actor, self.transaction, partition, value=value, source=source)
        offset = await self.send(partition, [OutgoingRecord(None, value.encode().ljust(size_bytes))])
        recorder.record(Sent(recorder.now_ms(), self.actor, partition, value, offset))

    async def send_position(self, group_id: str, partition: TopicPartition, offset: int) -> None:
        """Commit a group's offset in the current transaction."""
        self._recorder.record_position(self.actor, self.transaction, group_id, partition=partition, offset=offset)
        await self.send_offsets(GroupIdentity(group_id), {partition: OffsetToCommit(offset)})

    async def end(self, *, committed: bool) -> ProducerIdentity:
        """End the transaction as `TransactionalProducer` does, and record it."""
        self._recorder.record(EndInvoked(self._recorder.now_ms(), self.actor, self.transaction, committed))
        return await super().end(committed=committed)

    async def attempt(self, name: str, work: Step, *, aborts: bool = False) -> Fate | None:
        """Run work in a transaction and record the outcome; return None if another producer has fenced this one."""
        self.transaction = name
        fate: Fate | None = Fate.UNKNOWN
        try:
            fate = await attempt_transaction(self, work, aborts=aborts)
        except ProducerFenced:
            fate = None
        except AuthorizationDenied:
            raise
        except EosctlError:
            if not await self.survives():
                fate = None
        outcome = Outcome.UNKNOWN if fate is None else _OUTCOMES[fate]
        self._recorder.record(Ended(self._recorder.now_ms(), self.actor, name, outcome))
        return fate

    async def survives(self) -> bool:
        """Initialize with retries; return False if that is impossible."""
        for _ in range(_INIT_TRIES):
            try:
                await self.init_transactions()
            except EosctlError as error:
                _raise_denied(error)
                continue
            return True
        return False


def _raise_denied(error: EosctlError) -> None:
    """Raise the error of a missing right: another attempt fails, too."""
    if isinstance(error, AuthorizationDenied):
        raise error


async def write(
    producer: RecordedProducer, partitions: Sequence[TopicPartition], count: int, chance: random.Random
) -> None:
    """Write transactions of one to five values and abort every fifth, until they are done or the producer is fenced."""
    if not await producer.survives():
        return
    for number in range(count):
        name = f"{producer.actor}/{number}"
        places = [chance.choice(partitions) for _ in range(chance.randint(1, 5))]

        async def work(name: str = name, places: Sequence[TopicPartition] = places) -> None:
            for index, partition in enumerate(places):
                await producer.send_value(partition, f"{name}/{index}")

        if await producer.attempt(name, work, aborts=chance.random() < 0.2) is None:
            return


async def _continue() -> None:
    """Continue without yielding to other tasks."""


async def copy(
    client: Client,
    producer: RecordedProducer,
    recorder: Recorder,
    group_id: str,
    pair: tuple[TopicPartition, TopicPartition],
    is_over: Callable[[], bool],
    trusts: Callable[[], bool] = lambda: True,
    *,
    keeps_position: bool = False,
    aborts: Callable[[], bool] = lambda: False,
    lingers: Step = _continue,
) -> None:
    """Copy one partition to another exactly once, until `is_over` or the producer is fenced.

    `trusts` returns whether a group's offset is reliable, i.e. its coordinator cannot have lost it unknowingly.
    `keeps_position` continues without fetching the group's offset, as Kafka Streams does, so that the next transaction
    follows immediately. `aborts` draws whether to abort a transaction and process its input again. `lingers` waits with
    sent offsets before the end of the transaction.
    """
    if not await producer.survives():
        return
    source, destination = pair
    number = 0
    reader: Reader | None = None  # None if the position must be fetched again.
    while True:
        over = is_over()  # Check first, so that existing input is still copied.
        try:
            if reader is None:
                position, is_stale = await read_offset(client, recorder, producer.actor, group_id, source)
                if is_stale or not trusts():
                    await asyncio.sleep(_DISTRUST_S)
                    continue
                reader = Reader(client, IsolationLevel.READ_COMMITTED, {source: position or 0})
            found = (await reader.poll(max_wait_ms=100)).get(source, ())[:3]
        except EosctlError as error:
            _raise_denied(error)
            continue
        if not found:
            if over:
                return
            continue
        reader = None
        first_offset, next_offset = found[0].offset, found[-1].offset + 1
        name, number = f"{producer.actor}/{number}", number + 1

        async def work(name: str = name, found: Sequence[Record] = found, next_offset: int = next_offset) -> None:
            for index, record in enumerate(found):
                await producer.send_value(destination, f"{name}/{index}", text_of(record))
            await producer.send_position(group_id, source, next_offset)
            await lingers()

        fate = await producer.attempt(name, work, aborts=aborts())
        if fate is None:
            return
        if keeps_position and fate is not Fate.UNKNOWN:
            position = next_offset if fate is Fate.COMMITTED else first_offset
            reader = Reader(client, IsolationLevel.READ_COMMITTED, {source: position})


async def watch_offset(
    client: Client,
    recorder: Recorder,
    actor: str,
    group_id: str,
    partition: TopicPartition,
    is_over: Callable[[], bool],
) -> None:
    """Fetch a group's stable offset repeatedly until `is_over`, as lag monitoring does."""
    while not is_over():
        with contextlib.suppress(EosctlError):
            await read_offset(client, recorder, actor, group_id, partition)
        await asyncio.sleep(_WATCH_S)


async def read_offset(
    client: Client, recorder: Recorder, actor: str, group_id: str, partition: TopicPartition
) -> tuple[int | None, bool]:
    """Return a group's stable offset and whether it may be outdated, and record both.

    Like Kafka, a broker that has lost the group's partition without being notified responds from memory. If only the
    brokers can be queried, a response is valid if all of them named its sender as leader before and after it.
    """
    recorder.record(OffsetAsked(recorder.now_ms(), actor, group_id, partition))
    before = await recorder.view(client, group_id) if recorder.view is not None else None
    offset = (await committed_offsets(client, group_id, [partition]))[partition]
    answered_by = await client.node_id(group_coordinator(group_id))
    is_stale = recorder.is_stale(group_id, answered_by)
    if recorder.view is not None:
        agreed = before is not None and before[0] == answered_by and before == await recorder.view(client, group_id)
        is_stale = is_stale or not agreed
    recorder.record(
        OffsetFetched(
            at_ms=recorder.now_ms(), actor=actor, group=group_id, partition=partition, offset=offset, is_stale=is_stale
        )
    )
    return offset, is_stale


async def follow(
    client: Client,
    recorder: Recorder,
    actor: str,
    partitions: Sequence[TopicPartition],
    is_over: Callable[[], bool],
) -> None:
    """Read committed records as they arrive, until `is_over`."""
    positions = dict.fromkeys(partitions, 0)
    while not is_over():
        for partition in partitions:
            one = Reader(client, IsolationLevel.READ_COMMITTED, {partition: positions[partition]})
            try:
                found = (await one.poll(max_wait_ms=50)).get(partition, ())
            except EosctlError as error:
                _raise_denied(error)
                continue
            positions[partition] = one.positions[partition]
            record_values(recorder, actor, partition, found)


async def drain(client: Client, recorder: Recorder, actor: str, partitions: Sequence[TopicPartition]) -> None:
    """Read all committed records, and record that the partitions were read completely.

    Raises:
        EosctlError: A partition cannot be read to its end.
    """
    for partition in partitions:
        start = await list_offset(client, partition, EARLIEST)
        reader = Reader(client, IsolationLevel.READ_COMMITTED, {partition: start})
        found = (await reader.drain(client.config.timeout_ms)).get(partition, [])
        record_values(recorder, actor, partition, found)
        recorder.record(Drained(recorder.now_ms(), actor, partition))


def text_of(record: Record) -> str:
    """Return a record's value as in the history, without padding."""
    return (record.value or b"").rstrip(b" ").decode("utf-8", "backslashreplace")


def record_values(recorder: Recorder, actor: str, partition: TopicPartition, records: Sequence[Record]) -> None:
    """Record the values that a read_committed consumer received."""
    for record in records:
        recorder.record(Polled(recorder.now_ms(), actor, partition, record.offset, text_of(record)))
