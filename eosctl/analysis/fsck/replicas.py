"""Replicas of a partition against each other: where their batches part, and what Kafka would cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from eosctl.analysis.fsck.notes import ERROR, WARNING
from eosctl.model.fsck import FsckFinding
from eosctl.model.transaction import TopicPartition
from eosctl.storage.checkpoints import EpochStart
from eosctl.storage.names import PARTITION_METADATA
from eosctl.text import count_text
from eosctl.wire.records.header import BatchHeader

#: Maximum number of offset ranges that are compared; with fewer batches, each batch is a range.
_MOST_STRETCHES: Final = 2048
_MASK: Final = (1 << 64) - 1


class EpochEnd(NamedTuple):
    """A leader epoch and the first offset that was not appended in it any more."""

    epoch: int
    end_offset: int


@dataclass(slots=True)
class LogPrint:
    """What a replica's batches are, in little memory however long the log is.

    Followers copy batches as they are, so the offset, leader epoch and checksum of each are the same everywhere. They
    are summed up by stretches of offsets, which double in length whenever there are too many.

    Attributes:
        shift: A stretch has two to the power of this offsets.
        sums: The sum of each stretch.
        epochs: The leader epochs, each with its first offset.
    """

    shift: int = 0
    sums: dict[int, int] = field(default_factory=dict)
    epochs: list[EpochStart] = field(default_factory=list)

    def add(self, header: BatchHeader) -> None:
        """Take in the next batch."""
        epoch = header.partition_leader_epoch
        if not self.epochs or epoch > self.epochs[-1].epoch:
            self.epochs.append(EpochStart(epoch, header.base_offset))
        self._put(header.base_offset >> self.shift, hash((header.base_offset, epoch, header.crc)))
        while len(self.sums) > _MOST_STRETCHES:
            self._lengthen(self.shift + 1)

    def first_difference(self, other: LogPrint, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and last offset of the first range that differs, None when none does.

        Args:
            other: Another replica.
            start: First offset that both must have.
            end: First offset that one of them may not have.
        """
        shift = max(self.shift, other.shift)
        self._lengthen(shift)
        other._lengthen(shift)
        for stretch in sorted(self.sums.keys() | other.sums.keys()):
            first, behind = stretch << shift, (stretch + 1) << shift
            if start <= first and behind <= end and self.sums.get(stretch) != other.sums.get(stretch):
                return first, behind - 1
        return None

    def epoch_at(self, offset: int) -> int:
        """Return the leader epoch in which an offset was appended, -1 before the first batch."""
        return next((entry.epoch for entry in reversed(self.epochs) if entry.start_offset <= offset), -1)

    def end_of(self, epoch: int, log_end: int) -> EpochEnd | None:
        """Answer as OffsetsForLeaderEpoch: the largest epoch up to this one, and where it ended."""
        end = log_end
        for entry in reversed(self.epochs):
            if entry.epoch <= epoch:
                return EpochEnd(entry.epoch, end)
            end = entry.start_offset
        return None

    def _put(self, stretch: int, value: int) -> None:
        self.sums[stretch] = (self.sums.get(stretch, 0) + value) & _MASK

    def _lengthen(self, shift: int) -> None:
        by, sums = shift - self.shift, self.sums
        if by:
            self.shift, self.sums = shift, {}
            for stretch, value in sums.items():
                self._put(stretch >> by, value)


class Replica(NamedTuple):
    """One broker's log of a partition, as far as it can be held against another.

    Attributes:
        directory: The data directory.
        name: The partition's directory in it.
        start: First offset from which nothing is missing: behind deleted, compacted and missing stretches.
        end: Where it is readable to without damage.
        end_offset: Where the log ends.
        high_watermark: Up to which offset the broker knew records to be committed; None without its checkpoint.
        topic_id: The id of the topic in `partition.metadata`; None if it has none.
        batches: Its batches.
    """

    directory: str
    name: str
    start: int
    end: int
    end_offset: int
    high_watermark: int | None
    topic_id: bytes | None
    batches: LogPrint

    @property
    def rank(self) -> tuple[int, int]:
        """Order by what an election prefers: the later epoch, then the longer log."""
        return (self.batches.epochs[-1].epoch if self.batches.epochs else -1, self.end_offset)


def compare_replicas(partition: TopicPartition, replicas: Sequence[Replica]) -> list[FsckFinding]:
    """Compare every replica with the most advanced one."""
    best = max(replicas, key=lambda replica: replica.rank)
    found = [_compare(partition, replica, best) for replica in replicas if replica is not best]
    return [finding for finding in found if finding is not None]


def truncation_offset(follower: Replica, leader: Replica) -> int:
    """Return the offset to which a follower would truncate its log to follow a leader (KIP-101, KIP-279).

    It asks for the end of its last epoch; as long as the leader does not know that epoch, it continues with the largest
    one that both may have.
    """
    end = follower.end_offset
    while end > follower.start:
        epoch = follower.batches.epoch_at(end - 1)
        theirs = leader.batches.end_of(epoch, leader.end_offset)
        if theirs is None:
            return min(end, leader.start)
        if theirs.epoch == epoch:
            return min(end, theirs.end_offset)
        own = follower.batches.end_of(theirs.epoch, end)
        end = min(theirs.end_offset, follower.start if own is None else own.end_offset)
    return end


def _compare(partition: TopicPartition, replica: Replica, best: Replica) -> FsckFinding | None:
    ours, theirs = replica.directory, best.directory
    if None not in (replica.topic_id, best.topic_id) and replica.topic_id != best.topic_id:
        what = f"{ours} and {theirs} have different topic ids: the topic was deleted and created again"
        file = f"{replica.name}/{PARTITION_METADATA}"
        return FsckFinding(
            kind="replica-of-another-topic",
            severity=WARNING,
            message=what,
            directory=ours,
            file=file,
            partition=str(partition),
        )
    difference = replica.batches.first_difference(
        best.batches, max(replica.start, best.start), min(replica.end, best.end)
    )
    if difference is None:
        return None
    first, last = difference
    place = f"at offset {first}" if first == last else f"between offsets {first} and {last}"
    here, there = replica.batches.epoch_at(last), best.batches.epoch_at(last)
    cut = truncation_offset(replica, best)
    if cut > last:
        what = f"{ours} is not the same as {theirs} {place}, in the same leader epoch {there}: Kafka compares epochs "
        what += "only and keeps both, so readers get what the leader of the day has"
        return FsckFinding(
            kind="replica-differs",
            severity=ERROR,
            message=what,
            directory=ours,
            file=replica.name,
            partition=str(partition),
            offset=first,
        )
    what = f"{ours} parts from {theirs} {place} (leader epoch {here}, there {there}): as its follower it is cut at "
    what += f"{cut} and loses {count_text(replica.end_offset - cut, 'offset')}"
    is_committed = replica.high_watermark is not None and cut < replica.high_watermark
    if is_committed:
        what += f", committed ones among them: its high watermark was {replica.high_watermark}"
    severity = ERROR if is_committed else WARNING
    return FsckFinding(
        kind="replica-diverged",
        severity=severity,
        message=what,
        directory=ours,
        file=replica.name,
        partition=str(partition),
        offset=cut,
    )
