"""Transactions in motion, read at any four moments: live ones never count as hanging, stray ones always do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.model.hang import HangStatus
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import (
    PartitionProducers,
    ProducerState,
    TopicPartition,
    Transaction,
    TransactionLook,
)
from tests.analysis.scenes import NOW_MS, ORDERS_0, ORDERS_1, snapshot

PARTITIONS = (ORDERS_0, ORDERS_1)
EXHAUSTED = 3


@dataclass(frozen=True)
class World:
    """One producer, its coordinator and two leaders, at one instant."""

    tv2: bool
    producer_id: int = 7
    epoch: int = 0
    state: str = "Empty"
    start: int = 0
    in_set: tuple[TopicPartition, ...] = ()
    next_producer_id: int = 0
    next_epoch: int = 0
    open_at: tuple[tuple[TopicPartition, int, int, int], ...] = ()
    """Partition, producer id, epoch and first offset of every open transaction on a leader."""
    last_offset: int = 10
    clock: int = 0
    stray: tuple[TopicPartition, int, int, int] | None = field(default=None)
    """The late batch."""

    @property
    def last_offset_of_stray(self) -> int | None:
        return None if self.stray is None else self.stray[3]


def successors(world: World, forbidden: TopicPartition | None = None) -> list[World]:
    """Return everything that can happen next; ``forbidden`` is a partition that no transaction takes up."""
    world = replace(world, clock=world.clock + 1)
    found = [_add(world, where) for where in PARTITIONS if where != forbidden]
    found += [move(world, where) for move in (_append, _deliver) for where in PARTITIONS]
    found += [move(world, ORDERS_0) for move in (_end, _complete, _initialize)]
    return [after for after in found if after != world]


def _add(world: World, where: TopicPartition) -> World:
    if world.state.startswith("Prepare") or (world.state == "Ongoing" and where in world.in_set):
        return world
    if world.state != "Ongoing":
        world = replace(world, state="Ongoing", start=world.clock, in_set=())
    return replace(world, in_set=(*world.in_set, where))


def _append(world: World, where: TopicPartition) -> World:
    if world.state != "Ongoing" or where not in world.in_set:
        return world
    world = replace(world, last_offset=world.last_offset + 1)
    if any(p == where and pid == world.producer_id for p, pid, _, _ in world.open_at):
        return world
    return replace(world, open_at=(*world.open_at, (where, world.producer_id, world.epoch, world.last_offset)))


def _end(world: World, where: TopicPartition) -> World:
    if world.state != "Ongoing":
        return world
    outcome = "PrepareCommit" if world.clock % 2 else "PrepareAbort"
    return _prepare(world, outcome, bump=world.tv2)


def _prepare(world: World, outcome: str, *, bump: bool) -> World:
    producer_id, epoch = world.producer_id, world.epoch + (1 if bump else 0)
    after = (producer_id + 1000, 0) if bump and epoch >= EXHAUSTED else (producer_id, epoch)
    return replace(world, state=outcome, epoch=epoch, next_producer_id=after[0], next_epoch=after[1])


def _deliver(world: World, where: TopicPartition) -> World:
    """Append the marker at the leader; the coordinator learns of it in ``_complete``."""
    if not world.state.startswith("Prepare") or where not in world.in_set:
        return world
    return _close(world, where)


def _close(world: World, where: TopicPartition) -> World:
    kept = tuple(o for o in world.open_at if not (o[0] == where and o[1] == world.producer_id))
    return replace(world, open_at=kept)


def _complete(world: World, where: TopicPartition) -> World:
    """Take a partition whose marker is written off the list, and end when it was the last."""
    if not world.state.startswith("Prepare"):
        return world
    pending = tuple(p for p in world.in_set if any(o[0] == p and o[1] == world.producer_id for o in world.open_at))
    if pending:
        return replace(world, in_set=pending)
    return replace(
        world,
        state=world.state.replace("Prepare", "Complete"),
        in_set=(),
        producer_id=world.next_producer_id,
        epoch=world.next_epoch,
    )


def _initialize(world: World, where: TopicPartition) -> World:
    """A new instance: it fences what is open, else it takes the next epoch."""
    if world.state.startswith("Prepare"):
        return world
    if world.state == "Ongoing":
        return _prepare(world, "PrepareAbort", bump=True)
    if world.epoch + 1 >= EXHAUSTED:
        return replace(world, state="Empty", producer_id=world.producer_id + 1000, epoch=0)
    return replace(world, state="Empty", epoch=world.epoch + 1)


def go_astray(world: World, where: TopicPartition) -> World:
    """Append a late batch of the present producer id where nothing of it is open and no transaction holds it."""
    held = where in world.in_set or any(o[0] == where and o[1] == world.producer_id for o in world.open_at)
    if held:
        return world
    offset = world.last_offset + 1
    batch = (where, world.producer_id, world.epoch, offset)
    return replace(world, last_offset=offset, open_at=(*world.open_at, batch), stray=batch)


def leaders(world: World) -> tuple[PartitionProducers, ...]:
    return tuple(
        PartitionProducers(
            where,
            1,
            tuple(ProducerState(pid, epoch, 0, 0, 0, first) for p, pid, epoch, first in world.open_at if p == where),
        )
        for where in PARTITIONS
    )


def coordinator(world: World) -> tuple[Transaction, ...]:
    started = None if world.state == "Empty" else NOW_MS + world.start
    return (
        Transaction(
            "app", 1, world.producer_id, world.state, world.epoch, 60_000, started, tuple(sorted(world.in_set))
        ),
    )


def observe(history: list[World], start: int, pauses: tuple[int, int, int]) -> ClusterSnapshot:
    """Take two readings: leaders at one moment, the coordinator at a later one, twice."""
    moments = [start % len(history)]
    for pause in pauses:
        moments.append(min(moments[-1] + pause, len(history) - 1))
    first, second, third, fourth = moments
    looks = (
        TransactionLook(NOW_MS, NOW_MS + 10, leaders(history[first]), coordinator(history[second])),
        TransactionLook(NOW_MS + 500, NOW_MS + 510, leaders(history[third]), coordinator(history[fourth])),
    )
    return snapshot(*looks)


CHOICES = st.lists(st.integers(0, 100), min_size=1, max_size=60)
START = st.integers(0, 60)
# Few events between the requests, so that a transaction is seen twice; then many, so that it ends after a reading.
PAUSES = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 8))


def play(world: World, choices: list[int], forbidden: TopicPartition | None = None) -> list[World]:
    history = [world]
    for choice in choices:
        possible = successors(history[-1], forbidden)
        history.append(possible[choice % len(possible)])
    return history


@settings(max_examples=500)
@given(tv2=st.booleans(), choices=CHOICES, start=START, pauses=PAUSES)
def test_what_a_coordinator_will_end_is_never_hanging(
    tv2: bool, choices: list[int], start: int, pauses: tuple[int, int, int]
) -> None:
    cluster = observe(play(World(tv2), choices), start, pauses)
    verdicts = classify_open_transactions(cluster)
    assert not [v for v in verdicts if v.status is HangStatus.HANGING or v.can_abort]


@settings(max_examples=200)
@given(tv2=st.booleans(), before=CHOICES, where=st.sampled_from(PARTITIONS), after=CHOICES, start=START, pauses=PAUSES)
def test_an_abandoned_stray_batch_is_hanging(
    tv2: bool,
    before: list[int],
    where: TopicPartition,
    after: list[int],
    start: int,
    pauses: tuple[int, int, int],
) -> None:
    world = go_astray(play(World(tv2), before)[-1], where)
    assume(world.stray is not None)
    # A transaction of the same producer that takes the partition up would end the batch, rightly or not.
    cluster = observe(play(world, after, forbidden=where), start, pauses)
    found = [v for v in classify_open_transactions(cluster) if v.transaction.first_offset == world.last_offset_of_stray]
    assert [v.status for v in found] == [HangStatus.HANGING]
