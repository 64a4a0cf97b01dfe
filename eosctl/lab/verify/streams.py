"""A Kafka Streams application with state stores, in two processes that are killed and take over from each other.

It is the model of `eosctl.lab.workloads.streams`: once without transactional state stores (``wiped``), and once with
them (``kept``).
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eosctl.client import Client
from eosctl.client.producer import OutgoingRecord
from eosctl.client.producer_errors import ProducerFenced
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, ProducerIdentity
from eosctl.lab.history.events import Ended, Outcome, Sent, StoreSeen
from eosctl.lab.history.stores import content_text
from eosctl.lab.recording import RecordedProducer, Recorder, text_of
from eosctl.lab.verify.plan import DIALECTS
from eosctl.lab.verify.scene import Scene
from eosctl.lab.workloads.streams.instance import Instance, StreamsPlan
from eosctl.lab.workloads.streams.rules import STREAMS_4_3, TRANSACTIONAL_STORES, Rules
from eosctl.lab.workloads.streams.task import Job, Sizes, Step, StoreView
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.record import Record

RULES: Final[Mapping[str, Rules]] = MappingProxyType({"wiped": STREAMS_4_3, "kept": TRANSACTIONAL_STORES})
#: Small, so that the store is written out in the middle of transactions.
SIZES: Final = Sizes(memtable=8, batch=20)
_KEY_COUNT: Final = 40
_LIFE_MS: Final = (300, 2_000)
_FATAL: Final = tuple(Step)[tuple(Step).index(Step.POLL) : tuple(Step).index(Step.SUSPEND)]
#: How long a process may take to reach its fatal step; one without input does not.
_STEP_S: Final = 1.0
_TAKEOVER_SHARE: Final = 0.5
_STANDBY_DIES_SHARE: Final = 0.3
#: A process that does not return leaves a transaction open for so long.
_TRANSACTION_TIMEOUT_MS: Final = 5_000


class StreamThreadProducer(RecordedProducer):
    """The producer of a stream thread, which records what the model sends.

    A change gets the name of its transaction, so that each of its attempts is a value of its own.
    """

    _number = 0
    _sent_count = 0

    async def init_transactions(self, *, keep_identity: bool = False) -> ProducerIdentity:
        """Initialize as `TransactionalProducer` does, and name the first transaction."""
        self._begin()
        return await super().init_transactions(keep_identity=keep_identity)

    async def send(self, partition: TopicPartition, records: Sequence[OutgoingRecord]) -> int:
        """Send changes, and record each of them."""
        recorder = self._recorder
        named = []
        for change in records:
            text = (change.value or b"").decode()
            value = f"{self.transaction}/{self._sent_count}|{text}"
            self._sent_count += 1
            source = text.rpartition("|")[0]
            recorder.record_send(self.actor, self.transaction, partition, value=value, source=source)
            named.append(change._replace(value=value.encode()))
        offset = await super().send(partition, named)
        for index, change in enumerate(named):
            value = (change.value or b"").decode()
            recorder.record(Sent(recorder.now_ms(), self.actor, partition, value, offset + index))
        return offset

    async def send_offsets(self, group: GroupIdentity, offsets: Mapping[TopicPartition, OffsetToCommit]) -> None:
        """Commit the group's offsets within the transaction, and record them."""
        for place, position in offsets.items():
            self._recorder.record_position(
                self.actor, self.transaction, group.group_id, partition=place, offset=position.offset
            )
        await super().send_offsets(group, offsets)

    async def end(self, *, committed: bool) -> ProducerIdentity:
        """End the transaction, and record its outcome."""
        identity = await super().end(committed=committed)
        outcome = Outcome.COMMITTED if committed else Outcome.ABORTED
        self._recorder.record(Ended(self._recorder.now_ms(), self.actor, self.transaction, outcome))
        self._begin()
        return identity

    def _begin(self) -> None:
        self.transaction = f"{self.actor}/{self._number}"
        self._number += 1
        self._sent_count = 0


class _Killed(Exception):  # noqa: N818
    """The process ends here, as by kill -9."""


class _Observed:
    """Records the stores of a life, and ends it.

    Attributes:
        fatal_step: The step that ends it; None for none.
    """

    def __init__(self, recorder: Recorder, actor: str) -> None:
        self.fatal_step: Step | None = None
        self._recorder = recorder
        self._actor = actor
        self._began_at_ms = 0

    def reach(self, step: Step) -> None:
        """Note when the tasks begin to restore; end the process at its fatal step."""
        if step is Step.INITIALIZE:
            self._began_at_ms = self._recorder.now_ms()
        if step is self.fatal_step:
            raise _Killed

    def observe(self, view: StoreView) -> None:
        """Record a store."""
        self._recorder.record(
            StoreSeen(
                at_ms=self._recorder.now_ms(),
                actor=self._actor,
                partition=view.changelog,
                moment=view.moment,
                start=view.start.value,
                began_at_ms=self._began_at_ms,
                kept_offset=view.kept_offset,
                offset=view.offset,
                restored_count=view.restored_count,
                content=content_text(view.content),
            )
        )


@dataclass(slots=True)
class _Process:
    """A process of the application; it keeps standby tasks until it is promoted."""

    name: str
    observed: _Observed
    promoted: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Future[None] = field(init=False)

    async def kill(self, *, at: Step | None = None) -> None:
        """End it without closing anything, as kill -9 does: at a step, if it reaches that in time."""
        if at is not None and not self.work.done():
            self.observed.fatal_step = at
            await asyncio.wait({self.work}, timeout=_STEP_S)
        self.work.cancel()
        await asyncio.gather(self.work, return_exceptions=True)


async def run_streams(
    scene: Scene, chance: random.Random, mode: str, busy: Callable[[], bool], *, rules: Rules | None = None
) -> None:
    """Run the application until its input has ended, and kill its processes now and then.

    Args:
        scene: The run.
        chance: Decides who is killed and when.
        mode: A key of `RULES`.
        busy: Whether more input may come.
        rules: How it keeps its stores; those of the mode by default.
    """
    with tempfile.TemporaryDirectory(prefix="eosctl-streams-") as folder:
        begin = partial(_begin, scene, mode, rules or RULES[mode], Path(folder), busy)
        active, standby = begin("a", 1), begin("b", 1)
        life = 1
        active.promoted.set()
        try:
            while True:
                await asyncio.wait({active.work}, timeout=chance.uniform(*_LIFE_MS) / 1_000)
                if active.work.done() and not isinstance(active.work.exception(), ProducerFenced):
                    return active.work.result()
                if not (busy() or active.work.done()):
                    continue
                life += 1
                await active.kill(at=chance.choice(_FATAL))
                if chance.random() < _STANDBY_DIES_SHARE:
                    await standby.kill()
                    standby = begin(standby.name, life)
                if chance.random() < _TAKEOVER_SHARE:
                    active, standby = standby, begin(active.name, life)
                else:
                    active = begin(active.name, life)
                active.promoted.set()
        finally:
            await active.kill()
            await standby.kill()


def _begin(
    scene: Scene, mode: str, rules: Rules, folder: Path, busy: Callable[[], bool], name: str, life: int
) -> _Process:
    """Start a process with what an earlier one of its name has left."""
    application_id = scene.plan.topic(mode)
    plan = StreamsPlan(
        application_id,
        scene.plan.topic("streams"),
        f"{application_id}-counts",
        tuple(range(scene.plan.partition_count)),
        folder / name,
        process_id=name,
        rules=rules,
        sizes=SIZES,
        job=Job(_count, _describe),
    )
    actor = f"{mode}-{name}.{life}"
    process = _Process(name, _Observed(scene.recorder, actor))
    process.work = asyncio.ensure_future(_work(scene, plan, process, actor, busy))
    return process


async def _work(scene: Scene, plan: StreamsPlan, process: _Process, actor: str, busy: Callable[[], bool]) -> None:
    number = 0

    def make_producer(client: Client) -> StreamThreadProducer:
        nonlocal number
        number += 1
        scene.transactional_ids.add(plan.transactional_id)
        return StreamThreadProducer(
            client,
            plan.transactional_id,
            scene.recorder,
            f"{actor}.{number}",
            now_ms=scene.now_ms,
            transaction_timeout_ms=_TRANSACTION_TIMEOUT_MS,
            dialect=DIALECTS[scene.plan.clients],
        )

    async with scene.client() as client:
        instance = Instance(client, plan, now_ms=scene.now_ms, life=process.observed, make_producer=make_producer)
        await instance.stand_by(process.promoted.is_set)
        await instance.run(lambda: not busy())


def _count(record: Record, get: Callable[[str], int]) -> tuple[tuple[str, int], ...]:
    key = f"key-{zlib.crc32(text_of(record).encode()) % _KEY_COUNT}"
    return ((key, get(key) + 1),)


def _describe(record: Record, key: str, number: int) -> bytes:
    return f"{text_of(record)}|{key}={number}".encode()
