"""The assignor `sticky`: balanced over processes and members, with as few moves as possible (`StickyTaskAssignor`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.streams.java_collections import PriorityQueue, hash_order
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskId, TaskSets


class MemberSpec(NamedTuple):
    """A member as the assignor sees it: its process, its former tasks, and its reported offsets."""

    process_id: str
    former: TaskSets = NO_TASK_SETS
    offsets: Mapping[TaskId, int] = {}


class SubtopologySpec(NamedTuple):
    """A subtopology as the assignor sees it."""

    subtopology_id: str
    task_count: int
    is_stateful: bool

    @property
    def tasks(self) -> list[TaskId]:
        """Return all tasks."""
        return [TaskId(self.subtopology_id, partition) for partition in range(self.task_count)]


class NoCapacityError(Exception):
    """Tasks cannot be assigned because there are no members."""


class _Process:
    """The tasks that the members of a process have got so far."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.active: dict[str, set[TaskId]] = {}
        self.standby: dict[str, set[TaskId]] = {}
        self.tasks: set[TaskId] = set()
        self._task_count = 0
        self._by_load: PriorityQueue[str] | None = None

    def add_member(self, member_id: str) -> None:
        self.counts[member_id] = 0

    @property
    def load(self) -> float:
        return self._task_count / len(self.counts)

    def add(self, member_id: str, task: TaskId, *, is_active: bool) -> int:
        """Assign a task to a member; return the member's number of tasks."""
        self._by_load = None
        return self._add(member_id, task, is_active=is_active)

    def add_to_least_loaded(self, task: TaskId, *, is_active: bool) -> int:
        """Assign a task to the member with the fewest tasks; return its number of tasks."""
        if len(self.counts) == 1:
            return self._add(next(iter(self.counts)), task, is_active=is_active)
        if self._by_load is None:
            self._by_load = PriorityQueue(self.counts.__getitem__, hash_order(self.counts))
        member_id = self._by_load.poll()
        count = self._add(member_id, task, is_active=is_active)
        self._by_load.add(member_id)
        return count

    def _add(self, member_id: str, task: TaskId, *, is_active: bool) -> int:
        self._task_count += 1
        self.tasks.add(task)
        (self.active if is_active else self.standby).setdefault(member_id, set()).add(task)
        self.counts[member_id] += 1
        return self.counts[member_id]


class _Quota:
    """The number of tasks that a member may get for a balanced assignment; shrinks as members reach it."""

    def __init__(self, task_count: int, member_count: int) -> None:
        self._tasks, self._members = task_count, member_count
        self.per_member = self._share()

    def reached(self, count: int) -> None:
        if count == self.per_member:
            self._members -= 1
            self._tasks -= count
            self.per_member = self._share()

    def _share(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0


class StickyAssignor:
    """One assignment. `is_before_4_4` ignores offsets and picks former standby members as 4.3 does."""

    def __init__(
        self,
        members: Mapping[str, MemberSpec],
        subtopologies: Sequence[SubtopologySpec],
        standby_count: int,
        *,
        is_before_4_4: bool,
    ) -> None:
        self._members = {member_id: members[member_id] for member_id in hash_order(members)}
        self._subtopologies = subtopologies
        self._standby_count = standby_count
        self._is_before_4_4 = is_before_4_4
        self._find_former = self._least_loaded_before_4_4 if is_before_4_4 else self._least_loaded
        self._processes: dict[str, _Process] = {}
        self._former_active: dict[TaskId, str] = {}
        for member_id, member in self._members.items():
            self._processes.setdefault(member.process_id, _Process()).add_member(member_id)
            self._former_active |= dict.fromkeys(member.former.active, member_id)
        self._former_standby = _standby_candidates(self._members, with_offsets=not is_before_4_4)
        active = sum(part.task_count for part in subtopologies)
        replicas = standby_count * sum(part.task_count for part in subtopologies if part.is_stateful)
        self._active_quota = _Quota(active, len(members))
        self._total_quota = _Quota(active + replicas, len(members))

    def assign(self) -> dict[str, TaskSets]:
        """Return the tasks of each member.

        Raises:
            NoCapacityError: There are tasks but no members.
        """
        self._assign_active()
        if self._standby_count:
            self._assign_standby()
        return {
            member_id: TaskSets(
                frozenset(self._process_of(member_id).active.get(member_id, ())),
                frozenset(self._process_of(member_id).standby.get(member_id, ())),
            )
            for member_id in self._members
        }

    def _process_of(self, member_id: str) -> _Process:
        return self._processes[self._members[member_id].process_id]

    def _least_loaded_first(self) -> PriorityQueue[_Process]:
        order = hash_order(self._processes, len(self._members), grows_late=not self._is_before_4_4)
        return PriorityQueue(lambda process: process.load, (self._processes[process_id] for process_id in order))

    # --- active tasks -------------------------------------------------------------------------------------------

    def _assign_active(self) -> None:
        tasks = sorted((task for part in self._subtopologies for task in part.tasks), key=_by_partition)
        tasks = [task for task in tasks if not self._give_active(task, self._former_active.get(task))]
        tasks = [task for task in tasks if not self._give_active(task, self._find_former(task, None))]
        queue = self._least_loaded_first()
        for task in sorted(tasks):
            if not queue:
                raise NoCapacityError(
                    f"No process available to assign active task {task.subtopology_id}_{task.partition}."
                )
            process = queue.poll()
            self._count_active(process.add_to_least_loaded(task, is_active=True))
            queue.add(process)

    def _give_active(self, task: TaskId, member_id: str | None) -> bool:
        if member_id is None:
            return False
        process = self._process_of(member_id)
        if process.counts[member_id] >= self._active_quota.per_member:
            return False
        self._count_active(process.add(member_id, task, is_active=True))
        return True

    def _count_active(self, count: int) -> None:
        self._active_quota.reached(count)
        self._total_quota.reached(count)

    # --- standby tasks ------------------------------------------------------------------------------------------

    def _assign_standby(self) -> None:
        stateful = [task for part in self._subtopologies if part.is_stateful for task in part.tasks]
        left: list[tuple[TaskId, int]] = []
        for task in sorted(stateful, key=_by_partition, reverse=True):
            for replica in range(self._standby_count):
                former = self._former_active.get(task)
                if (
                    former is not None
                    and task not in self._process_of(former).tasks
                    and self._give_standby(task, former)
                ):
                    continue
                former = self._find_former(task, task)
                if former is None or not self._give_standby(task, former):
                    left.append((task, self._standby_count - replica))
                    break
        queue = self._least_loaded_first()
        for task, count in sorted(left, reverse=True):
            for _ in range(count):
                if not self._give_to_other_process(queue, task):
                    break

    def _give_standby(self, task: TaskId, member_id: str) -> bool:
        process = self._process_of(member_id)
        if process.counts[member_id] >= self._total_quota.per_member:
            return False
        self._total_quota.reached(process.add(member_id, task, is_active=False))
        return True

    def _give_to_other_process(self, queue: PriorityQueue[_Process], task: TaskId) -> bool:
        """Assign a standby task to the least loaded process that lacks the task; return whether there is one."""
        with_task = []
        found = False
        while queue and not found:
            process = queue.poll()
            if task not in process.tasks:
                self._total_quota.reached(process.add_to_least_loaded(task, is_active=False))
                found = True
            with_task.append(process)
        for process in reversed(with_task):
            queue.add(process)
        return found

    # --- former standby members ---------------------------------------------------------------------------------

    def _least_loaded(self, task: TaskId, lacking: TaskId | None) -> str | None:
        """Return the least loaded former standby member of a task whose process lacks the task `lacking`."""
        best: str | None = None
        best_load = (float("inf"), float("inf"))
        for member_id in self._former_standby.get(task, ()):
            process = self._process_of(member_id)
            if lacking in process.tasks:
                continue
            load = (process.load, float(process.counts[member_id]))
            if best is None or (load[0] < best_load[0] and load[1] < best_load[1]):
                best, best_load = member_id, load
        return best

    def _least_loaded_before_4_4(self, task: TaskId, lacking: TaskId | None) -> str | None:
        """Return the least loaded former standby member; None if the first one's process has `lacking`."""
        members = self._former_standby.get(task)
        if not members or lacking in self._process_of(members[0]).tasks:
            return None
        best = members[0]
        best_load = self._process_of(best).load, self._process_of(best).counts[best]
        for member_id in members[1:]:
            process = self._process_of(member_id)
            load = process.load, process.counts[member_id]
            if lacking not in process.tasks and load[0] < best_load[0] and load[1] < best_load[1]:
                best, best_load = member_id, load
        return best


def _by_partition(task: TaskId) -> tuple[int, str]:
    return task.partition, task.subtopology_id


def _standby_candidates(members: Mapping[str, MemberSpec], *, with_offsets: bool) -> dict[TaskId, list[str]]:
    """Return the members that had each task as standby; with offsets, also members with state of it, the most first."""
    candidates: dict[TaskId, list[tuple[bool, int, str]]] = {}
    for member_id, task, is_former, offset in _states(members, with_offsets=with_offsets):
        candidates.setdefault(task, []).append((not is_former, -offset, member_id))
    return {
        task: [member_id for *_, member_id in sorted(found, key=lambda candidate: candidate[:2])]
        for task, found in candidates.items()
    }


def _states(members: Mapping[str, MemberSpec], *, with_offsets: bool) -> Iterator[tuple[str, TaskId, bool, int]]:
    for member_id, member in members.items():
        for task in member.former.standby:
            yield member_id, task, True, member.offsets.get(task, 0) if with_offsets else 0
        for task, offset in member.offsets.items() if with_offsets else ():
            if task not in member.former.standby:
                yield member_id, task, False, offset
