"""Committed offsets in `__consumer_offsets`, collected while its partitions are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from eosctl.analysis.fsck.notes import INFO, WARNING, Notes
from eosctl.model.fsck import FsckFinding
from eosctl.model.transaction import TopicPartition
from eosctl.storage.scan import LogBatch
from eosctl.text import count_text
from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.record import Record


class Commit(NamedTuple):
    """A committed offset and the record that holds it; -1 is a tombstone."""

    offset: int
    file: str
    log_offset: int


#: A group and a partition that it reads.
Place = tuple[str, TopicPartition]


@dataclass(slots=True)
class OffsetsLog:
    """The offsets of the groups in some partitions of the topic.

    Attributes:
        commits: The newest commit by group and partition.
        pending: The commits of transactions that no marker has ended, by producer id.
        ids: Groups, with the partition of the topic that holds them.
        damaged: Partitions with a record that could not be read.
    """

    commits: dict[Place, Commit] = field(default_factory=dict)
    pending: dict[int, dict[Place, Commit]] = field(default_factory=dict)
    ids: set[tuple[str, int]] = field(default_factory=set)
    damaged: set[int] = field(default_factory=set)

    def follow(self, batch: LogBatch, log: str, partition: int, notes: Notes) -> None:
        """Take in the records of a batch."""
        header = batch.header
        try:
            records = batch.records()
            if header.is_control:
                self._end(header.producer_id, records)
                return
        except WireError as error:
            if not header.is_control:  # errors of markers are reported with their producers
                what = f"the batch at position {batch.position}: {error.what}"
                notes.add("records-malformed", what, log, position=batch.position, offset=header.base_offset)
            self.damaged.add(partition)
            return
        into = self.pending.setdefault(header.producer_id, {}) if header.is_transactional else self.commits
        for record in records:
            try:
                self._take(record, into, f"__consumer_offsets-{partition}/{log}", partition)
            except WireError:  # of a newer release, or damaged: brokers skip or refuse it, nothing is concluded here
                self.damaged.add(partition)

    def absorb(self, other: OffsetsLog) -> None:
        """Take in what another partition of the log holds."""
        self.commits |= other.commits
        for producer_id, commits in other.pending.items():
            self.pending.setdefault(producer_id, {}).update(commits)
        self.ids |= other.ids
        self.damaged |= other.damaged

    def _take(self, record: Record, into: dict[Place, Commit], file: str, partition: int) -> None:
        key = offsets.decode_key(record.key or b"")
        group_id = getattr(key, "group_id", None) or getattr(key, "group", None)
        if isinstance(group_id, str):
            self.ids.add((group_id, partition))
        if not isinstance(key, OffsetCommitKey):
            return
        place = (key.group, TopicPartition(key.topic, key.partition))
        offset = -1 if record.value is None else getattr(offsets.decode_value(key, record.value), "offset", -1)
        into[place] = Commit(offset, file, record.offset)

    def _end(self, producer_id: int, records: Iterable[Record]) -> None:
        for record in records:
            marker = decode_control(record)
            if isinstance(marker, EndTxnMarker):
                for place, commit in self.pending.pop(producer_id, {}).items():
                    known = self.commits.get(place)
                    # A transaction's commit counts from its own place in the log on, not from its marker's.
                    if marker.committed and (known is None or known.log_offset < commit.log_offset):
                        self.commits[place] = commit


def judge_offsets(log: OffsetsLog, ends: Mapping[TopicPartition, int], directory: str) -> Iterator[FsckFinding]:
    """Yield what does not fit the logs that the offsets are about.

    Args:
        log: The offsets.
        ends: Where the logs that were read without damage end.
        directory: The data directory of the offsets.
    """
    for (group_id, partition), commit in sorted(log.commits.items()):
        end = ends.get(partition)
        if end is not None and commit.offset > end and not log.damaged:
            what = f"group {group_id} has committed offset {commit.offset} of {partition}, whose log ends at {end}"
            yield FsckFinding(
                kind="offset-beyond-log",
                severity=WARNING,
                message=what,
                directory=directory,
                file=commit.file,
                partition=str(partition),
                offset=commit.log_offset,
            )
    for producer_id, commits in sorted(log.pending.items()):
        if commits:
            (group_id, _), first = min(commits.items(), key=lambda item: item[1].log_offset)
            what = f"producer {producer_id} holds {count_text(len(commits), 'offset')} of group {group_id} back until "
            what += "its transaction ends: readers that ask for stable offsets wait"
            yield FsckFinding(
                kind="offset-pending",
                severity=INFO,
                message=what,
                directory=directory,
                file=first.file,
                partition=first.file.split("/")[0],
                offset=first.log_offset,
                producer_id=producer_id,
            )
