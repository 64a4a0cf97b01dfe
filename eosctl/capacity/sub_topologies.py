"""Which threads of Kafka Streams run which tasks, and so which of its topics a thread's transaction can reach.

Under exactly_once_v2 a thread has one producer, which commits all its tasks in one transaction (``TaskManager``,
``StreamsProducer``). A thread without a task of a sub-topology writes none of that sub-topology's sinks, repartition
topics, and changelogs; and a task writes the one partition of a changelog that has its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.capacity.recovery import task_count, useful_thread_count
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Workload, is_changelog_topic

#: What is taken for topics of unstated writers: the most transactions reach them.
EVERY_SUB_TOPOLOGY: Final = "every sub-topology"


class SubTopology(NamedTuple):
    """A part of an application: the topics that it reads together, and its tasks.

    An application that is not Kafka Streams has one, with a share of the input for each of its busy producers.
    """

    topics: tuple[str, ...]
    task_count: int


class ThreadGroup(NamedTuple):
    """Threads with the same tasks: how many threads, and the tasks of each sub-topology on one of them."""

    thread_count: int
    tasks: tuple[int, ...]

    def task_count(self, members: Sequence[int]) -> int:
        """Return the tasks that some sub-topologies, by position, have on one of its threads."""
        return sum(self.tasks[member] for member in members)


def spread_tasks(task_counts: Sequence[int], thread_count: int) -> tuple[ThreadGroup, ...]:
    """Spread the tasks of sub-topologies over threads, one after the other (``StreamsPartitionAssignor``).

    Args:
        task_counts: The tasks of each sub-topology.
        thread_count: Threads of all instances; those without a task are left out.

    Two sub-topologies of 32 tasks: on 32 threads each has one of both, on 64 threads one of either.

    >>> spread_tasks((32, 32), 32)
    (ThreadGroup(thread_count=32, tasks=(1, 1)),)
    >>> [(group.thread_count, group.tasks) for group in spread_tasks((32, 32), 64)]
    [(32, (1, 0)), (32, (0, 1))]
    >>> [(group.thread_count, group.tasks) for group in spread_tasks((6, 3), 4)]
    [(1, (2, 1)), (1, (2, 0)), (2, (1, 1))]
    """
    busy = min(thread_count, sum(task_counts))
    starts = [end - count for end, count in zip(accumulate(task_counts), task_counts, strict=True)]

    def tasks_at(thread: int) -> tuple[int, ...]:
        return tuple(
            count // busy + ((thread - start) % busy < count % busy)
            for start, count in zip(starts, task_counts, strict=True)
        )

    # Between these places of the circle of threads, neighbors have the same tasks.
    edges = {place % busy for start, count in zip(starts, task_counts, strict=True) for place in (start, start + count)}
    first = sorted({0, *edges})
    groups: dict[tuple[int, ...], int] = {}
    for begin, end in zip(first, [*first[1:], busy], strict=True):
        groups[tasks_at(begin)] = groups.get(tasks_at(begin), 0) + end - begin
    return tuple(ThreadGroup(count, tasks) for tasks, count in groups.items())


def find_sub_topologies(workload: Workload, application: ApplicationSpec) -> tuple[SubTopology, ...]:
    """Return the sub-topologies of an application, as `reads` lists them."""
    if application.kind is not ApplicationKind.STREAMS:
        return (SubTopology(application.reads, busy_producer_count(workload, application)),)
    return tuple(
        SubTopology(names, max(workload.topic(name).partition_count for name in names)) for names in application.inputs
    )


def count_tasks(workload: Workload, application: ApplicationSpec) -> int:
    """Return the most tasks or shares that an application's input splits into.

    A Streams application has the tasks of all its sub-topologies: of those that are listed, and of one for each other
    topic, as it may be the input of one of its own. A plain consumer's default assignor, ``RangeAssignor``, gives the
    partitions of every topic to the same members.
    """
    if application.kind is ApplicationKind.STREAMS:
        return task_count(tuple(one.task_count for one in find_sub_topologies(workload, application)))
    return max((workload.topic(name).partition_count for name in application.reads), default=0)


def busy_producer_count(workload: Workload, application: ApplicationSpec) -> int:
    """Return the producers that have work: those that commit offsets are no more than there are tasks for."""
    if not application.commits_offsets:
        return application.producer_count
    return useful_thread_count(application.producer_count, count_tasks(workload, application))


def find_thread_groups(workload: Workload, application: ApplicationSpec) -> tuple[ThreadGroup, ...]:
    """Return the busy threads of an application by their tasks."""
    counts = [one.task_count for one in find_sub_topologies(workload, application)]
    return spread_tasks(counts, busy_producer_count(workload, application))


def find_writers(workload: Workload, application: ApplicationSpec, topic: str) -> tuple[int, ...]:
    """Return the sub-topologies, by position, that may write a topic.

    These are the stated ones. Else a changelog belongs to the last one that can have its store, and no sub-topology
    writes a repartition topic that it alone reads. What is left is every other one.
    """
    parts = find_sub_topologies(workload, application)
    everyone = tuple(range(len(parts)))
    if len(parts) == 1:
        return everyone
    if inputs := dict(application.written_by).get(topic):
        return tuple(at for at, part in enumerate(parts) if set(inputs) & set(part.topics))
    if is_changelog_topic(topic):
        return _find_owners(workload, application, topic)[-1:]
    others = tuple(at for at, part in enumerate(parts) if part.topics != (topic,))
    return others if application.repartitions(topic) else everyone


def _find_owners(workload: Workload, application: ApplicationSpec, changelog: str) -> tuple[int, ...]:
    """Return the sub-topologies that can have the store of a changelog, by position.

    They have as many tasks as it has partitions. The store of an aggregation that needs a repartition topic has the
    same name as that topic, and so the same sub-topology (``GroupedStreamAggregateBuilder``).
    """
    parts = find_sub_topologies(workload, application)
    stem = changelog.removesuffix("changelog")
    named = [at for at, part in enumerate(parts) if stem and f"{stem}repartition" in part.topics]
    count = workload.topic(changelog).partition_count
    fitting = [at for at, part in enumerate(parts) if part.task_count == count]
    return tuple(named or fitting or range(len(parts)))


def writing_producer_count(workload: Workload, application: ApplicationSpec, topic: str) -> int:
    """Return the producers of an application that write a topic."""
    writers = find_writers(workload, application, topic)
    groups = find_thread_groups(workload, application)
    return sum(group.thread_count for group in groups if group.task_count(writers))


def find_unstated_writers(workload: Workload, application: ApplicationSpec) -> tuple[str, ...]:
    """Return the topics whose writing sub-topologies are not stated, and whose transactions depend on it."""
    groups = find_thread_groups(workload, application)

    def matters(topic: str) -> bool:
        if topic in dict(application.written_by) or len(groups[0].tasks) == 1:
            return False
        writers = _find_possible(workload, application, topic)
        return len(writers) > 1 and any(not group.tasks[at] for group in groups for at in writers)

    return tuple(name for name, _ in application.writes if matters(name))


def _find_possible(workload: Workload, application: ApplicationSpec, topic: str) -> tuple[int, ...]:
    """Return the sub-topologies that may write a topic without stated writers."""
    if is_changelog_topic(topic):
        return _find_owners(workload, application, topic)
    return find_writers(workload, application, topic)


def write_by_fewest(workload: Workload, application: ApplicationSpec) -> ApplicationSpec:
    """Return an application with each topic of unstated writers written by the sub-topology with fewest tasks."""
    parts = find_sub_topologies(workload, application)

    def fewest(topic: str) -> tuple[str, ...]:
        writers = _find_possible(workload, application, topic)
        return parts[min(writers, key=lambda at: parts[at].task_count)].topics[:1]

    unstated = find_unstated_writers(workload, application)
    stated = (*application.written_by, *((topic, fewest(topic)) for topic in unstated))
    return replace(application, written_by=stated)
