"""The Streams-like application dies at every step of its loop, and output and state are as if it had not."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.lab.workloads.streams.instance import StreamsPlan
from eosctl.lab.workloads.streams.rules import (
    STREAMS_3_9,
    STREAMS_4_3,
    TRANSACTIONAL_STORES,
    OffsetsIn,
    Rules,
    Start,
    decide_start,
)
from eosctl.lab.workloads.streams.state import TaskDirectory
from eosctl.lab.workloads.streams.task import Step
from tests.lab.workloads.streams_stage import PARTITIONS, Immortal, Killed, Mortal, Outcome, Stage, lives_of_model, play

LINES = 32
LOOP = tuple(Step)[tuple(Step).index(Step.POLL) : tuple(Step).index(Step.SUSPEND)]
#: Steps that send a request; the process can die in the middle of it.
ASKING = (Step.INITIALIZE, Step.POLL, Step.PRODUCE_CHANGELOG, Step.PRODUCE_OUTPUT, Step.ADD_OFFSETS, Step.COMMIT)
DEATHS = (
    *((step, 1, 0.0) for step in Step),
    *((step, 4, 0.0) for step in Step if step in LOOP),
    *((step, 1, into_ms) for step in ASKING for into_ms in (0.6, 1.2, 2.4)),
)


async def die_and_recover(
    stage: Stage, death: tuple[Step, int, float], *, memtable: int, rules: Rules = STREAMS_4_3
) -> Outcome:
    """Let an instance die at a step, then its successor finish."""
    plan = stage.plan(rules, memtable)
    await stage.topics(plan)
    if death[0] in (Step.WIPE, Step.RESTORE):  # these come with a store and a changelog that another life has left
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(Step.COMMITTED, 2, 0))
    with pytest.raises(Killed):
        await stage.live(plan, Mortal(*death))
    return await stage.outcome(plan, await stage.live(plan, Immortal()))


async def undisturbed(stage: Stage) -> Outcome:
    """Let an instance live, and see that it has counted what was fed."""
    plan = stage.plan()
    await stage.topics(plan)
    life = Immortal()
    outcome = await stage.outcome(plan, await stage.live(plan, life))
    assert life.reached[Step.COMMIT] >= 5
    counted = {number: dict(Counter(word for word, _ in rows)) for number, rows in outcome.output.items()}
    assert outcome.state == outcome.changelog == counted
    return outcome


@pytest.mark.parametrize(("emulate", "memtable"), [("4.3", 1), ("4.3", 1_000), ("3.9", 1)])
def test_output_and_state_are_as_without_the_crash(tmp_path: Path, emulate: str, memtable: int) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        expected = await undisturbed(stage)
        for death in DEATHS if emulate == "4.3" else DEATHS[::2]:  # older brokers answer the same requests
            assert await die_and_recover(stage, death, memtable=memtable) == expected, death

    play(tmp_path, scenario, emulate=emulate)


def test_transactional_stores_need_no_wipe(tmp_path: Path) -> None:
    """After a kill, the next process continues at the end of the writes that RocksDB had flushed."""
    memtable = 5  # is written out after every second commit or so

    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        expected = await undisturbed(stage)
        for death in DEATHS:
            if death[0] not in (Step.FORGET_OFFSET, Step.WIPE):  # they have neither of these steps
                found = await die_and_recover(stage, death, memtable=memtable, rules=TRANSACTIONAL_STORES)
                assert found == expected, death

    play(tmp_path, scenario, emulate="4.4")


@pytest.mark.parametrize(("memtable", "kept"), [(1, True), (1_000, False)])
def test_a_kill_loses_what_rocksdb_has_not_written(tmp_path: Path, memtable: int, kept: bool) -> None:
    """As docs/transactional-stores.md measured it: a small store is wiped, and restored as a whole."""

    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        plan = stage.plan(TRANSACTIONAL_STORES, memtable)
        await stage.topics(plan)
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(Step.POLL, 6, 0))
        changed = {number: len(rows) for number, rows in (await stage.read(plan.changelog_topic)).items()}
        assert all(changed.values())
        tasks = await stage.live(plan, Immortal())
        assert {task.start for task in tasks} == {Start.RESTORE_REST if kept else Start.WIPE}
        assert [task.restored_count for task in tasks] == ([0, 0] if kept else [*changed.values()])

    play(tmp_path, scenario, emulate="4.4")


def test_transactional_stores_can_be_switched_off_after_a_kill(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        expected = await undisturbed(stage)
        plan = stage.plan(TRANSACTIONAL_STORES, memtable=1)
        await stage.topics(plan)
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(Step.COMMIT, 4, 0))
        switched = replace(plan, rules=STREAMS_4_3)
        tasks = await stage.live(switched, Immortal())
        assert {task.start for task in tasks} == {Start.RESTORE_REST}
        assert await stage.outcome(switched, tasks) == expected

    play(tmp_path, scenario, emulate="4.4")


def test_transactional_stores_refuse_one_that_was_left_open(tmp_path: Path) -> None:
    """Kafka Streams 4.4.0 was seen to: TaskCorruptedException without end, until the directory is removed."""

    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        plan = stage.plan(STREAMS_4_3, memtable=1)
        await stage.topics(plan)
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(Step.COMMIT, 4, 0))
        switched = replace(plan, rules=TRANSACTIONAL_STORES)
        with pytest.raises(AssertionError, match="marked as open"):
            await stage.live(switched, Immortal())
        await stage.live(plan, Immortal())  # once more without them, and closed
        tasks = await stage.live(switched, Immortal())
        assert {task.start for task in tasks} == {Start.RESTORE_REST}

    play(tmp_path, scenario, emulate="4.4")


@pytest.mark.parametrize("offsets_in", OffsetsIn)
def test_only_a_clean_stop_keeps_the_store(tmp_path: Path, offsets_in: OffsetsIn) -> None:
    rules = STREAMS_4_3._replace(offsets_in=offsets_in)

    async def scenario(stage: Stage) -> None:
        plan = stage.plan(rules)
        await stage.topics(plan)
        await stage.feed(LINES)
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(Step.COMMITTED, 2, 0))
        assert [directory.offset for directory in directories(plan)] == [None, None]
        changed = {number: len(rows) for number, rows in (await stage.read(plan.changelog_topic)).items()}
        tasks = await stage.live(plan, Immortal())
        assert [task.start for task in tasks] == [Start.WIPE, Start.WIPE]
        assert {number: task.restored_count for number, task in enumerate(tasks)} == changed
        assert all(directory.offset is not None for directory in directories(plan))
        again = await stage.live(plan, Immortal())
        assert [(task.start, task.restored_count) for task in again] == [(Start.RESTORE_REST, 0)] * 2
        assert [task.content() for task in again] == [task.content() for task in tasks]
        checkpoints = sorted((plan.state_dir / plan.application_id).rglob(".checkpoint"))
        assert bool(checkpoints) is (offsets_in is OffsetsIn.CHECKPOINT)

    play(tmp_path, scenario)


def test_another_process_takes_over_without_a_store_of_its_own(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        expected = await undisturbed(stage)
        # The transaction of one who died before it asked to commit ends by its timeout; the successor waits for that.
        for step in (Step.COMMIT, Step.COMMITTED):
            assert await take_over(stage, step, STREAMS_4_3) == expected, step

    play(tmp_path, scenario)


@pytest.mark.parametrize("rules", [STREAMS_4_3, TRANSACTIONAL_STORES], ids=["wiped", "kept"])
def test_a_standby_takes_over_with_the_rest_to_restore(tmp_path: Path, rules: Rules) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES)
        plan = stage.plan(rules, memtable=1)
        await stage.topics(plan)
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(Step.COMMITTED, 2, 0))
        elsewhere = replace(plan, process_id="other", state_dir=plan.state_dir / "elsewhere")
        rounds, life = iter([False, True]), Immortal()
        tasks = await stage.live(elsewhere, life, stands_by=lambda: next(rounds))
        copied = {view.changelog: view for view in life.views if view.moment == "standby"}
        restored = {view.changelog: view for view in life.views if view.moment == "restored"}
        assert {place.partition for place in copied} == set(PARTITIONS)
        for place, view in copied.items():
            assert view.restored_count > 0
            assert view.content.items() <= restored[place].content.items()
        outcome = await stage.outcome(elsewhere, tasks)
        assert outcome.state == outcome.changelog
        closed = {view.changelog.partition: dict(view.content) for view in life.views if view.moment == "closed"}
        assert closed == outcome.changelog

    play(tmp_path, scenario, emulate="4.4")


class Broken(NamedTuple):
    """A rule that is not kept, and how an instance dies then."""

    rules: Rules
    step: Step
    number: int = 1
    stops_first: bool = False
    takes_over: bool = False


BROKEN = {
    "a store without offset is believed": Broken(STREAMS_4_3._replace(wipes_unknown=False), Step.COMMIT),
    "the offset stays while the task runs": Broken(
        STREAMS_4_3._replace(forgets_loaded=False), Step.COMMIT, stops_first=True
    ),
    "aborted changes are restored": Broken(STREAMS_4_3._replace(restores_committed=False), Step.COMMIT, 2),
    "decided changes are not waited for": Broken(
        STREAMS_4_3._replace(restores_to_end=False), Step.COMMITTED, 2, takes_over=True
    ),
    # As in 3.9: it goes unnoticed unless RocksDB flushes a full memtable in the middle of a transaction.
    "an offset is noted after restoring": Broken(STREAMS_3_9, Step.COMMIT, stops_first=True),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_without_a_rule_words_are_counted_wrongly(tmp_path: Path, broken: Broken) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.feed(LINES // 2)
        kept, bad = [await begin(stage, rules, stops=broken.stops_first) for rules in (STREAMS_4_3, broken.rules)]
        await stage.feed(LINES // 2)
        expected = await end(stage, kept, broken)
        assert await end(stage, bad, broken) != expected
        assert {number: dict(Counter(word for word, _ in rows)) for number, rows in expected.output.items()} == (
            expected.state
        )

    play(tmp_path, scenario)


async def begin(stage: Stage, rules: Rules, *, stops: bool) -> StreamsPlan:
    plan = stage.plan(rules, memtable=1)
    await stage.topics(plan)
    if stops:
        await stage.live(plan, Immortal())
    return plan


async def end(stage: Stage, plan: StreamsPlan, broken: Broken) -> Outcome:
    if broken.takes_over:
        return await take_over(stage, broken.step, plan.rules)
    with pytest.raises(Killed):
        await stage.live(plan, Mortal(broken.step, broken.number, 0))
    return await stage.outcome(plan, await stage.live(plan, Immortal()))


async def take_over(stage: Stage, step: Step, rules: Rules) -> Outcome:
    """Kill a process while its markers are late, and start its tasks in another process immediately."""
    plan = stage.plan(rules, memtable=1)
    await stage.topics(plan)
    async with stage.late_markers(500):
        with pytest.raises(Killed):
            await stage.live(plan, Mortal(step, 2, 0))
        elsewhere = replace(plan, process_id="other", state_dir=plan.state_dir / "elsewhere")
        tasks = await stage.live(elsewhere, Immortal())
        await asyncio.sleep(1)  # on virtual time: until the last marker is written
    return await stage.outcome(plan, tasks)


def directories(plan: StreamsPlan) -> list[TaskDirectory]:
    """Return the tasks' directories as a next instance would open them."""
    return [plan.directory(partition) for partition in plan.partitions]


@pytest.mark.parametrize(
    ("rules", "emulate", "restored", "running", "left"),
    [
        (STREAMS_4_3, "4.3", (0, 20, 0, 20), ("absent",) * 4, ("absent",) * 4),
        (
            STREAMS_3_9,
            "3.9",
            (0, 20, 0, 20),
            ("unknown", "known", "known", "known"),
            ("unknown", "known", "known", "known"),
        ),
    ],
)
def test_lives_leave_what_those_of_streams_were_seen_to_leave(
    tmp_path: Path,
    rules: Rules,
    emulate: str,
    restored: tuple[int, ...],
    running: tuple[str, ...],
    left: tuple[str, ...],
) -> None:
    """As tests/apache/test_streams_model.py saw it in both releases: killed, closed, killed, closed."""
    lives = lives_of_model(tmp_path, rules, (False, True, False, True), 10, emulate=emulate)
    assert [life.restored for life in lives] == [(count, count) for count in restored]
    assert [life.running for life in lives] == [(told, told) for told in running]
    assert [life.left for life in lives] == [(told, told) for told in left]


@pytest.mark.parametrize(
    ("has_files", "offset", "start"),
    [
        (False, None, Start.RESTORE_ALL),
        (True, None, Start.WIPE),
        (True, 7, Start.RESTORE_REST),
        # Removing a task's files and leaving its hidden checkpoint behind loses state without a word, as in Streams.
        (False, 7, Start.RESTORE_REST),
    ],
)
def test_start(has_files: bool, offset: int | None, start: Start) -> None:
    assert decide_start(STREAMS_4_3, has_files=has_files, offset=offset) is start
