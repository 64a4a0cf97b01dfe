"""The applications of a verification, on the raw client. Their only result is the history."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Final

from eosctl.client import Client
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.outcome import error_for_code
from eosctl.client.producer import OutgoingRecord
from eosctl.client.transactions import Bounds, produce
from eosctl.errors import AuthorizationDenied, EosctlError
from eosctl.lab.history.events import Ended, Outcome, SendInvoked, Sent, TransactionRead
from eosctl.lab.history.ledger import MARK
from eosctl.lab.recording import follow, record_values
from eosctl.lab.verify.driven import follow_driven
from eosctl.lab.verify.plan import Workload
from eosctl.lab.verify.scene import Application, HistoryProducer, Pace, Scene
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record


class Life(Enum):
    """The state of a producer within a transaction."""

    ACTIVE = "active"
    FENCED = "fenced"
    CRASHED = "crashed"


Turn = Callable[[HistoryProducer, str, random.Random], Awaitable[Life]]
"""A transaction of a producer."""
Values = Sequence[tuple[TopicPartition, str]]

ACCOUNTS: Final = 10
_PRODUCE: Final = Bounds(3, 11)
_ABORT_SHARE: Final = 0.2
#: Some applications pause between two records, so that faults occur in the middle of a transaction.
_THINK_SHARE: Final = 0.15
_THINK_MS: Final = (20.0, 250.0)
_SHORT_TIMEOUT_MS: Final = 1_000
_COMEBACK_MS: Final = (100, 1_500)


def applications(scene: Scene) -> Iterator[tuple[str, Application]]:
    """Yield the applications of a plan that write until the end of the run, by name, including the feeders."""
    makers: Mapping[Workload, Callable[[Scene], Iterator[tuple[str, Application]]]] = {
        Workload.APPENDS: _appenders,
        Workload.BANK: _tellers,
        Workload.ZOMBIES: _zombies,
        Workload.ABORTS: _aborters,
        Workload.MIXED: _mixed,
        Workload.CHAIN: _feeders,
        Workload.LISTS: _list_appenders,
        Workload.STREAMS: _stream_feeders,
    }
    for workload in scene.plan.workloads:
        yield from makers[workload](scene)


def _appenders(scene: Scene) -> Iterator[tuple[str, Application]]:
    turn = partial(_append, scene, scene.partitions("appends"))
    for index in range(scene.plan.id_count):
        yield f"appends-{index}", partial(_live, name=f"appends-{index}", count=scene.plan.id_count, turn=turn)


def _feeders(scene: Scene) -> Iterator[tuple[str, Application]]:
    turn = partial(_append, scene, scene.partitions("hop-0"))
    yield "feed", partial(_live, name="feed", count=1, turn=turn)


def _stream_feeders(scene: Scene) -> Iterator[tuple[str, Application]]:
    turn = partial(_append, scene, scene.partitions("streams"))
    yield "streams-feed", partial(_live, name="streams-feed", count=1, turn=turn)


def _tellers(scene: Scene) -> Iterator[tuple[str, Application]]:
    turn = partial(_transfer, scene, scene.partitions("bank"))
    for index in range(scene.plan.id_count):
        yield f"bank-{index}", partial(_live, name=f"bank-{index}", count=scene.plan.id_count, turn=turn)


def _zombies(scene: Scene) -> Iterator[tuple[str, Application]]:
    turn = partial(_append, scene, scene.partitions("zombies"))
    count = 2 * scene.plan.id_count
    for index in range(count):
        # Two producers per id, which fence each other whenever they restart.
        yield f"zombies-{index}", partial(_live, name=f"zombies-{index // 2}", count=count, turn=turn, twin=index % 2)


def _aborters(scene: Scene) -> Iterator[tuple[str, Application]]:
    turn = partial(_abort_somehow, scene, scene.partitions("aborts"))
    for index in range(scene.plan.id_count):
        yield (
            f"aborts-{index}",
            partial(
                _live,
                name=f"aborts-{index}",
                count=scene.plan.id_count,
                turn=turn,
                transaction_timeout_ms=_SHORT_TIMEOUT_MS,
            ),
        )


def _mixed(scene: Scene) -> Iterator[tuple[str, Application]]:
    places = scene.partitions("mixed")
    count = scene.plan.id_count
    for index in range(count):
        yield f"mixed-{index}", partial(_live, name=f"mixed-{index}", count=count, turn=partial(_append, scene, places))
        yield f"plain-{index}", partial(_write_plainly, name=f"plain-{index}", count=count, places=places)


def _list_appenders(scene: Scene) -> Iterator[tuple[str, Application]]:
    for index in range(scene.plan.id_count):
        yield f"lists-{index}", partial(_live_on_lists, name=f"lists-{index}")


async def _live_on_lists(scene: Scene, chance: random.Random, *, name: str) -> None:
    """Read lists and append to them, which creates dependencies between transactions."""
    async with scene.client() as client:
        turn = partial(_read_and_append, scene, client, dict.fromkeys(scene.partitions("lists"), 0))
        await _live(scene, chance, name=name, count=scene.plan.id_count, turn=turn)


async def _live(
    scene: Scene,
    chance: random.Random,
    *,
    name: str,
    count: int,
    turn: Turn,
    twin: int = 0,
    transaction_timeout_ms: int | None = None,
) -> None:
    """Run transactions one after the other; restart after being fenced, as a supervisor would."""
    pace, life = Pace(scene, count, chance), 0
    abandoned = ""
    while not scene.is_over():
        life += 1
        actor = f"{name}{'ab'[twin]}.{life}"
        async with scene.writer(name, actor, transaction_timeout_ms=transaction_timeout_ms) as producer:
            if not await producer.survives():
                continue
            if abandoned:
                # No commit was requested, and the next owner of the id aborts the open transaction.
                scene.recorder.record(Ended(scene.recorder.now_ms(), actor, abandoned, Outcome.ABORTED))
                abandoned = ""
            number = 0
            while not scene.is_over():
                await pace.wait()
                transaction = f"{actor}/{number}"
                if scene.is_over():
                    break
                number += 1
                found = await turn(producer, transaction, chance)
                if found is not Life.ACTIVE:
                    abandoned = transaction if found is Life.CRASHED else ""
                    break
        if not scene.is_over() and not abandoned:
            await scene.pause(chance.uniform(*_COMEBACK_MS))


async def _append(
    scene: Scene, places: Sequence[TopicPartition], producer: HistoryProducer, name: str, chance: random.Random
) -> Life:
    values = _draw_values(scene, places, name, chance)
    aborts = chance.random() < _ABORT_SHARE
    think_ms = chance.uniform(*_THINK_MS) if chance.random() < _THINK_SHARE else 0.0
    work = partial(_send_all, scene, producer, values, think_ms=think_ms)
    return await _attempt(producer, name, work, aborts=aborts)


async def _read_and_append(
    scene: Scene,
    client: Client,
    positions: dict[TopicPartition, int],
    producer: HistoryProducer,
    name: str,
    chance: random.Random,
) -> Life:
    values = _draw_values(scene, tuple(positions), name, chance)
    lists = chance.sample(sorted(positions), min(len(positions), chance.randint(1, 2)))

    async def work() -> None:
        for place in lists:
            reader = Reader(client, IsolationLevel.READ_COMMITTED, {place: positions[place]})
            found = (await reader.poll()).get(place, ())
            start, positions[place] = positions[place], reader.positions[place]
            record_values(scene.recorder, producer.actor, place, found)
            now_ms = scene.recorder.now_ms()
            scene.recorder.record(
                TransactionRead(
                    at_ms=now_ms,
                    actor=producer.actor,
                    transaction=name,
                    partition=place,
                    start=start,
                    end=positions[place],
                )
            )
        await _send_all(scene, producer, values)

    return await _attempt(producer, name, work, aborts=chance.random() < _ABORT_SHARE)


async def _transfer(
    scene: Scene, places: Sequence[TopicPartition], producer: HistoryProducer, name: str, chance: random.Random
) -> Life:
    giver, taker = chance.sample(range(ACCOUNTS), 2)
    amount = chance.randint(1, 100)
    values = [
        (places[account % len(places)], f"{name}/account-{account}{MARK}{change:+}")
        for account, change in ((giver, -amount), (taker, amount))
    ]
    return await _attempt(producer, name, partial(_send_all, scene, producer, values))


async def _abort_somehow(
    scene: Scene, places: Sequence[TopicPartition], producer: HistoryProducer, name: str, chance: random.Random
) -> Life:
    values = _draw_values(scene, places, name, chance)
    send = partial(_send_all, scene, producer, values)
    match chance.choice(("commit", "abort", "crash", "late")):
        case "commit":
            return await _attempt(producer, name, send)
        case "abort":
            return await _attempt(producer, name, send, aborts=True)
        case "crash":
            producer.transaction = name
            # It does not matter whether the last request arrived, since no commit was requested.
            with contextlib.suppress(EosctlError):
                await send()
            return Life.CRASHED
        case _:

            async def send_late() -> None:
                await send()
                await asyncio.sleep(_SHORT_TIMEOUT_MS * chance.uniform(0.5, 2) / 1000)

            return await _attempt(producer, name, send_late)


async def _attempt(
    producer: HistoryProducer, name: str, work: Callable[[], Awaitable[None]], *, aborts: bool = False
) -> Life:
    return Life.FENCED if await producer.attempt(name, work, aborts=aborts) is None else Life.ACTIVE


async def _send_all(scene: Scene, producer: HistoryProducer, values: Values, *, think_ms: float = 0.0) -> None:
    for place, value in values:
        await producer.send_value(place, value, size_bytes=scene.plan.record_bytes)
        if think_ms:
            await asyncio.sleep(think_ms / 1_000)


def _draw_values(scene: Scene, places: Sequence[TopicPartition], name: str, chance: random.Random) -> Values:
    chosen = chance.choices(places, scene.plan.weights, k=chance.randint(1, scene.plan.max_records))
    return [(place, f"{name}/{index}") for index, place in enumerate(chosen)]


async def _write_plainly(
    scene: Scene, chance: random.Random, *, name: str, count: int, places: Sequence[TopicPartition]
) -> None:
    """Write outside of transactions with an idempotent producer, with a new producer id after every failure."""
    pace, number, recorder = Pace(scene, count, chance), 0, scene.recorder
    async with scene.client() as client:
        identity: tuple[int, int] | None = None
        sequences: dict[TopicPartition, int] = {}
        while True:
            await pace.wait()
            if scene.is_over():
                return
            (place,) = chance.choices(places, scene.plan.weights)
            value, number = f"{name}/{number}", number + 1
            try:
                if identity is None:
                    identity, sequences = await _identify(client), {}
                sequence = sequences.get(place, 0)
                record = OutgoingRecord(None, value.encode().ljust(scene.plan.record_bytes))
                batch = encode_batch(
                    [Record(0, scene.now_ms(), *record)],
                    producer_id=identity[0],
                    producer_epoch=identity[1],
                    base_sequence=sequence,
                )
                recorder.record(SendInvoked(recorder.now_ms(), name, "", place, value))
                offset = await produce(client, place, batch, transactional_id=None, bounds=_PRODUCE)
            except AuthorizationDenied:
                raise
            except EosctlError:
                identity = None
                continue
            recorder.record(Sent(recorder.now_ms(), name, place, value, offset))
            sequences[place] = sequence + 1


async def _identify(client: Client) -> tuple[int, int]:
    answer = await client.request_any(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest(None, 60_000), cap=4)
    if answer.error_code:
        raise error_for_code(answer.error_code, "InitProducerId of an idempotent producer")
    return answer.producer_id, answer.producer_epoch


async def watch(scene: Scene, topic: str, is_over: Callable[[], bool]) -> None:
    """Read a topic's committed records as they arrive."""
    places = [TopicPartition(topic, index) for index in range(scene.plan.partition_count)]
    name = f"reader of {topic}"
    if scene.driver is not None:
        await follow_driven(scene.driver, scene.recorder, name, places, is_over)
        return
    async with scene.client() as client:
        await follow(client, scene.recorder, name, places, is_over)
