"""How often each application commits, and how many partitions of each topic one transaction reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eosctl.capacity.batches import records_per_choice
from eosctl.capacity.sub_topologies import (
    SubTopology,
    ThreadGroup,
    find_sub_topologies,
    find_thread_groups,
    find_writers,
)
from eosctl.capacity.transactions import partitions_touched, transaction_rate
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Workload, is_changelog_topic


class GroupRhythm(NamedTuple):
    """The rhythm of producers with the same tasks.

    Attributes:
        producer_count: The producers.
        transactions_per_s: Transactions of all of them.
        touched: The partitions that one transaction reaches, by topic that they write.
        reach: The partitions that one of them can reach at all, likewise.
        choices_per_s: How often they together choose a partition of the topics that they write.
        offsets: The partitions whose offsets one transaction commits.
    """

    producer_count: int
    transactions_per_s: float
    touched: Mapping[str, float]
    reach: Mapping[str, float]
    choices_per_s: float
    offsets: float

    @property
    def data_partitions(self) -> float:
        """Partitions of one transaction without that of the offsets."""
        return sum(self.touched.values())


class Rhythm(NamedTuple):
    """The rhythm of an application: of its groups of producers, and on average of all its transactions."""

    interval_ms: float
    groups: tuple[GroupRhythm, ...]

    def without_transactions(self) -> Rhythm:
        """Return the rhythm of commits that end no transactions: nothing is marked."""
        return self._replace(groups=tuple(group._replace(touched={}) for group in self.groups))

    @property
    def transactions_per_s(self) -> float:
        """Transactions of all its producers."""
        return sum(group.transactions_per_s for group in self.groups)

    @property
    def touched(self) -> dict[str, float]:
        """Partitions that a transaction reaches on average, by topic."""
        topics = dict.fromkeys(name for group in self.groups for name in group.touched)
        return {name: self.average([group.touched.get(name, 0.0) for group in self.groups]) for name in topics}

    @property
    def data_partitions(self) -> float:
        """Partitions of a transaction on average, without that of the offsets."""
        return self.average([group.data_partitions for group in self.groups])

    @property
    def offsets(self) -> float:
        """Partitions whose offsets a transaction commits on average."""
        return self.average([group.offsets for group in self.groups])

    def of_writers(self, topic: str) -> GroupRhythm | None:
        """Return the rhythm of the group that writes a topic in most transactions; None where no group does."""
        writing = [group for group in self.groups if topic in group.touched]
        return max(writing, key=lambda group: group.transactions_per_s, default=None)

    def average(self, values: Sequence[float]) -> float:
        """Return the average of values of the groups over all transactions."""
        if not self.transactions_per_s:
            return max(values, default=0.0)
        pairs = zip(self.groups, values, strict=True)
        return sum(group.transactions_per_s * value for group, value in pairs) / self.transactions_per_s


class _Busy(NamedTuple):
    """Threads with the same tasks: the records that they read, and their transactions, per second."""

    threads: ThreadGroup
    handled: float
    transactions_per_s: float


def work_out_rhythms(workload: Workload) -> dict[str, Rhythm]:
    """Work out the rhythm of every application; topics that several of them write are shared by transactions."""
    busy = {application.name: _busy_groups(workload, application) for application in workload.applications}
    rates = {name: sum(group.transactions_per_s for group in groups) for name, groups in busy.items()}
    writers: dict[str, float] = {}
    for application in workload.applications:
        for topic, _ in application.writes:
            writers[topic] = writers.get(topic, 0.0) + rates[application.name]
    intervals = {a.name: _interval_ms(a, rates[a.name]) for a in workload.applications}
    found = {}
    for application in workload.applications:
        # The records of a topic that are this application's, per second.
        own = {
            name: workload.topic(name).rate_per_s * rates[application.name] / writers[name] if writers[name] else 0.0
            for name, _ in application.writes
        }
        groups = tuple(_rhythm(workload, application, group, own, intervals) for group in busy[application.name])
        found[application.name] = Rhythm(intervals[application.name], groups)
    return found


def _interval_ms(application: ApplicationSpec, rate: float) -> float:
    return application.commit_period_ms or (1000 * application.producer_count / rate if rate else 1000.0)


def _busy_groups(workload: Workload, application: ApplicationSpec) -> tuple[_Busy, ...]:
    parts = find_sub_topologies(workload, application)
    groups = find_thread_groups(workload, application)
    stated, busy_count = application.transactions_per_s, sum(group.thread_count for group in groups)
    found = []
    for group in groups:
        handled = sum(
            _handled(workload, application, part, count) for part, count in zip(parts, group.tasks, strict=True)
        )
        handled *= group.thread_count
        rate = (
            stated * group.thread_count / busy_count
            if stated is not None
            else transaction_rate(group.thread_count, application.commit_period_ms or 1.0, handled)
        )
        found.append(_Busy(group, handled, rate))
    return tuple(found)


def _handled(workload: Workload, application: ApplicationSpec, part: SubTopology, task_count: int) -> float:
    """Return the records per second that some tasks of a sub-topology read, or write if it reads nothing."""
    names = part.topics or tuple(name for name, _ in application.writes)
    return sum(workload.topic(name).rate_per_s for name in names) * task_count / part.task_count


def _rhythm(
    workload: Workload,
    application: ApplicationSpec,
    group: _Busy,
    own: Mapping[str, float],
    intervals: Mapping[str, float],
) -> GroupRhythm:
    parts = find_sub_topologies(workload, application)
    rate = group.transactions_per_s
    touched, reach, choices_per_s = {}, {}, 0.0
    for name, stated in application.writes:
        writers = find_writers(workload, application, name)
        tasks = group.threads.task_count(writers)
        if not tasks:
            continue
        topic = workload.topic(name)
        share = tasks * group.threads.thread_count / sum(parts[at].task_count for at in writers)
        records = own[name] * share / rate if rate else 0.0
        each = records_per_choice(workload, topic, intervals)
        # A transaction begins anywhere between two choices.
        choices = min(records, 1 + max(0.0, records - 1) / each)
        choices_per_s += rate * choices
        within = _within_reach(workload, application, name, group.threads)
        reach[name] = within if stated is None else stated
        touched[name] = partitions_touched(choices, within) if stated is None else min(stated, records)
    offsets = _offsets(workload, application, group, parts)
    return GroupRhythm(
        producer_count=group.threads.thread_count,
        transactions_per_s=rate,
        touched=touched,
        reach=reach,
        choices_per_s=choices_per_s,
        offsets=offsets,
    )


def _within_reach(workload: Workload, application: ApplicationSpec, topic: str, threads: ThreadGroup) -> int:
    """Return the partitions of a topic that one producer can write: all, or those of its tasks for a changelog."""
    count = workload.topic(topic).partition_count
    if application.kind is not ApplicationKind.STREAMS or not is_changelog_topic(topic):
        return count
    writers = find_writers(workload, application, topic)
    tasks = sum(find_sub_topologies(workload, application)[at].task_count for at in writers)
    return min(count, max(1, round(threads.task_count(writers) * count / tasks)))


def _offsets(workload: Workload, application: ApplicationSpec, group: _Busy, parts: Sequence[SubTopology]) -> float:
    if not application.commits_offsets or not group.transactions_per_s:
        return 0.0
    if application.offsets_per_transaction is not None:
        return application.offsets_per_transaction
    owned = sum(
        sum(workload.topic(name).partition_count for name in part.topics) * count / part.task_count
        for part, count in zip(parts, group.threads.tasks, strict=True)
    )
    return partitions_touched(group.handled / group.transactions_per_s, max(1, round(owned)))
