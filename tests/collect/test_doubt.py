"""A second pass over what is in doubt finds what a second pass over everything finds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lifetime import classify_transactions
from eosctl.analysis.second_look import doubt_of
from eosctl.collect.reader import Memory, Probed, ReadOnly
from eosctl.collect.transactions import TransactionQuery, read_doubt, read_transactions
from eosctl.model.hang import HangStatus
from eosctl.model.transaction import TransactionLook
from eosctl.wire.api_keys import ApiKey
from tests.analysis.scenes import snapshot
from tests.collect.transaction_world import BROKERS, CHANGES, PARTITIONS, World

QUERY = TransactionQuery(describe_idle=False)
#: Verdicts that need two passes.
FOUND = {HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE}

Found = set[tuple[object, ...]]


def full(world: World, before: TransactionLook | None = None) -> Probed[TransactionLook]:
    reader = ReadOnly(world)
    return asyncio.run(read_transactions(reader, BROKERS, world.infos(), lambda: world.now_ms, QUERY, before))


def found(world: World, first: Probed[TransactionLook], second: Probed[TransactionLook]) -> Found:
    seen = snapshot(first.value, second.value, topics=world.topics(), gaps=(*first.gaps, *second.gaps))
    hanging = classify_open_transactions(seen)
    verdicts: Found = {(v.transaction.partition, v.transaction.producer_id, v.status) for v in hanging}
    verdicts |= {(v.transaction.transactional_id, v.status) for v in classify_transactions(seen)}
    return {one for one in verdicts if one[-1] in FOUND}


@settings(max_examples=60)
@given(CHANGES, CHANGES, CHANGES)
def test_nothing_that_hangs_is_missed(earlier, during, between) -> None:  # type: ignore[no-untyped-def]
    world = World()
    for change in earlier:
        world.step(*change)
    pending = list(during)

    def step() -> None:
        if pending:
            world.step(*pending.pop())

    world.before_coordinators = step
    first = full(world)
    world.before_coordinators = lambda: None
    if first.gaps or not any(doubt_of(first.value)):
        return
    for change in between:
        world.step(*change)
    world.now_ms += 500
    everything = full(world, first.value)
    reader = ReadOnly(world)
    doubt = asyncio.run(
        read_doubt(reader, BROKERS, world.infos(), lambda: world.now_ms, first.value, doubt_of(first.value))
    )
    complete = found(world, first, everything)
    assert found(world, first, doubt) == complete or everything.gaps
    assert {one for one in complete if one[-1] is HangStatus.HANGING} <= found(world, first, doubt)


@pytest.mark.parametrize(("kind", "hangs"), [("late", True), ("begin", False)])
def test_only_what_is_in_doubt_is_read_again(kind: str, hangs: bool) -> None:
    world = World()
    world.step("begin", "a", PARTITIONS[0], 1)
    world.step(kind, "b", PARTITIONS[1], 1)
    first = full(world)
    assert bool(doubt_of(first.value).partitions()) is hangs
    world.step("begin", "c", PARTITIONS[2], 1)
    second = asyncio.run(
        read_doubt(ReadOnly(world), BROKERS, world.infos(), lambda: world.now_ms, first.value, doubt_of(first.value))
    )
    assert second.value.with_ids({"a", "c"}) == first.value.with_ids({"a", "c"})
    assert bool(found(world, first, second)) is hangs


def test_what_ended_meanwhile_does_not_hang() -> None:
    world = World()
    world.step("late", "b", PARTITIONS[1], 1)
    first = full(world)
    for kind in ("begin", "prepare", "complete"):
        world.step(kind, "b", PARTITIONS[1], 1)
    second = asyncio.run(
        read_doubt(ReadOnly(world), BROKERS, world.infos(), lambda: world.now_ms, first.value, doubt_of(first.value))
    )
    assert found(world, first, second) == set()


class Repeating:
    """A client that returns an unchanged answer to the same request as the same object, as a remembering one does."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.last: dict[tuple[int, ApiKey, str], Any] = {}

    async def request(self, node_id: int, api_key: ApiKey, message: Any, *, cap: int | None = None) -> Any:
        answer = await self.world.request(node_id, api_key, message, cap=cap)
        place = (node_id, api_key, repr(message))
        if self.last.get(place) != answer:
            self.last[place] = answer
        return self.last[place]

    async def request_any(self, api_key: ApiKey, message: Any) -> Any:
        return await self.world.request_any(api_key, message)


@settings(max_examples=40)
@given(st.lists(CHANGES, min_size=2, max_size=6))
def test_readings_with_a_memory_equal_complete_ones(changes: list[list[Any]]) -> None:
    world, memory = World(), Memory()
    client = Repeating(world)
    for some in changes:
        for change in some:
            world.step(*change)
        memory.begin()
        reader = ReadOnly(client, memory=memory)
        seen = asyncio.run(read_transactions(reader, BROKERS, world.infos(), lambda: world.now_ms, QUERY))
        complete = full(world)
        assert (seen.value.producers, seen.value.transactions) == (
            complete.value.producers,
            complete.value.transactions,
        )
        assert seen.gaps == complete.gaps


def test_what_was_made_of_an_answer_is_kept_for_one_reading() -> None:
    memory, answer, made = Memory(), object(), []
    for begins in (0, 0, 1, 2):
        for _ in range(begins):
            memory.begin()
        memory.derived(answer, lambda: made.append(1))
    assert len(made) == 2
    memory.derived(object(), lambda: made.append(1))
    assert len(made) == 3
