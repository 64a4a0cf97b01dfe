"""A node's log directory in Kafka's layout: logs, checkpoints, `meta.properties`, and the clean-shutdown file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.leader_epochs import LeaderEpochs
from eosctl.sandbox.log.partition_log import PartitionLog, log_config
from eosctl.sandbox.log.producer_state import ProducerStateManager
from eosctl.sandbox.log.state_files import restore_epochs, restore_producers, write_producer_snapshot
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.logging.storage_events import SILENT, StorageEvents
from eosctl.sandbox.ports import METADATA_TOPIC
from eosctl.sandbox.ticks import Ticks
from eosctl.storage.checkpoints import (
    read_offset_checkpoint,
    write_epoch_checkpoint,
    write_offset_checkpoint,
)
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.errors import DamagedFile
from eosctl.storage.meta_properties import (
    MetaProperties,
    read_meta_properties,
    take_clean_shutdown,
    write_clean_shutdown,
    write_meta_properties,
)
from eosctl.storage.names import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    parse_partition_directory,
    partition_directory_name,
)
from eosctl.storage.partition_metadata import read_partition_metadata, write_partition_metadata
from eosctl.storage.recovery import open_log
from eosctl.wire.uuid import parse_uuid, render_uuid

FUTURE: Final = "-future"  # Suffix of the directories of future replicas (UnifiedLog.logFutureDirName) ...
DELETED: Final = "-delete"  # ... and of replicas to be deleted.
STRAY: Final = "-stray"  # Suffix of the directories of topics that the metadata does not have yet (LogManager).

#: The simulated disk size of each directory: a nearly full laptop does not make every cluster on it unhealthy.
DISK_BYTES: Final = 100 << 30


class LogDirectory:
    """Opens, flushes, and closes the logs in one directory of a node.

    Partition directories are created with their first batch. Appends of a turn are written at its end, one write per
    log, together with leader epochs and `partition.metadata`. `checkpoint` writes checkpoints.
    """

    def __init__(
        self, path: Path, ticks: Ticks, events: StorageEvents = SILENT, *, stable_at_batches: bool = True
    ) -> None:
        self.path = path
        self._stable_at_batches = stable_at_batches  # See `PartitionLog`.
        self.directory_id = bytes(16)
        self.previous_broker_epoch = -1  # Epoch of the broker that closed the directory cleanly; -1 if none did.
        self.events = events
        self.failed: OSError | None = None
        self.refusal: OSError | None = None  # Injected error of the next write, such as a full disk.
        self.on_failure: Callable[[LogDirectory], None] = _nothing  # The directory is offline.
        self._ticks = ticks
        self._descriptors = Descriptors()
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self._started: dict[TopicPartition, PartitionLog] = {}  # Logs with files: others need no checkpoint.
        self._topic_ids: dict[TopicPartition, bytes] = {}
        self._dirty: list[PartitionLog] = []  # Logs with unwritten bytes.
        self._clean = False
        self._high_watermarks: dict[TopicPartition, int] = {}
        self._start_offsets: dict[TopicPartition, int] = {}
        self._recovery_points: dict[TopicPartition, int] = {}
        self._cleaned: dict[TopicPartition, int] = {}
        self._futures: dict[TopicPartition, Path] = {}  # Moves that the node's last stop interrupted.
        self._strays: set[Path] = set()

    def open_directory(self, node_id: int, cluster_id: str, directory_id: bytes) -> MetaProperties:
        """Create or open the directory and read its checkpoints.

        Raises:
            OSError: It cannot be written.
            DamagedFile: It belongs to another node or cluster.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        meta_path = self.path / META_PROPERTIES
        if meta_path.exists():
            meta = read_meta_properties(self.path)
            if meta.node_id != node_id:
                raise DamagedFile(meta_path, f"node id {meta.node_id}, {node_id} was expected")
            if meta.cluster_id != cluster_id:
                raise DamagedFile(meta_path, f"cluster id {meta.cluster_id}, {cluster_id} was expected")
        else:
            meta = MetaProperties(node_id, cluster_id, render_uuid(directory_id))
            write_meta_properties(self.path, meta)
        try:
            self.directory_id = parse_uuid(meta.directory_id)
        except ValueError:
            raise DamagedFile(meta_path, f"directory.id {meta.directory_id!r} is not a Kafka UUID") from None
        for left in self.path.glob(f"*{DELETED}"):
            self.delete_tree(left)
        self._strays.update(self.path.glob(f"*{STRAY}"))
        for path in self.path.glob(f"*{FUTURE}"):
            found = parse_partition_directory(path.name)
            if found is not None:
                self._futures[TopicPartition(found.topic, found.partition)] = path
        shutdown = take_clean_shutdown(self.path)
        self._clean = shutdown is not None
        self.previous_broker_epoch = -1 if shutdown is None else shutdown
        self._high_watermarks = read_offset_checkpoint(self.path / HIGH_WATERMARK_CHECKPOINT)
        self._start_offsets = read_offset_checkpoint(self.path / LOG_START_CHECKPOINT)
        self._recovery_points = read_offset_checkpoint(self.path / RECOVERY_POINT_CHECKPOINT)
        self._cleaned = read_offset_checkpoint(self.path / CLEANER_CHECKPOINT)
        return meta

    # --- logs ---------------------------------------------------------------------------------------------------

    def open(self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings) -> PartitionLog:
        """Open the log of a partition and recover existing files; set those of another topic id aside.

        A node that starts replays the metadata log, with the topics that had the same name before. The files of a topic
        that does not come stay where they are set aside.
        """
        directory = self.directory_of(partition)
        metadata = directory / PARTITION_METADATA
        if metadata.exists() and not _belongs_to(directory, topic_id):
            self._strays.add(directory.rename(_stray_of(directory, read_partition_metadata(metadata))))
        if (stray := _stray_of(directory, topic_id)) in self._strays:
            self._strays.remove(stray)
            if directory.exists():
                self.delete_tree(directory)
            stray.rename(directory)
        opened = open_log(
            directory,
            log_config(settings),
            self._descriptors,
            clean=self._clean,
            log_start_offset=self._start_offsets.get(partition, 0),
            recovery_point=self._recovery_points.get(partition, 0),
        )
        log = PartitionLog(
            partition,
            opened.log,
            restore_producers(opened.producers),
            restore_epochs(directory, opened.epochs, opened.log.log_end_offset),
            settings,
            self._high_watermarks.get(partition, 0),
        )
        log.cleaned_until = self._cleaned.get(partition, -1)
        log.dirty = self._note_dirty if metadata.exists() else self._note_first
        log.snapshot = self._write_snapshot
        log.stable_at_batches = self._stable_at_batches
        if opened.log.log_end_offset:
            self.events.loaded(partition, opened.recovered_segments, opened.log.log_end_offset)
        self._logs[partition] = log
        if log.dirty != self._note_first or log.end_offset:
            self._started[partition] = log
        self._topic_ids[partition] = topic_id
        return log

    def remove(self, partition: TopicPartition, log: PartitionLog) -> None:
        """Delete a partition's files."""
        self._logs.pop(partition, None)
        self._started.pop(partition, None)
        self._topic_ids.pop(partition, None)
        log.close(clean=False)
        log.store.delete()

    # --- a log that moves here from another directory -----------------------------------------------------------

    @property
    def interrupted_moves(self) -> list[TopicPartition]:
        """Return the partitions with an interrupted move to this directory."""
        return list(self._futures)

    def open_future(
        self, partition: TopicPartition, topic_id: bytes, settings: TopicSettings, unique: str
    ) -> PartitionLog:
        """Open the future log of a move; continue with its existing files."""
        path = self._futures.pop(partition, None)
        if path is not None and not _belongs_to(path, topic_id):
            self.delete_tree(path)
            path = None
        path = path or self.path / f"{partition_directory_name(*partition)}.{unique}{FUTURE}"
        path.mkdir(exist_ok=True)
        write_partition_metadata(path / PARTITION_METADATA, topic_id)
        opened = open_log(path, log_config(settings), self._descriptors, clean=False)
        epochs = LeaderEpochs(list(opened.epochs))
        return PartitionLog(partition, opened.log, ProducerStateManager(), epochs, settings)

    def forget_move(self, partition: TopicPartition) -> None:
        """Delete the files of an interrupted move that no longer applies."""
        path = self._futures.pop(partition, None)
        if path is not None:
            self.delete_tree(path)

    def drop_future(self, future: PartitionLog) -> None:
        """Delete a future log."""
        future.close(clean=False)
        future.store.delete()

    def adopt(
        self, partition: TopicPartition, future: PartitionLog, topic_id: bytes, former: PartitionLog
    ) -> PartitionLog:
        """Replace `former` by a caught-up future log; keep its producer state and leader epochs."""
        future.close(clean=True)
        directory = self.directory_of(partition)
        if Path(future.store.directory).is_dir():
            Path(future.store.directory).rename(directory)
            write_partition_metadata(directory / PARTITION_METADATA, topic_id)
        if future.store.segments:
            self._recovery_points[partition] = future.store.segments[-1].base_offset
        self._start_offsets[partition] = former.start_offset
        log = self.open(partition, topic_id, former.settings)
        log.producers, log.epochs = former.producers, former.epochs
        log.epochs.dirty = True
        log.high_watermark, log.cleaned_until = former.high_watermark, former.cleaned_until
        self._write_epochs(log)
        return log

    def release(self, partition: TopicPartition, log: PartitionLog, unique: str) -> Path | None:
        """Release a log that has moved to another directory; return the path to delete."""
        self._logs.pop(partition, None)
        self._started.pop(partition, None)
        self._topic_ids.pop(partition, None)
        log.close(clean=False)
        directory = self.directory_of(partition)
        if not directory.is_dir():
            return None
        return directory.rename(self.path / f"{directory.name}.{unique}{DELETED}")

    def directory_of(self, partition: TopicPartition) -> Path:
        """Return the directory of a partition's files."""
        return self.path / partition_directory_name(*partition)

    def logs(self) -> Iterator[tuple[TopicPartition, PartitionLog]]:
        """Yield the open logs."""
        return iter(self._logs.items())

    @property
    def usable_bytes(self) -> int:
        """Return the free bytes of the disk: 0 while it rejects writes, else its size minus the logs."""
        if self.refusal is not None:
            return 0
        return max(0, DISK_BYTES - sum(log.store.size_bytes for log in self._logs.values()))

    # --- writing ------------------------------------------------------------------------------------------------

    def _write_snapshot(self, log: PartitionLog, offset: int) -> None:
        write_producer_snapshot(log, offset)
        if not log.closed:
            self.events.rolled(log.partition, offset)
        self.events.wrote_snapshot(log.partition, offset, len(log.producers.producers))

    def _note_dirty(self, log: PartitionLog) -> None:
        if not self._dirty:
            self._ticks.at_flush(self._flush_dirty)
        self._dirty.append(log)
        if log.epochs.dirty:
            self._ticks.at_flush(lambda: self.guarded(lambda: self._write_epochs(log)))

    def _note_first(self, log: PartitionLog) -> None:
        """Record the first bytes of a log without a directory."""
        log.dirty = self._note_dirty
        if self._logs.get(log.partition) is log:
            self._started[log.partition] = log
        if not self._dirty:
            self._ticks.at_flush(self._flush_dirty)
        self._dirty.append(log)
        self._ticks.at_flush(lambda: self.guarded(lambda: self._create_directory(log)))

    def _flush_dirty(self) -> None:
        dirty, self._dirty = self._dirty, []
        try:
            while dirty:
                log = dirty.pop()
                try:
                    if self.refusal is not None and log.store.has_unwritten:
                        raise self.refusal
                    log.flush()
                except OSError as error:
                    self.fail(error, f"Error while appending records to {log.partition} in dir {self.path}")
        finally:
            if dirty:  # An internal error with one log must not prevent the flush of others.
                self._dirty += dirty
                self._ticks.at_flush(self._flush_dirty)

    def guarded(self, work: Callable[[], None]) -> None:
        """Run `work` on the files; an I/O error takes the directory offline."""
        try:
            work()
        except OSError as error:
            self.fail(error, f"Error while writing to a file in dir {self.path}")

    def fail(self, error: OSError, what: str = "Disk error") -> None:
        """Take the directory offline: after an I/O error its content is unknown (Kafka's `LogDirFailureChannel`)."""
        if self.failed is None:
            self.failed = error
            self.events.failed(error, what)
            self.on_failure(self)

    def _create_directory(self, log: PartitionLog) -> None:
        topic_id = self._topic_ids.get(log.partition)
        if topic_id is None or log.closed:
            return
        directory = self.directory_of(log.partition)
        directory.mkdir(parents=True, exist_ok=True)
        write_partition_metadata(directory / PARTITION_METADATA, topic_id)
        self._write_epochs(log)

    def _write_epochs(self, log: PartitionLog) -> None:
        directory = self.directory_of(log.partition)
        if not log.closed and directory.is_dir():
            log.epochs.dirty = False
            write_epoch_checkpoint(directory / LEADER_EPOCH_CHECKPOINT, log.epochs.entries)

    def checkpoint(self) -> None:
        """Write high watermarks (`replica.high.watermark.checkpoint.interval.ms`) and leader epochs.

        A log without a directory has no files to look for; its first record writes its epochs.
        """
        marks = {partition: log.high_watermark for partition, log in self._managed()}
        write_offset_checkpoint(self.path / HIGH_WATERMARK_CHECKPOINT, marks)
        for log in self._started.values():
            if log.epochs.dirty and log.dirty != self._note_first:
                self._write_epochs(log)

    def checkpoint_offsets(self) -> None:
        """Write recovery points and log start offsets (`log.flush.offset.checkpoint.interval.ms`).

        Recovery starts with the active segment, since closed segments are complete with their indexes. A log start
        offset is written if it differs from the base offset of the first segment.
        """
        points = {
            partition: segments[-1].base_offset
            for partition, log in self._managed()
            if (segments := log.store.segments)
        }
        write_offset_checkpoint(self.path / RECOVERY_POINT_CHECKPOINT, points)
        self._checkpoint_starts()

    def _checkpoint_starts(self) -> None:
        starts = {
            partition: log.start_offset
            for partition, log in self._managed()
            if log.start_offset > (log.store.segments[0].base_offset if log.store.segments else 0)
        }
        write_offset_checkpoint(self.path / LOG_START_CHECKPOINT, starts)

    def checkpoint_cleaned(self) -> None:
        """Write the cleaner checkpoint."""
        cleaned = {partition: log.cleaned_until for partition, log in self._logs.items() if log.cleaned_until >= 0}
        write_offset_checkpoint(self.path / CLEANER_CHECKPOINT, cleaned)

    def _managed(self) -> Iterator[tuple[TopicPartition, PartitionLog]]:
        """Yield the logs with files, without the metadata log, which does not belong to a topic."""
        for partition, log in self._started.items():
            if log.end_offset and partition.topic != METADATA_TOPIC:
                yield partition, log

    def close(self, *, clean: bool, broker_epoch: int = -1) -> None:
        """Close every log; a clean close writes checkpoints, snapshots, and the clean-shutdown file."""
        for log in self._logs.values():
            log.close(clean=clean)
        if clean:
            self.checkpoint()
            self._checkpoint_starts()
            points = {partition: log.end_offset for partition, log in self._managed()}
            write_offset_checkpoint(self.path / RECOVERY_POINT_CHECKPOINT, points)
            write_clean_shutdown(self.path, broker_epoch)
        self._descriptors.close()

    def delete_tree(self, directory: Path) -> None:
        """Delete a partition's directory."""
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()


def _stray_of(directory: Path, topic_id: bytes) -> Path:
    return directory.with_name(f"{directory.name}.{topic_id.hex()}{STRAY}")


def _belongs_to(directory: Path, topic_id: bytes) -> bool:
    metadata = directory / PARTITION_METADATA
    return metadata.exists() and read_partition_metadata(metadata) == topic_id


def _nothing(_: LogDirectory) -> None:
    """Ignore a notification without a receiver."""
