"""Checks of a cluster's data directories: partitions one by one, then cross-checks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from eosctl.analysis.fsck.notes import ERROR, INFO, WARNING
from eosctl.analysis.fsck.offsets_log import OffsetsLog, judge_offsets
from eosctl.analysis.fsck.partition import PartitionCheck, PartitionReport
from eosctl.analysis.fsck.progress import NOTHING_KEPT, ProgressKeeper
from eosctl.analysis.fsck.replicas import Replica, compare_replicas
from eosctl.analysis.fsck.state_log import StateLog
from eosctl.analysis.fsck.transactions import judge_transactions
from eosctl.model.fsck import FsckFinding
from eosctl.model.transaction import TopicPartition
from eosctl.storage.names import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_CHECKPOINT,
    META_PROPERTIES,
    METADATA_TOPIC,
    OFFSETS_TOPIC,
    STATE_TOPIC,
)
from eosctl.storage.survey import DataDirFacts, PartitionFacts, Unreadable, is_without_files
from eosctl.wire.internal.partitioner import partition_for

UNCHECKED: Final = "changed-while-read"
"""The kind that stands for a partition that was not checked."""


class DataSetCheck:
    """Checks the data directories of a cluster's brokers.

    Partitions are processed one by one. Kept are the newest state of each transactional id, the newest offsets of each
    group, the open transactions, and the end and digest of each log.
    """

    def __init__(self, keeper: ProgressKeeper = NOTHING_KEPT) -> None:
        """Start with a keeper of the progress of partitions."""
        self._keeper = keeper
        self._newest: dict[TopicPartition, PartitionReport] = {}
        self._states: dict[int, tuple[tuple[int, int], StateLog]] = {}
        self._state_directory = ""
        self._offsets: dict[int, tuple[tuple[int, int], OffsetsLog]] = {}
        self._offsets_directory = ""
        self._replicas: dict[TopicPartition, list[Replica]] = {}
        self.partition_count = 0

    def check_directory(
        self,
        facts: DataDirFacts,
        survey: Callable[..., PartitionFacts],
        report: Callable[[str], None] = lambda text: None,
    ) -> Iterator[FsckFinding]:
        """Yield the findings of a single data directory.

        Args:
            facts: The directory.
            survey: Reads the small files of a partition directory.
            report: Receives the name of the next partition, for progress.
        """
        directory = str(facts.path)
        ends: dict[TopicPartition, int] = {}
        for name, found in facts.checkpoints.items():
            if isinstance(found, Unreadable):
                yield FsckFinding("checkpoint-malformed", ERROR, found.what, directory=directory, file=name)
        if facts.identity is not None:
            yield FsckFinding(
                "meta-properties-malformed", ERROR, facts.identity.what, directory=directory, file=META_PROPERTIES
            )
        cleaner = facts.checkpoints.get(CLEANER_CHECKPOINT)
        starts = facts.checkpoints.get(LOG_START_CHECKPOINT)
        committed = facts.checkpoints.get(HIGH_WATERMARK_CHECKPOINT)
        for name in facts.foreign:
            what = f"{name} was not checked: it is not the directory of a partition, and a broker may refuse to start"
            yield FsckFinding(UNCHECKED, WARNING, what, directory=directory, partition=name)
        for name in facts.moving:
            what = f"{name} was not checked: it is the log of a replica that moves to this directory"
            yield FsckFinding(UNCHECKED, INFO, what, directory=directory, partition=name)
        for path in facts.partitions:
            report(path.name)
            try:
                partition = survey(path)
                if is_without_files(partition):
                    what = f"{path.name} was not checked: it holds no file of a partition"
                    yield FsckFinding(UNCHECKED, INFO, what, directory=directory, partition=path.name)
                    continue
                cleaned_to = cleaner.get(partition.partition) if isinstance(cleaner, dict) else None
                # The metadata log starts at its oldest snapshot, and is in no checkpoint (KafkaRaftLog).
                knows_start = partition.partition.topic != METADATA_TOPIC
                log_start = starts.get(partition.partition, 0) if isinstance(starts, dict) and knows_start else None
                checked = self._check_partition(directory, partition, cleaned_to, log_start)
            except FileNotFoundError as error:
                what = f"{error.filename} was removed while the partition was read: it was not checked"
                yield FsckFinding(UNCHECKED, INFO, what, directory=directory, partition=path.name)
                continue
            except OSError as error:
                what = f"{error.filename} cannot be read ({error.strerror}): the partition was not checked"
                yield FsckFinding(UNCHECKED, ERROR, what, directory=directory, partition=path.name)
                continue
            ends[partition.partition] = checked.end_offset
            high_watermark = committed.get(partition.partition) if isinstance(committed, dict) else None
            self._replicas.setdefault(partition.partition, []).append(_replica(partition, checked, high_watermark))
            yield from checked.findings
        for name, offsets in facts.checkpoints.items():
            if isinstance(offsets, dict):
                yield from _beyond_log(directory, name, offsets, ends)

    def _check_partition(
        self, directory: str, facts: PartitionFacts, cleaned_to: int | None, log_start: int | None
    ) -> PartitionReport:
        self.partition_count += 1
        number = facts.partition.partition
        check = PartitionCheck(directory, facts, cleaned_to, log_start, self._keeper)
        report, entries = check.run(), check.entries
        rank = (report.last_epoch, report.end_offset)
        if entries is not None and report.damaged_at is not None:
            entries.damaged.add(number)
        if isinstance(entries, StateLog) and (number not in self._states or self._states[number][0] < rank):
            self._states[number] = (rank, entries)
            self._state_directory = directory
        if isinstance(entries, OffsetsLog) and (number not in self._offsets or self._offsets[number][0] < rank):
            self._offsets[number] = (rank, entries)
            self._offsets_directory = directory
        other = self._newest.get(facts.partition)
        if other is None or (other.last_epoch, other.end_offset) < rank:
            self._newest[facts.partition] = report
        return report

    def check_together(self) -> Iterator[FsckFinding]:
        """Yield the findings of cross-checks between replicas, coordinators' topics, and partitions."""
        for partition, replicas in self._replicas.items():
            yield from compare_replicas(partition, replicas)
        states, offsets = StateLog(), OffsetsLog()
        for _, state_log in self._states.values():
            states.absorb(state_log)
        for _, offsets_log in self._offsets.values():
            offsets.absorb(offsets_log)
        yield from judge_placement(STATE_TOPIC, states.ids, self._state_directory)
        yield from judge_placement(OFFSETS_TOPIC, offsets.ids, self._offsets_directory)
        newest = self._newest.items()
        open_txns = [txn for _, report in newest for txn in report.open_txns]
        ends = {partition: report.end_offset for partition, report in newest}
        whole = {partition: report.end_offset for partition, report in newest if report.damaged_at is None}
        yield from judge_transactions(open_txns, states, ends, whole.keys(), self._state_directory)
        yield from judge_offsets(offsets, whole, self._offsets_directory)


def _replica(facts: PartitionFacts, report: PartitionReport, high_watermark: int | None) -> Replica:
    end = report.end_offset if report.damaged_at is None else report.damaged_at
    return Replica(
        directory=report.directory,
        name=facts.name,
        start=report.whole_from,
        end=end,
        end_offset=report.end_offset,
        high_watermark=high_watermark,
        topic_id=facts.topic_id,
        batches=report.batches,
    )


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


#: Maximum number of partitions of a coordinator's topic; 50 is the default.
_MOST_PARTITIONS: Final = 4096
_NAMED: Final = 3
#: Number of ids and partition counts tried if none fits all.
_SAMPLE: Final = 500
_TRIED: Final = 256


def judge_placement(topic: str, ids: Collection[tuple[str, int]], directory: str) -> list[FsckFinding]:
    """Report ids that no number of partitions maps to the partitions that hold them.

    Coordinators find an id by its hash modulo the number of partitions. The files do not contain that number, and
    partitions may be elsewhere, but the right number fits all ids.

    Args:
        topic: The internal topic.
        ids: Transactional or group ids, with the partition that holds them.
        directory: The data directory.
    """
    if not ids:
        return []
    least = 1 + max(partition for _, partition in ids)
    counts = range(least, max(least, _MOST_PARTITIONS) + 1)
    placed = sorted(ids)
    if any(all(partition_for(name, count) == at for name, at in placed) for count in counts):
        return []
    sample = placed[:_SAMPLE]
    likely = max(counts[:_TRIED], key=lambda count: sum(partition_for(name, count) == at for name, at in sample))
    astray = [(name, at) for name, at in placed if partition_for(name, likely) != at]
    named = ", ".join(f"{name} in {at} instead of {partition_for(name, likely)}" for name, at in astray[:_NAMED])
    more = f" and {len(astray) - _NAMED} more" if len(astray) > _NAMED else ""
    what = f"no number of partitions explains where the {len(placed)} ids of {topic} lie. With {likely}, which fits "
    what += f"best, {len(astray)} are astray: {named}{more}"
    return [FsckFinding("internal-topic-repartitioned", ERROR, what, directory, partition=f"{topic}-{astray[0][1]}")]
