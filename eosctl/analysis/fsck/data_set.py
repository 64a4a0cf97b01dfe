"""Data directories of one cluster as a whole: partitions one after the other, then what only all of them show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from eosctl.analysis.fsck.notes import ERROR, INFO, WARNING
from eosctl.analysis.fsck.partition import STATE_TOPIC, PartitionCheck, PartitionReport
from eosctl.analysis.fsck.state_log import StateLog
from eosctl.analysis.fsck.transactions import judge_transactions
from eosctl.model.fsck import FsckFinding
from eosctl.model.transaction import TopicPartition
from eosctl.storage.names import CLEANER_CHECKPOINT, LOG_START_CHECKPOINT
from eosctl.storage.survey import DataDirFacts, PartitionFacts, Unreadable


class DataSetCheck:
    """Checks the data directories of the brokers of one cluster.

    Partitions are fed in one by one and forgotten; what is kept is the newest state of each transactional id, the
    open transactions, and where each log ends.
    """

    def __init__(self) -> None:
        self._newest: dict[TopicPartition, PartitionReport] = {}
        self._states: dict[int, tuple[tuple[int, int], StateLog]] = {}
        self._state_directory = ""
        self.partition_count = 0

    def check_directory(
        self,
        facts: DataDirFacts,
        survey: Callable[..., PartitionFacts],
        tell: Callable[[str], None] = lambda text: None,
    ) -> Iterator[FsckFinding]:
        """Yield what one data directory shows on its own.

        Args:
            facts: The directory.
            survey: Reads the small files of a partition's directory, given its path.
            tell: Is told which partition comes next.
        """
        directory = str(facts.path)
        ends: dict[TopicPartition, int] = {}
        for name, found in facts.checkpoints.items():
            if isinstance(found, Unreadable):
                yield FsckFinding("checkpoint-malformed", ERROR, found.what, directory=directory, file=name)
        cleaner = facts.checkpoints.get(CLEANER_CHECKPOINT)
        starts = facts.checkpoints.get(LOG_START_CHECKPOINT)
        for path in facts.partitions:
            tell(path.name)
            try:
                partition = survey(path)
                cleaned_to = cleaner.get(partition.partition) if isinstance(cleaner, dict) else None
                log_start = starts.get(partition.partition, 0) if isinstance(starts, dict) else None
                report = self._check_partition(directory, partition, cleaned_to, log_start)
            except FileNotFoundError as error:
                what = f"{error.filename} was removed while the partition was read: it was not checked"
                yield FsckFinding("changed-while-read", INFO, what, directory=directory, partition=path.name)
                continue
            ends[partition.partition] = report.end_offset
            yield from report.findings
        for name, offsets in facts.checkpoints.items():
            if isinstance(offsets, dict):
                yield from _beyond_log(directory, name, offsets, ends)

    def _check_partition(
        self, directory: str, facts: PartitionFacts, cleaned_to: int | None, log_start: int | None
    ) -> PartitionReport:
        self.partition_count += 1
        is_state = facts.partition.topic == STATE_TOPIC
        states = StateLog() if is_state else None
        report = PartitionCheck(directory, facts, cleaned_to, log_start, states).run()
        rank = (report.last_epoch, report.end_offset)
        if states is not None:
            number = facts.partition.partition
            states.partitions.add(number)
            if report.is_damaged:
                states.damaged.add(number)
            if number not in self._states or self._states[number][0] < rank:
                self._states[number] = (rank, states)
                self._state_directory = directory
        other = self._newest.get(facts.partition)
        if other is None or (other.last_epoch, other.end_offset) < rank:
            self._newest[facts.partition] = report
        return report

    def check_transactions(self) -> Iterable[FsckFinding]:
        """Return what the state log and the partitions say together; of replicas the most advanced counts."""
        merged = StateLog()
        for _, states in self._states.values():
            merged.absorb(states)
        open_txns = [txn for report in self._newest.values() for txn in report.open_txns]
        ends = {partition: report.end_offset for partition, report in self._newest.items()}
        return judge_transactions(open_txns, merged, ends, self._state_directory)


def _beyond_log(
    directory: str, name: str, offsets: dict[TopicPartition, int], ends: dict[TopicPartition, int]
) -> Iterator[FsckFinding]:
    for partition, offset in offsets.items():
        end = ends.get(partition)
        if end is not None and offset > end:
            yield FsckFinding(
                "checkpoint-beyond-log",
                WARNING,
                f"{name} says {offset}, the log ends at {end}",
                directory=directory,
                file=name,
                partition=str(partition),
                offset=offset,
            )
