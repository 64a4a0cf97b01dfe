"""Check one partition directory: read its log once, and compare all other files with it."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from eosctl.analysis.fsck.continuity import EpochOrder
from eosctl.analysis.fsck.indexes import OffsetIndexCheck, TimeIndexCheck
from eosctl.analysis.fsck.notes import INFO, WARNING, Notes
from eosctl.analysis.fsck.progress import (
    NOTHING_KEPT,
    ProgressKeeper,
    TransactionStart,
    begin_progress,
)
from eosctl.analysis.fsck.replicas import LogPrint
from eosctl.analysis.fsck.snapshots import check_last_snapshot, check_snapshot, note_unreadable
from eosctl.analysis.fsck.txn_index import SeenAbort, check_txn_index
from eosctl.model.fsck import FsckFinding
from eosctl.model.transaction import TopicPartition
from eosctl.storage.names import (
    COMPACTED_TOPICS,
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    WITHOUT_SEQUENCES,
    FileState,
    Suffix,
    segment_file_name,
)
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.scan import DamageKind, LogBatch, LogDamage
from eosctl.storage.survey import PartitionFacts, SegmentFacts, Unreadable
from eosctl.wire.errors import WireError
from eosctl.wire.records.control import EndTxnMarker, decode_control


class OpenTxn(NamedTuple):
    """A transaction that no marker has ended in a partition.

    Attributes:
        directory: The data directory.
        partition: The partition.
        file: The log that holds its first batch, relative to the data directory.
        position: Where that batch starts.
        first_offset: Its first offset.
        producer_id: The producer id.
        producer_epoch: Epoch of the first batch.
        is_certain: False when a marker may have been lost in damage behind the first batch.
    """

    directory: str
    partition: TopicPartition
    file: str
    position: int
    first_offset: int
    producer_id: int
    producer_epoch: int
    is_certain: bool


class PartitionReport(msgspec.Struct, frozen=True):
    """What reading a partition has shown.

    Attributes:
        partition: The partition.
        directory: The data directory.
        end_offset: Where its log ends.
        last_epoch: The newest leader epoch of its batches.
        damaged_at: First offset that could not be read; None when all could.
        whole_from: First offset from which nothing was deleted, compacted away or is missing.
        batches: What its batches are, up to the first damage.
        findings: What is wrong.
        open_txns: Transactions that no marker has ended.
    """

    partition: TopicPartition
    directory: str
    end_offset: int
    last_epoch: int
    damaged_at: int | None
    whole_from: int
    batches: LogPrint
    findings: list[FsckFinding] = msgspec.field(default_factory=list)
    open_txns: list[OpenTxn] = msgspec.field(default_factory=list)


class PartitionCheck:
    """Reads one partition and compares its files with each other."""

    def __init__(
        self,
        directory: str,
        facts: PartitionFacts,
        cleaned_to: int | None = None,
        log_start_offset: int | None = None,
        keeper: ProgressKeeper = NOTHING_KEPT,
    ) -> None:
        """Prepare for a partition.

        Args:
            directory: The data directory.
            facts: The partition's small files.
            cleaned_to: The log's offset in the cleaner's checkpoint; None when it has none.
            log_start_offset: The log start offset in the checkpoint; None when it has none.
            keeper: Gives the progress of an earlier run, and keeps that of this one.
        """
        self._facts, self._directory, self._keeper = facts, directory, keeper
        self._cleaned_to, self._log_start = cleaned_to or 0, log_start_offset
        kept = keeper.recall(directory, facts, log_start_offset)
        self._progress = progress = begin_progress(facts) if kept is None else kept
        self._replay = ProducerReplay(progress.producers, progress.open_transactions)
        self._small_notes = Notes(directory, facts.name)
        self._notes = Notes(directory, facts.name, progress.notes)
        epochs = facts.epochs if isinstance(facts.epochs, list) else None
        self._epochs = EpochOrder(self._notes, epochs, log_start_offset, progress.epochs)
        self._snapshots = [one for one in facts.snapshots if one[0] > progress.compared_to]
        self.entries = progress.commits if progress.states is None else progress.states

    def run(self) -> PartitionReport:
        """Read the log and report."""
        self._small_files()
        progress = self._progress
        for segment in self._facts.segments[progress.segments :]:
            self._segment(segment)
            self._keep()
        self._compare_snapshots(progress.log_end, at_end=True)
        self._finish()
        facts, cleaned_to = self._facts, self._compacted_to()
        return PartitionReport(
            partition=facts.partition,
            directory=self._directory,
            end_offset=progress.log_end,
            last_epoch=progress.last_epoch,
            damaged_at=progress.damaged_at,
            whole_from=max(self._first_offset, self._log_start or 0, cleaned_to, progress.gap_end),
            batches=progress.batches,
            findings=[*self._small_notes.findings(cleaned_to), *self._notes.findings(cleaned_to)],
            open_txns=[txn for txn in self._open_txns() if txn.first_offset >= cleaned_to],
        )

    def _keep(self) -> None:
        progress = self._progress
        progress.segments += 1
        if not self._keeper.wants(self._directory, self._facts, progress.segments):
            return
        progress.producers = list(self._replay.producers.values())
        progress.open_transactions = self._replay.open_transactions
        self._keeper.keep(self._directory, self._facts, self._log_start, progress)

    def _compacted_to(self) -> int:
        """Return up to which offset the cleaner has been, as far as the log was read."""
        cleaned_to = max(self._cleaned_to, self._progress.offsets.compacted_to)
        if self._facts.partition.topic in COMPACTED_TOPICS:
            return max(cleaned_to, self._progress.offsets.last_gap_end)
        return cleaned_to

    # --- files on their own ----------------------------------------------------------------------------------------

    def _small_files(self) -> None:
        facts, notes = self._facts, self._small_notes
        if facts.metadata is not None:
            notes.add("partition-metadata-malformed", facts.metadata.what, PARTITION_METADATA)
        if isinstance(facts.epochs, Unreadable):
            notes.add("checkpoint-malformed", facts.epochs.what, LEADER_EPOCH_CHECKPOINT)
        for offset, found in facts.snapshots:
            if isinstance(found, Unreadable):
                note_unreadable(notes, found, segment_file_name(offset, Suffix.PRODUCER_SNAPSHOT))
        for file in facts.indexes_without_log:
            notes.add("orphan-index", "an index without its log: removed at start-up", file.name, severity=WARNING)

    def _leftovers(self) -> None:
        for file in self._facts.leftovers:
            kind, what = _LEFTOVERS[file.state]
            is_due = file.state is FileState.DELETED and file.offset < self._progress.log_end
            self._notes.add(kind, what, file.name, severity=INFO if is_due else WARNING)

    # --- the log ---------------------------------------------------------------------------------------------------

    def _segment(self, segment: SegmentFacts) -> None:
        notes, log, progress = self._notes, segment.log_name, self._progress
        progress.offsets.start_segment(segment.base_offset, log, notes)
        index = time_index = None
        if segment.offset_index is not None:
            name = segment_file_name(segment.base_offset, Suffix.OFFSET_INDEX)
            index = OffsetIndexCheck(notes, segment.offset_index, segment.base_offset, segment.log_bytes, name)
        if segment.time_index is not None:
            name = segment_file_name(segment.base_offset, Suffix.TIME_INDEX)
            time_index = TimeIndexCheck(notes, segment.time_index, segment.base_offset, name)
        aborts: list[SeenAbort] = []
        markers: set[int] = set()
        damage_before = progress.damaged_at
        self._note_gap()
        for fact in segment.scan():
            if isinstance(fact, LogDamage):
                self._damage(fact, segment)
                continue
            self._batch(fact, segment, aborts, markers)
            if progress.damaged_at != damage_before:
                continue
            if index is not None:
                index.follow(fact.position, fact.header)
            if time_index is not None:
                time_index.follow(fact.header)
        if progress.damaged_at == damage_before:
            for check in (index, time_index):
                if check is not None:
                    check.finish()
        if progress.damaged_at is None:
            name = segment_file_name(segment.base_offset, Suffix.TXN_INDEX)
            check_txn_index(notes, segment.txn_index, aborts, markers, name)

    def _damage(self, damage: LogDamage, segment: SegmentFacts) -> None:
        offset = max(self._progress.log_end, segment.base_offset)
        left = segment.log_bytes - damage.position
        if damage.kind is DamageKind.ZERO_TAIL:
            # Nothing is lost: the broker had asked for the space and was killed.
            what = f"{damage.what}, from position {damage.position}: preallocated or never written"
            self._notes.add(damage.kind, what, segment.log_name, severity=WARNING, position=damage.position)
            return
        self._notes.add(
            damage.kind,
            f"at position {damage.position}: {damage.what}; offset {offset} was expected",
            segment.log_name,
            position=damage.position,
            offset=offset,
            invalid_bytes=left if damage.kind is DamageKind.TORN_BATCH else None,
        )
        self._lose_track(offset)

    def _lose_track(self, offset: int) -> None:
        self._progress.damaged_at = offset
        self._progress.offsets.lose_track()

    def _batch(self, batch: LogBatch, segment: SegmentFacts, aborts: list[SeenAbort], markers: set[int]) -> None:
        header, log, progress = batch.header, segment.log_name, self._progress
        if not batch.crc_valid:
            self._notes.add(
                "crc-mismatch",
                f"the stored checksum does not match the batch at position {batch.position}, offsets "
                f"{header.base_offset}-{header.last_offset}",
                log,
                position=batch.position,
                offset=header.base_offset,
            )
            self._lose_track(header.base_offset)
            # The offsets lie outside the checksum: they are as good as the batch's place in the log makes them.
            if header.base_offset >= progress.log_end:
                progress.log_end = max(progress.log_end, header.next_offset)
            return
        self._compare_snapshots(header.base_offset)
        progress.compared_to = max(progress.compared_to, header.base_offset)
        in_place = progress.offsets.follow(batch, log, segment.base_offset, self._notes)
        if not in_place:
            self._lose_track(header.base_offset)
        self._note_gap()
        in_sequence = progress.damaged_at is None and self._facts.partition.topic not in WITHOUT_SEQUENCES
        if not in_sequence or progress.sequences.follow(batch, log, self._notes):
            if in_place:
                self._epochs.follow(batch, log)
            self._follow_producer(batch, log, aborts, markers)
        # else a copy: it has the epoch of its first place, and changes nothing that is true of its producer
        progress.last_epoch = max(progress.last_epoch, header.partition_leader_epoch)
        progress.log_end = max(progress.log_end, header.next_offset)
        if progress.damaged_at is None:
            progress.batches.add(header)
        if self.entries is not None:
            self.entries.follow(batch, log, self._facts.partition.partition, self._notes)

    def _note_gap(self) -> None:
        """Expect nothing of producers across a gap."""
        progress = self._progress
        if progress.offsets.last_gap_end != progress.gap_end:
            progress.gap_end = progress.offsets.last_gap_end
            progress.sequences.forget()
            progress.begun.clear()
            progress.is_in_full = False

    def _follow_producer(self, batch: LogBatch, log: str, aborts: list[SeenAbort], markers: set[int]) -> None:
        header, progress = batch.header, self._progress
        producer_id = header.producer_id
        if producer_id < 0:
            return
        marker = self._marker(batch, log) if header.is_control else None
        if header.is_control and marker is None:
            return
        lso_is_certain = progress.is_in_full and progress.damaged_at is None
        is_known = producer_id in self._replay.producers
        completed = self._replay.apply(header, batch.buffer, batch.buffer_position)
        if marker is None:
            if header.is_transactional:
                start = TransactionStart(log, batch.position, header.base_offset, header.producer_epoch)
                progress.starts.setdefault(producer_id, start)
                if header.records_count > 0:
                    progress.filled.add(producer_id)
            return
        if not marker.committed:
            markers.add(header.base_offset)
        if completed is None and lso_is_certain:
            progress.bare_markers.follow(batch, log, marker, is_known=is_known)
        if completed is not None and not completed.committed:
            in_full = progress.is_in_full or producer_id in progress.begun
            aborts.append(SeenAbort(completed, producer_id in progress.filled, in_full, lso_is_certain))
        progress.begun.add(producer_id)
        progress.starts.pop(producer_id, None)
        progress.filled.discard(producer_id)

    def _marker(self, batch: LogBatch, log: str) -> EndTxnMarker | None:
        """Return the marker in a control batch; None in one that the cleaner has emptied, or of another kind."""
        try:
            decoded = [decode_control(record) for record in batch.records()]
        except WireError as error:
            self._notes.add(
                "control-record-malformed",
                f"the control batch at position {batch.position}: {error.what}",
                log,
                position=batch.position,
                offset=batch.header.base_offset,
            )
            self._lose_track(batch.header.base_offset)
            return None
        return next((control for control in decoded if isinstance(control, EndTxnMarker)), None)

    # --- what is compared at certain offsets -----------------------------------------------------------------------

    def _compare_snapshots(self, offset: int, *, at_end: bool = False) -> None:
        """Compare the snapshots up to an offset: everything below it has been read.

        In a compacted log only the one at the end can be compared: the cleaner keeps each producer's last batch, if
        need be without records, but not those before it.
        """
        progress = self._progress
        while self._snapshots and self._snapshots[0][0] <= offset:
            at, found = self._snapshots.pop(0)
            if isinstance(found, list) and progress.damaged_at is None and at > self._first_offset:
                name = segment_file_name(at, Suffix.PRODUCER_SNAPSHOT)
                begun = None if progress.is_in_full else frozenset(progress.begun)
                cleaned_to = self._compacted_to()
                if at_end and at == offset and cleaned_to:
                    check_last_snapshot(self._notes, found, self._replay.producers, cleaned_to, name)
                else:
                    check_snapshot(self._notes, found, self._replay.producers, begun, progress.gap_end, name)

    @property
    def _first_offset(self) -> int:
        return self._facts.segments[0].base_offset if self._facts.segments else 0

    def _finish(self) -> None:
        progress = self._progress
        for at, _ in self._snapshots:
            what = f"the snapshot is of offset {at}, the readable log ends at {progress.log_end}"
            name = segment_file_name(at, Suffix.PRODUCER_SNAPSHOT)
            self._notes.add("snapshot-beyond-log", what, name, severity=WARNING)
        self._leftovers()
        progress.bare_markers.finish(self._notes)
        if progress.damaged_at is None:
            self._epochs.finish(
                max(self._first_offset, self._log_start or 0), progress.log_end, LEADER_EPOCH_CHECKPOINT
            )

    def _open_txns(self) -> list[OpenTxn]:
        found, progress = [], self._progress
        for producer_id, first_offset in self._replay.open_transactions.items():
            first_log = self._facts.segments[0].log_name
            start = progress.starts.get(producer_id) or TransactionStart(
                first_log, 0, first_offset, self._replay.producers[producer_id].producer_epoch
            )
            found.append(
                OpenTxn(
                    directory=self._directory,
                    partition=self._facts.partition,
                    file=f"{self._facts.name}/{start.file}",
                    position=start.position,
                    first_offset=first_offset,
                    producer_id=producer_id,
                    producer_epoch=start.epoch,
                    is_certain=first_offset >= progress.gap_end
                    and (progress.damaged_at is None or first_offset > progress.damaged_at),
                )
            )
        return found


_LEFTOVERS: Final = {
    FileState.DELETED: ("orphan-deleted", "waits for its delayed deletion; the broker removes it at start-up"),
    FileState.CLEANED: ("orphan-cleaned", "left by an interrupted cleaning; the broker removes it at start-up"),
    FileState.SWAP: ("orphan-swap", "a replacement that was not finished; the broker finishes it at start-up"),
}
