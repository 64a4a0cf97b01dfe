"""Continuity of batches: offsets, leader epochs, and producer sequences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from eosctl.analysis.fsck.notes import Notes
from eosctl.storage.checkpoints import EpochStart
from eosctl.storage.scan import LogBatch
from eosctl.wire.records.header import BatchHeader

_SEQUENCES: Final = 1 << 31
#: Number of batches per producer kept to detect duplicates (the same as in brokers).
_REMEMBERED: Final = 5


@dataclass(slots=True)
class OffsetOrder:
    """Checks the order of a partition's offsets.

    Attributes:
        next_offset: The offset that the next batch has if none is missing; None if anything may follow.
        compacted_to: Up to which offset batches show traces of the cleaner.
        last_gap_end: Where the last gap ends.
    """

    next_offset: int | None = None
    compacted_to: int = 0
    last_gap_end: int = 0

    def start_segment(self, base_offset: int, file: str, notes: Notes) -> None:
        """Compare a segment's first offset with the end of the previous one."""
        due = self.next_offset
        if due is not None and base_offset > due:
            notes.add(
                "segment-gap",
                f"offsets {due}-{base_offset - 1} are missing between two segments",
                file,
                since=due,
                offset=due,
            )
            self.last_gap_end = base_offset
            self.next_offset = base_offset

    def follow(self, batch: LogBatch, file: str, segment_base: int, notes: Notes) -> bool:
        """Compare a batch with the previous ones; return whether it is in order."""
        header, due = batch.header, self.next_offset
        floor = segment_base if due is None else max(due, segment_base)
        if header.base_offset < floor:
            notes.add(
                "offset-not-monotonic",
                f"the batch at position {batch.position} starts at offset {header.base_offset}; "
                f"{floor} or later was expected",
                file,
                position=batch.position,
                offset=header.base_offset,
            )
            self.next_offset = None
            return False
        if due is not None and header.base_offset > due:
            notes.add(
                "offset-gap",
                f"offsets {due}-{header.base_offset - 1} are missing before the batch at position {batch.position}",
                file,
                since=due,
                position=batch.position,
                offset=due,
            )
            self.last_gap_end = header.base_offset
        if header.has_delete_horizon or header.records_count <= header.last_offset_delta:
            self.compacted_to = max(self.compacted_to, header.next_offset)
        self.next_offset = header.next_offset
        return True

    def lose_track(self) -> None:
        """Skip the check of the next batch, because something before it could not be read."""
        self.next_offset = None


@dataclass(slots=True)
class SeenEpochs:
    """The leader epochs of the batches so far, and those that were reported."""

    found: set[int] = field(default_factory=set)
    reported: set[int] = field(default_factory=set)


class EpochOrder:
    """Compares the leader epochs of batches with the partition's checkpoint."""

    def __init__(
        self, notes: Notes, epochs: list[EpochStart] | None, log_start_offset: int | None, seen: SeenEpochs
    ) -> None:
        """Load the checkpoint; epochs from before the log start offset (None: unknown) are no longer in it."""
        self._notes = notes
        self._seen, self._reported = seen.found, seen.reported
        self._log_start = log_start_offset if log_start_offset is not None or not epochs else epochs[0].start_offset
        self._epochs = epochs or []
        self._starts = {entry.epoch: entry.start_offset for entry in self._epochs}
        self._ends = {
            entry.epoch: after.start_offset for entry, after in zip(self._epochs, self._epochs[1:], strict=False)
        }

    def follow(self, batch: LogBatch, file: str) -> None:
        """Check a batch's epoch."""
        header, epoch = batch.header, batch.header.partition_leader_epoch
        if self._log_start is not None and header.last_offset < self._log_start:
            return
        if epoch in self._seen and epoch not in self._ends:
            return
        self._seen.add(epoch)
        if epoch < 0 or not self._epochs or epoch in self._reported:
            return
        start, end = self._starts.get(epoch), self._ends.get(epoch)
        if start is None:
            what = "the checkpoint does not know it"
        elif header.last_offset < start:
            what = f"the checkpoint has it start at {start}"
        elif end is not None and start < end <= header.base_offset:
            what = f"the checkpoint has it end before {end}"
        else:
            return
        self._reported.add(epoch)
        self._notes.add(
            "leader-epoch-mismatch",
            f"the batch at offset {header.base_offset} carries leader epoch {epoch}; {what}",
            file,
            position=batch.position,
            offset=header.base_offset,
        )

    def finish(self, first_offset: int, end_offset: int, file: str) -> None:
        """Check for epochs without a batch, after the log was read completely.

        The newest may have no batch yet; those before the first offset belong to deleted segments.
        """
        for number, entry in enumerate(self._epochs):
            before = self._epochs[number - 1] if number else None
            after = self._epochs[number + 1] if number + 1 < len(self._epochs) else None
            unordered = before is not None and (
                entry.epoch <= before.epoch or entry.start_offset <= before.start_offset
            )
            is_deleted = after is not None and after.start_offset <= first_offset
            missing = entry.epoch not in self._seen and entry.start_offset < end_offset and not is_deleted
            if unordered or missing:
                what = "offsets and epochs must rise together" if unordered else "no batch carries it"
                self._notes.add(
                    "leader-epoch-mismatch",
                    f"leader epoch {entry.epoch} starts at {entry.start_offset}: {what}",
                    file,
                    since=None if unordered else entry.start_offset,
                    entry=number,
                )
                return


class Run(NamedTuple):
    """A batch of a producer: its sequences and first offset."""

    first: int
    last: int
    offset: int


@dataclass(slots=True)
class SequenceOrder:
    """Checks the sequences of each producer, as a broker does for appends.

    Attributes:
        epochs: The newest epoch by producer id.
        runs: The last batches by producer id.
        also_due: A sequence that may follow too, after a gap.
    """

    epochs: dict[int, int] = field(default_factory=dict)
    runs: dict[int, list[Run]] = field(default_factory=dict)
    also_due: dict[int, int] = field(default_factory=dict)

    def forget(self) -> None:
        """Reset all producers, because batches are missing."""
        self.runs.clear()
        self.epochs.clear()
        self.also_due.clear()

    def follow(self, batch: LogBatch, file: str, notes: Notes) -> bool:
        """Compare a batch with the producer's last ones; return whether it is new."""
        header = batch.header
        producer_id = header.producer_id
        if producer_id < 0:
            return True
        if self.epochs.get(producer_id) != header.producer_epoch:
            is_new = producer_id in self.epochs and header.producer_epoch > self.epochs[producer_id]
            self.epochs[producer_id] = header.producer_epoch
            self.runs[producer_id] = []
            self.also_due.pop(producer_id, None)
            if is_new and not header.is_control and header.base_sequence > 0:
                _report_gap(batch, file, 0, header.base_offset, notes)
        if header.is_control or header.base_sequence < 0:
            return True
        runs = self.runs[producer_id]
        run = Run(header.base_sequence, header.last_sequence, header.base_offset)
        if runs and not self._continues(header, runs[-1]):
            again = next((known for known in runs if known[:2] == run[:2]), None)
            if again is not None:
                notes.add(
                    "duplicate-batch",
                    f"producer {producer_id} epoch {header.producer_epoch} sequence {run.first} appears at offset "
                    f"{again.offset} and again at {run.offset}",
                    file,
                    since=again.offset,
                    position=batch.position,
                    offset=run.offset,
                    producer_id=producer_id,
                    producer_epoch=header.producer_epoch,
                )
                return False
            due = (runs[-1].last + 1) % _SEQUENCES
            _report_gap(batch, file, due, runs[-1].offset, notes)
            # Either this batch has a wrong sequence, or a previous one is missing: the next may continue after either.
            self.also_due[producer_id] = (due + header.last_offset_delta + 1) % _SEQUENCES
        else:
            self.also_due.pop(producer_id, None)
        runs.append(run)
        if len(runs) > _REMEMBERED:
            del runs[0]
        return True

    def _continues(self, header: BatchHeader, last: Run) -> bool:
        return header.base_sequence in ((last.last + 1) % _SEQUENCES, self.also_due.get(header.producer_id))


def _report_gap(batch: LogBatch, file: str, due: int, since: int, notes: Notes) -> None:
    header = batch.header
    notes.add(
        "sequence-gap",
        f"producer {header.producer_id} epoch {header.producer_epoch}: sequence {header.base_sequence} at offset "
        f"{header.base_offset} where {due} was expected",
        file,
        since=since,
        position=batch.position,
        offset=header.base_offset,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
    )
