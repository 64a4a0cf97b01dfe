"""Test an application by its inputs, its outputs, and its groups' offsets; `history.feed` checks the result."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from eosctl.client import Client
from eosctl.client.consumer import LATEST, IsolationLevel, Reader, list_offset
from eosctl.client.offsets import committed_offsets
from eosctl.client.ports import WallClock
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import ProducerFenced
from eosctl.client.topics import require_topic_rights
from eosctl.errors import AuthorizationDenied, EosctlError, UsageError
from eosctl.lab.history.events import Outcome
from eosctl.lab.history.feed import Expected, Fact, FedRecord, Feed, SeenRecord, ShownOffset, is_behind, missing_count
from eosctl.lab.verify.conduct import Progress
from eosctl.lab.verify.plan import RUN_PREFIX
from eosctl.lab.verify.scene import ClientFactory
from eosctl.lab.verify.tags import TagFinder, fill_template
from eosctl.lab.workloads.transactional import Fate, attempt_transaction
from eosctl.model.application_work import AppWork
from eosctl.model.transaction import TopicPartition
from eosctl.text import count_text
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.record import Record

_POLL_S: Final = 0.1
_WATCH_S: Final = 0.25
_OUTCOMES: Final = {
    Fate.COMMITTED: Outcome.COMMITTED,
    Fate.ABORTED: Outcome.ABORTED,
    Fate.UNKNOWN: Outcome.UNKNOWN,
}


class AppPlan(AppWork, frozen=True, kw_only=True):
    """The parameters of a test, in addition to the work.

    Attributes:
        run: Identifies this run in every mark.
        seed: Seed of sizes, keys, aborts, and poison.
        transaction_timeout_ms: `transaction.timeout.ms` of the inputs.
    """

    run: str
    seed: int
    transaction_timeout_ms: int = 10_000

    @property
    def transactional_id(self) -> str:
        """Return the transactional id of the inputs."""
        return f"{RUN_PREFIX}-{self.run}"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the topics to read."""
        return (self.output_topic, *((self.dead_letter_topic,) if self.dead_letter_topic is not None else ()))


@dataclass(slots=True)
class _Gathered:
    fed: list[FedRecord] = field(default_factory=list)
    seen: list[SeenRecord] = field(default_factory=list)
    rejected: list[SeenRecord] = field(default_factory=list)
    shown: list[ShownOffset] = field(default_factory=list)
    uncommitted: list[SeenRecord] = field(default_factory=list)
    last_new_ms: int = 0

    def feed(self) -> Feed:
        return Feed(self.fed, self.seen, self.rejected, self.shown, self.uncommitted)


async def exercise(
    plan: AppPlan,
    connect: ClientFactory,
    expected: Expected,
    *,
    now_ms: WallClock,
    elapsed_ms: Callable[[], int],
    progress: Progress,
) -> Feed:
    """Write inputs, and read outputs until all have arrived or no new ones arrive; return the observations.

    Args:
        plan: The parameters.
        connect: Opens a client.
        expected: Returns the number of outputs of an input.
        now_ms: The clock for the inputs' timestamps.
        elapsed_ms: A monotonic clock.
        progress: Receives the progress.

    Raises:
        UsageError: A topic does not exist.
        AuthorizationDenied: The principal lacks a right.
        EosctlError: The cluster cannot be reached, or another producer uses this run's transactional id.
    """
    gathered = _Gathered()
    async with connect() as client:
        await require_topic_rights(client, [plan.input_topic], ("Write",))
        await require_topic_rights(client, plan.outputs, ("Read",))
        places = await _places(client, plan.input_topic)
        outputs = [place for topic in plan.outputs for place in await _places(client, topic)]
        starts = {place: await list_offset(client, place, LATEST) for place in outputs}
    over = asyncio.Event()
    reading = [
        asyncio.ensure_future(_read(plan, connect, gathered, starts, elapsed_ms, over)),
        asyncio.ensure_future(_watch(plan, connect, gathered, places, elapsed_ms, over)),
    ]
    try:
        await _write(plan, connect, gathered, places, now_ms, elapsed_ms, progress)
        await _wait(plan, gathered, expected, elapsed_ms, progress, reading)
        over.set()
        await asyncio.gather(*reading)
        await _read_uncommitted(connect, plan, gathered, starts, elapsed_ms)
    finally:
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    return gathered.feed()


async def _places(client: Client, topic: str) -> tuple[TopicPartition, ...]:
    found = (await client.refresh_metadata([topic])).topic(topic)
    if found is None or found.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or not found.partitions:
        raise UsageError(
            f"Unknown topic {topic!r}.",
            "It must exist before the test.",
            "Create it, or correct the name.",
        )
    return tuple(partition.partition for partition in found.partitions)


async def _write(
    plan: AppPlan,
    connect: ClientFactory,
    gathered: _Gathered,
    places: Sequence[TopicPartition],
    now_ms: WallClock,
    elapsed_ms: Callable[[], int],
    progress: Progress,
) -> None:
    chance = random.Random(plan.seed)
    began_ms, number = elapsed_ms(), 0
    async with connect() as client:
        producer = TransactionalProducer(
            client, plan.transactional_id, now_ms=now_ms, transaction_timeout_ms=plan.transaction_timeout_ms
        )
        await producer.init_transactions()
        while number < plan.input_count:
            progress(f"{number} of {count_text(plan.input_count, 'input')} written")
            size = min(chance.randint(1, 5), plan.input_count - number)
            batch = [
                (number + index, chance.randrange(plan.key_count), chance.random() < plan.poison_share)
                for index in range(size)
            ]
            await _write_batch(plan, producer, gathered, places, batch, chance, elapsed_ms)
            number += size
            due_ms = began_ms + number * 1_000 / plan.rate_per_s
            await asyncio.sleep(max(0.0, due_ms - elapsed_ms()) / 1_000)


async def _write_batch(
    plan: AppPlan,
    producer: TransactionalProducer,
    gathered: _Gathered,
    places: Sequence[TopicPartition],
    batch: Sequence[tuple[int, int, bool]],
    chance: random.Random,
    elapsed_ms: Callable[[], int],
) -> None:
    written: list[FedRecord] = []

    async def work() -> None:
        for number, key, is_poison in batch:
            place = places[key % len(places)]
            template = plan.poison_template if is_poison else plan.template
            value = fill_template(template, plan.run, number, key).encode()
            written.append(
                FedRecord(
                    at_ms=elapsed_ms(),
                    number=number,
                    key=key,
                    partition=place,
                    offset=None,
                    outcome=Outcome.UNKNOWN,
                    is_poison=is_poison,
                )
            )
            offset = await producer.send(place, [OutgoingRecord(f"key-{key}".encode(), value)])
            written[-1] = written[-1]._replace(offset=offset)

    try:
        fate = await attempt_transaction(producer, work, aborts=chance.random() < plan.abort_share)
    except ProducerFenced as error:
        raise EosctlError(
            f"Another producer took over {plan.transactional_id}.",
            error.what,
            "Test this topic with one run at a time.",
        ) from error
    gathered.fed += [fed._replace(outcome=_OUTCOMES[fate]) for fed in written]


async def _read(
    plan: AppPlan,
    connect: ClientFactory,
    gathered: _Gathered,
    starts: dict[TopicPartition, int],
    elapsed_ms: Callable[[], int],
    over: asyncio.Event,
) -> None:
    finder, positions = TagFinder(plan.run), dict(starts)
    async with connect() as client:
        while True:
            last_round = over.is_set()
            for place in starts:
                reader = Reader(client, IsolationLevel.READ_COMMITTED, {place: positions[place]})
                try:
                    records = (await reader.poll(max_wait_ms=20)).get(place, ())
                except AuthorizationDenied:
                    raise
                except EosctlError:
                    await asyncio.sleep(_POLL_S)
                    continue
                positions[place] = reader.positions[place]
                found = _marked(finder, place, records, elapsed_ms())
                if found:
                    gathered.last_new_ms = elapsed_ms()
                (gathered.rejected if place.topic == plan.dead_letter_topic else gathered.seen).extend(found)
            if last_round:
                return
            await asyncio.sleep(0)


def _marked(finder: TagFinder, place: TopicPartition, records: Sequence[Record], at_ms: int) -> list[SeenRecord]:
    found = []
    for record in records:
        mark = finder.find(record.value, record.key, *(value for _, value in record.headers))
        if mark is not None:
            found.append(SeenRecord(at_ms, mark.number, place, record.offset, mark.is_intact))
    return found


async def _watch(
    plan: AppPlan,
    connect: ClientFactory,
    gathered: _Gathered,
    places: Sequence[TopicPartition],
    elapsed_ms: Callable[[], int],
    over: asyncio.Event,
) -> None:
    last: dict[tuple[str, TopicPartition], int | None] = {}
    async with connect() as client:
        while plan.groups:
            last_round = over.is_set()
            for group in plan.groups:
                try:
                    offsets = await committed_offsets(client, group, places)
                except AuthorizationDenied:
                    raise
                except EosctlError:
                    continue  # Pending offsets, or a moving coordinator: retry at the next poll.
                for place, offset in offsets.items():
                    if (group, place) not in last or last[group, place] != offset:
                        last[group, place] = offset
                        gathered.shown.append(ShownOffset(elapsed_ms(), group, place, offset))
                        gathered.last_new_ms = elapsed_ms()
            if last_round:
                return
            await asyncio.sleep(_WATCH_S)


async def _wait(
    plan: AppPlan,
    gathered: _Gathered,
    expected: Expected,
    elapsed_ms: Callable[[], int],
    progress: Progress,
    reading: Sequence[asyncio.Future[None]],
) -> None:
    written_ms = elapsed_ms()
    while True:
        for task in reading:
            if task.done():
                task.result()
        feed = gathered.feed()
        missing = missing_count(feed, expected, has_dead_letters=plan.dead_letter_topic is not None)
        done = not missing and not is_behind(feed, expected)
        if done or elapsed_ms() - max(written_ms, gathered.last_new_ms) > plan.settle_ms:
            return
        progress(f"waiting for {missing} outputs")
        await asyncio.sleep(_POLL_S)


async def _read_uncommitted(
    connect: ClientFactory,
    plan: AppPlan,
    gathered: _Gathered,
    starts: dict[TopicPartition, int],
    elapsed_ms: Callable[[], int],
) -> None:
    finder = TagFinder(plan.run)
    async with connect() as client:
        for place, start in starts.items():
            if place.topic == plan.output_topic:
                reader = Reader(client, IsolationLevel.READ_UNCOMMITTED, {place: start})
                found = (await reader.drain(client.config.timeout_ms)).get(place, [])
                gathered.uncommitted += _marked(finder, place, found, elapsed_ms())


def describe(fact: Fact) -> tuple[str, str, str]:
    """Return actor, fact, and details of an observation, for display."""
    match fact:
        case FedRecord():
            kind = "poison input" if fact.is_poison else "input"
            place = (
                f"{fact.partition}@{fact.offset}" if fact.offset is not None else f"{fact.partition}, not acknowledged"
            )
            return "eosctl", f"wrote {kind}", f"number {fact.number}, key {fact.key}, {place}, {fact.outcome}"
        case SeenRecord():
            return str(fact.partition), "read output", f"of input {fact.number} at offset {fact.offset}"
        case ShownOffset():
            return fact.group, "showed offset", f"{fact.offset} in {fact.partition}"
