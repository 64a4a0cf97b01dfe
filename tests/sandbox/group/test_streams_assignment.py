"""Task assignment of streams groups: every task once, balanced, sticky, and with Java's order of ties."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.coordinator.group.streams.group import MemberState, StreamsMember
from eosctl.sandbox.coordinator.group.streams.java_collections import PriorityQueue, hash_order
from eosctl.sandbox.coordinator.group.streams.reconcile import find_holders, reconcile
from eosctl.sandbox.coordinator.group.streams.sticky_assignor import (
    MemberSpec,
    NoCapacityError,
    StickyAssignor,
    SubtopologySpec,
)
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskId, TaskSets

SUBTOPOLOGIES = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=3).map(
    lambda parts: [SubtopologySpec(str(number), count, stateful) for number, (count, stateful) in enumerate(parts)]
)
PROCESSES = st.lists(st.sampled_from(["p1", "p2", "p3"]), min_size=1, max_size=6)
RELEASES = st.booleans()


def assign(
    members: dict[str, MemberSpec], parts: list[SubtopologySpec], standby: int, *, before: bool
) -> dict[str, TaskSets]:
    return StickyAssignor(members, parts, standby, is_before_4_4=before).assign()


@given(SUBTOPOLOGIES, PROCESSES, st.integers(0, 2), RELEASES)
def test_every_task_is_active_once_and_replicas_are_apart(
    parts: list[SubtopologySpec], processes: list[str], standby: int, before: bool
) -> None:
    members = {f"m{number}": MemberSpec(process) for number, process in enumerate(processes)}
    tasks = {task for part in parts for task in part.tasks}
    for _ in range(2):
        found = assign(members, parts, standby, before=before)
        active = [task for each in found.values() for task in each.active]
        assert sorted(active) == sorted(tasks)
        counts = [len(each.active) for each in found.values()]
        if len(set(processes)) == len(processes):  # Else processes are balanced, not members.
            assert max(counts) - min(counts) <= 1
        for part in parts:
            for task in part.tasks:
                holders = [members[key].process_id for key, each in found.items() if task in each.active | each.standby]
                wanted = 1 + (min(standby, len(set(processes)) - 1) if part.is_stateful else 0)
                assert len(holders) == len(set(holders)) == wanted
        members = {key: spec._replace(former=found[key]) for key, spec in members.items()}


@given(SUBTOPOLOGIES, PROCESSES, RELEASES)
def test_a_balanced_assignment_stays(parts: list[SubtopologySpec], processes: list[str], before: bool) -> None:
    members = {f"m{number}": MemberSpec(process) for number, process in enumerate(processes)}
    first = assign(members, parts, 0, before=before)
    counts = [len(each.active) for each in first.values()]
    if max(counts) - min(counts) > 1:
        return
    kept = {key: spec._replace(former=first[key]) for key, spec in members.items()}
    assert assign(kept, parts, 0, before=before) == first


def test_reported_state_decides_from_4_4() -> None:
    part, task = SubtopologySpec("0", 1, is_stateful=True), TaskId("0", 0)
    members = {"m1": MemberSpec("p1"), "m2": MemberSpec("p2", offsets={task: 5}), "m3": MemberSpec("p3")}
    for before, holder in ((False, "m2"), (True, "m1")):
        assert [key for key, each in assign(members, [part], 0, before=before).items() if each.active] == [holder]


def test_tasks_without_members_cannot_be_assigned() -> None:
    with pytest.raises(NoCapacityError, match="0_0"):
        assign({}, [SubtopologySpec("0", 1, is_stateful=False)], 0, before=False)


# The orders are those that java.util of Java 17 shows.


def test_keys_come_in_the_order_of_java() -> None:
    names = ["zeta", "alpha", "m1", "m2", "app-1-repartition", "app-1-changelog", "0", "10", "ü", "😀x", "p9", "p10"]
    names += ["p11", "k1", "k2", "k3"]
    expected = ["zeta", "m1", "m2", "k1", "k2", "k3", "app-1-changelog", "p9", "app-1-repartition", "p10", "0", "p11"]
    assert hash_order(names) == [*expected, "😀x", "alpha", "ü", "10"]
    assert hash_order(["p1", "p2"], 2) == ["p1", "p2"]
    assert hash_order(["p1", "p2"], 2, grows_late=True) == ["p2", "p1"]


def test_ties_are_broken_as_by_java() -> None:
    priorities = [2, 1, 1, 3, 1, 2, 0, 0, 1]
    queue = PriorityQueue(priorities.__getitem__, range(len(priorities)))
    polled = []
    for _ in range(4):
        first = queue.poll()
        polled.append(first)
        priorities[first] += 2
        queue.add(first)
    while queue:
        polled.append(queue.poll())
    assert polled == [6, 7, 8, 4, 1, 2, 7, 6, 0, 5, 3, 8, 4]


# --- roles of one member --------------------------------------------------------------------------------------------

TASK = TaskId("0", 0)
ACTIVE, STANDBY, WARMUP = (TaskSets(*roles) for roles in ([{TASK}, (), ()], [(), {TASK}, ()], [(), (), {TASK}]))


def with_tasks(tasks: TaskSets) -> StreamsMember:
    frozen = TaskSets(*map(frozenset, tasks))
    return replace(StreamsMember("m1", process_id="p1", member_epoch=5), assigned=frozen)


@pytest.mark.parametrize(
    ("former", "target", "states"),
    [
        (STANDBY, ACTIVE, ["STABLE"]),
        (WARMUP, ACTIVE, ["STABLE"]),
        (STANDBY, WARMUP, ["STABLE"]),
        (WARMUP, STANDBY, ["STABLE"]),
        (ACTIVE, STANDBY, ["UNREVOKED_TASKS", "STABLE"]),
        (ACTIVE, NO_TASK_SETS, ["UNREVOKED_TASKS", "STABLE"]),
    ],
)
def test_a_task_changes_its_role_in_place_from_4_4(former: TaskSets, target: TaskSets, states: list[str]) -> None:
    wanted = TaskSets(*map(frozenset, target))
    member, owned = with_tasks(former), TaskSets(*map(frozenset, former))
    seen = []
    for _ in states:
        member = reconcile(member, wanted, 6, find_holders([member]), owned, is_before_4_4=False)
        seen.append(member.state.name)
        owned = member.assigned
    assert seen == states
    assert (member.assigned, member.member_epoch) == (wanted, 6)


def test_4_3_revokes_a_standby_task_before_it_becomes_active() -> None:
    member, wanted = with_tasks(STANDBY), TaskSets(frozenset({TASK}))
    owned = member.assigned
    first = reconcile(member, wanted, 6, find_holders([member]), owned, is_before_4_4=True)
    assert (first.state, first.assigned) == (MemberState.UNREVOKED_TASKS, NO_TASK_SETS)
    second = reconcile(first, wanted, 6, find_holders([first]), NO_TASK_SETS, is_before_4_4=True)
    assert (second.state, second.assigned) == (MemberState.UNRELEASED_TASKS, NO_TASK_SETS)
    third = reconcile(second, wanted, 6, find_holders([second]), NO_TASK_SETS, is_before_4_4=True)
    assert (third.state, third.assigned) == (MemberState.STABLE, wanted)
