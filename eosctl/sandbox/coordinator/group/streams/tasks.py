"""Tasks of a Kafka Streams application, and the sets of tasks of a member."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple


class TaskId(NamedTuple):
    """A partition of a subtopology's input."""

    subtopology_id: str
    partition: int


Tasks = frozenset[TaskId]
NO_TASKS: Tasks = frozenset()


class TaskSets(NamedTuple):
    """The tasks of a member by role."""

    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @property
    def is_empty(self) -> bool:
        """Return whether no role has a task."""
        return not (self.active or self.standby or self.warmup)

    def shares(self, other: TaskSets) -> bool:
        """Return whether a task has the same role in both."""
        return any(mine & theirs for mine, theirs in zip(self, other, strict=True))

    def contains(self, other: TaskSets) -> bool:
        """Return whether every task of `other` has the same role here."""
        return all(theirs <= mine for mine, theirs in zip(self, other, strict=True))


NO_TASK_SETS = TaskSets()


def group_by_subtopology(tasks: Iterable[TaskId]) -> list[tuple[str, list[int]]]:
    """Return (subtopology id, sorted partitions) pairs in order of the ids, as messages contain tasks."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for subtopology_id, partition in sorted(tasks):
        grouped[subtopology_id].append(partition)
    return list(grouped.items())
