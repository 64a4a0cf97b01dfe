"""Histories of a cluster that makes no mistakes, from a model of a few dozen lines and a seed."""

from __future__ import annotations

import itertools
import random
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from eosctl.lab.history.events import (
    BatchSeen,
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
    ReplicaSeen,
    SendInvoked,
    Sent,
    StoreSeen,
    TransactionRead,
)
from eosctl.model.transaction import TopicPartition

PARTITIONS = (TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("bills", 0))
BROKERS = (1, 2, 3)
CHANGELOG = TopicPartition("counts-changelog", 0)


class Entry(NamedTuple):
    """A record of the model's log; transaction "" outside of transactions."""

    value: str
    transaction: str


class World:
    """The cluster: logs, transactions, identities, and offsets; every step is atomic."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.events: list[Event] = []
        self.logs: dict[TopicPartition, list[Entry]] = {partition: [] for partition in PARTITIONS}
        self.outcomes: dict[str, bool] = {"": True}
        self.open: dict[str, str] = {}  # transactional id: transaction
        self.identities: dict[str, Identified] = {}
        self.pending: dict[str, list[tuple[str, TopicPartition, int]]] = defaultdict(list)
        self.offsets: dict[tuple[str, TopicPartition], int] = {}
        self.leader_epoch = 1
        self.numbers = itertools.count(1)

    def add(self, event: Event) -> None:
        self.events.append(event)

    def now_ms(self) -> int:
        return len(self.events)

    def initialize(self, actor: str, transactional_id: str) -> Identified:
        if transactional_id in self.open:
            self.end(transactional_id, committed=False)
        before = self.identities.get(transactional_id)
        rolls_over = before is None or self.chance.random() < 0.1
        identity = (next(self.numbers), 0) if rolls_over else (before.producer_id, before.producer_epoch + 1)
        event = Identified(self.now_ms(), actor, transactional_id, *identity)
        self.identities[transactional_id] = event
        return event

    def end(self, transactional_id: str, *, committed: bool) -> None:
        transaction = self.open.pop(transactional_id)
        self.outcomes[transaction] = committed
        for group, partition, offset in self.pending.pop(transaction, []):
            if committed:
                self.offsets[group, partition] = offset

    def stable(self, partition: TopicPartition) -> int:
        log = self.logs[partition]
        return next((at for at, entry in enumerate(log) if entry.transaction not in self.outcomes), len(log))

    def poll(self, actor: str, partition: TopicPartition, start: int) -> int:
        end = self.stable(partition)
        for offset in range(start, end):
            entry = self.logs[partition][offset]
            if self.outcomes[entry.transaction]:
                self.add(Polled(self.now_ms(), actor, partition, offset, entry.value))
        return end

    def observe(self, *, ends: bool = False) -> None:
        for partition, log in self.logs.items():
            for broker in BROKERS:
                leads = broker == 1 + self.leader_epoch % len(BROKERS)
                self.add(
                    ReplicaSeen(
                        *(self.now_ms(), partition, broker, 1, leads, self.leader_epoch),
                        *(0, self.stable(partition), len(log), len(log), BROKERS),
                    )
                )
                for offset, entry in enumerate(log if ends else ()):
                    self.add(BatchSeen(self.now_ms(), partition, broker, offset, zlib.crc32(entry.value.encode())))


def writer(world: World, actor: str, transactional_id: str, count: int) -> Iterator[None]:
    """Write transactions until they are done or a successor takes over."""
    world.add(InitInvoked(world.now_ms(), actor, transactional_id))
    yield
    own = world.initialize(actor, transactional_id)
    world.add(own)
    positions = dict.fromkeys(PARTITIONS, 0)
    for number in range(count):
        name = f"{actor}/{number}"
        if world.chance.random() < 0.5:
            partition = world.chance.choice(PARTITIONS)
            start = positions[partition]
            positions[partition] = end = world.poll(actor, partition, start)
            world.add(TransactionRead(world.now_ms(), actor, name, partition, start, end))
            yield
        values = [f"{name}/{index}" for index in range(world.chance.randint(2, 4))]
        if world.chance.random() < 0.5:
            values = [f"{name}/account-{index}${amount:+}" for index, amount in enumerate((-25, 25))]
        for value in values:
            partition = world.chance.choice(PARTITIONS)
            world.add(SendInvoked(world.now_ms(), actor, name, partition, value))
            yield
            if world.identities[transactional_id] is not own:
                world.add(Ended(world.now_ms(), actor, name, Outcome.UNKNOWN))
                return
            world.open[transactional_id] = name
            world.logs[partition].append(Entry(value, name))
            world.add(Sent(world.now_ms(), actor, partition, value, len(world.logs[partition]) - 1))
            yield
        if world.identities[transactional_id] is own:
            offset = next(world.numbers)
            world.pending[name].append((transactional_id, PARTITIONS[0], offset))
            world.add(OffsetsSent(world.now_ms(), actor, name, transactional_id, PARTITIONS[0], offset))
            yield
        committed = world.chance.random() < 0.7
        world.add(EndInvoked(world.now_ms(), actor, name, committed))
        yield
        if world.identities[transactional_id] is not own:
            world.add(Ended(world.now_ms(), actor, name, Outcome.UNKNOWN))
            return
        world.end(transactional_id, committed=committed)
        outcome = Outcome.COMMITTED if committed else Outcome.ABORTED
        world.add(Ended(world.now_ms(), actor, name, outcome))
        yield


def plain_writer(world: World, actor: str, count: int) -> Iterator[None]:
    """Write outside of transactions."""
    for number in range(count):
        partition = world.chance.choice(PARTITIONS)
        world.add(SendInvoked(world.now_ms(), actor, "", partition, f"{actor}/{number}"))
        yield
        world.logs[partition].append(Entry(f"{actor}/{number}", ""))
        offset = len(world.logs[partition]) - 1
        world.add(Sent(world.now_ms(), actor, partition, f"{actor}/{number}", offset))
        yield


def reader(world: World, actor: str, count: int) -> Iterator[None]:
    """Read committed data as it becomes stable."""
    positions = dict.fromkeys(PARTITIONS, 0)
    for _ in range(count):
        partition = world.chance.choice(PARTITIONS)
        positions[partition] = world.poll(actor, partition, positions[partition])
        yield


def observer(world: World, actor: str, groups: tuple[str, ...], count: int) -> Iterator[None]:
    """Observe offsets and replicas while leaders change."""
    for _ in range(count):
        group = world.chance.choice(groups)
        world.add(OffsetAsked(world.now_ms(), actor, group, PARTITIONS[0]))
        yield
        offset = world.offsets.get((group, PARTITIONS[0]))
        world.add(OffsetFetched(world.now_ms(), actor, group, PARTITIONS[0], offset))
        world.observe()
        world.leader_epoch += world.chance.random() < 0.2
        yield


def store(world: World, count: int) -> None:
    """Count in a store with a changelog, whose processes are killed; each marker takes an offset."""
    content: dict[str, int] = {}
    committed: list[tuple[int, str]] = []
    kept: int | None = None
    offset = 0
    for life in range(count):
        actor = f"counts.{life}"
        began_at_ms, last = world.now_ms() + 1, committed[-1][0] if committed else None
        world.add(InitInvoked(world.now_ms(), actor, "counts"))
        world.add(world.initialize(actor, "counts"))
        restored = sum(kept is None or at > kept for at, _ in committed)
        text = " ".join(f"{key}={number}" for key, number in sorted(content.items()))
        start = "restore all" if not committed else "wipe" if kept is None else "restore rest"
        for moment in ("standby", "restored"):
            seen = StoreSeen(world.now_ms(), actor, CHANGELOG, moment, start, began_at_ms, kept, last, restored, text)
            world.add(seen)
        for number in range(world.chance.randint(1, 3)):
            name = f"{actor}/{number}"
            tried = dict(content)
            sent: list[tuple[int, str]] = []
            for index in range(world.chance.randint(1, 3)):
                key = world.chance.choice("abc")
                tried[key] = tried.get(key, 0) + 1
                value = f"{name}/{index}|{key}={tried[key]}"
                world.add(SendInvoked(world.now_ms(), actor, name, CHANGELOG, value))
                world.add(Sent(world.now_ms(), actor, CHANGELOG, value, offset))
                sent.append((offset, value))
                offset += 1
            offset += 1
            commits = number == 0 or world.chance.random() < 0.6
            world.add(EndInvoked(world.now_ms(), actor, name, commits))
            world.add(Ended(world.now_ms(), actor, name, Outcome.COMMITTED if commits else Outcome.ABORTED))
            if commits:
                content, committed = tried, [*committed, *sent]
        kept = world.chance.choice((None, committed[-1][0]))
    for at, value in committed:
        world.add(Polled(world.now_ms(), "final", CHANGELOG, at, value))
    world.add(Drained(world.now_ms(), "final", CHANGELOG))


def clean_history(seed: int, *, transaction_count: int = 4) -> History:
    """Return a history without any anomaly; the same for the same seed."""
    world = World(seed)
    ids = ("pay", "ship")
    working = [writer(world, f"{name}-{n}", name, transaction_count) for name in ids for n in (1, 2)]
    working += [plain_writer(world, "audit", 3), reader(world, "live", 12), observer(world, "watch", ids, 4)]
    while working:
        one = world.chance.choice(working)
        if next(one, StopIteration) is StopIteration:
            working.remove(one)
    for transactional_id in tuple(world.open):
        world.end(transactional_id, committed=False)
    for partition in PARTITIONS:
        world.poll("final", partition, 0)
        world.add(Drained(world.now_ms(), "final", partition))
    store(world, 3)
    world.observe(ends=True)
    return tuple(world.events)
