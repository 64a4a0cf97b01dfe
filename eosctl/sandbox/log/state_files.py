"""Conversion of a log's producer state and leader epochs to and from files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from eosctl.sandbox.log.leader_epochs import LeaderEpochs
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.producer_state import ProducerEntry, ProducerStateManager, RetainedBatch
from eosctl.storage.checkpoints import EpochStart, read_epoch_checkpoint
from eosctl.storage.errors import DamagedFile
from eosctl.storage.names import LEADER_EPOCH_CHECKPOINT
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry, write_snapshot


def restore_producers(entries: list[ProducerSnapshotEntry]) -> ProducerStateManager:
    """Return the producer state of a recovered log."""
    producers = ProducerStateManager()
    for entry in sorted(entries, key=lambda found: found.current_txn_first_offset):
        restored = ProducerEntry(entry.producer_id)
        restored.producer_epoch = entry.producer_epoch
        if entry.last_sequence >= 0:
            restored.batches = (
                RetainedBatch(entry.last_sequence, entry.last_offset, entry.offset_delta, entry.timestamp),
            )
        restored.last_timestamp = entry.timestamp
        restored.coordinator_epoch = entry.coordinator_epoch
        restored.txn_first_offset = entry.current_txn_first_offset
        producers.restore(restored)
    return producers


def snapshot_entries(producers: ProducerStateManager) -> list[ProducerSnapshotEntry]:
    """Return producer state as `.snapshot` entries: only the last batch of each producer."""
    entries = []
    for entry in producers.producers.values():
        last = entry.batches[-1] if entry.batches else RetainedBatch(-1, -1, 0, entry.last_timestamp)
        entries.append(
            ProducerSnapshotEntry(
                producer_id=entry.producer_id,
                producer_epoch=entry.producer_epoch,
                last_sequence=last.last_sequence,
                last_offset=last.last_offset,
                offset_delta=last.offset_delta,
                timestamp=entry.last_timestamp,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_first_offset=entry.txn_first_offset,
            )
        )
    return entries


def write_producer_snapshot(log: PartitionLog, offset: int) -> None:
    """Write the `.snapshot` file of a log for the state as of `offset`."""
    directory = Path(log.store.directory)
    if directory.is_dir():
        write_snapshot(directory, offset, snapshot_entries(log.producers))


def restore_epochs(directory: Path, recovered: Iterable[EpochStart], end_offset: int) -> LeaderEpochs:
    """Return the epochs of a log: those of its checkpoint within the log, and those of the recovered batches."""
    try:
        entries = read_epoch_checkpoint(directory / LEADER_EPOCH_CHECKPOINT)
    except DamagedFile:
        entries = []
    epochs = LeaderEpochs([entry for entry in entries if entry.start_offset <= end_offset])
    for entry in recovered:
        epochs.assign(entry.epoch, entry.start_offset)
    return epochs
