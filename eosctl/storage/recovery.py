"""Open an existing partition directory, after a clean shutdown or a crash.

After a crash, segments that may not have been flushed are read again. The log is truncated at the first batch that is
incomplete or invalid, and indexes, transaction index, and producer state are rebuilt (Kafka's `LogLoader` and
`LogSegment.recover`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from eosctl.storage.checkpoints import EpochStart
from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.errors import DamagedFile
from eosctl.storage.log import SegmentedLog
from eosctl.storage.names import FileState, SegmentFile, Suffix, parse_segment_file
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import (
    ProducerSnapshotEntry,
    load_latest_snapshot,
    snapshot_offsets,
    write_snapshot,
)
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.storage.segment import MAX_RELATIVE_OFFSET, Segment
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import decode_header
from eosctl.wire.records.header import HEADER_BYTES


class OpenedLog(NamedTuple):
    """An opened log, and the results of its recovery.

    Attributes:
        log: The log.
        producers: Producer state at the log end offset.
        epochs: Leader epochs of the recovered batches; the caller adds those missing from its checkpoint.
        recovered_segments: Base offsets of the segments that were read again.
        truncated_bytes: Number of bytes removed because they were not a complete, valid batch.
        deleted_segments: Base offsets of segments after the truncation point.
    """

    log: SegmentedLog
    producers: list[ProducerSnapshotEntry]
    epochs: Sequence[EpochStart] = ()
    recovered_segments: tuple[int, ...] = ()
    truncated_bytes: int = 0
    deleted_segments: tuple[int, ...] = ()


def open_log(
    directory: Path,
    config: LogConfig,
    descriptors: Descriptors,
    *,
    clean: bool,
    log_start_offset: int = 0,
    recovery_point: int = 0,
    now_ms: int = -1,
) -> OpenedLog:
    """Open a partition directory; an absent directory is an empty log.

    Args:
        directory: The partition directory.
        config: When to roll and what to index.
        descriptors: Open files, shared by many logs.
        clean: Whether the log was closed cleanly. A segment with missing or damaged indexes is recovered in any case.
        log_start_offset: First offset that may be read, from the checkpoint.
        recovery_point: Offset up to which the log was flushed to disk; recovery starts with the segment that contains
            it.
        now_ms: Now, in milliseconds since the epoch; the creation time of segments without timestamps.

    Raises:
        OSError: The directory cannot be read or repaired.
    """
    if not directory.is_dir():
        return OpenedLog(SegmentedLog(directory, config, descriptors, log_start_offset=log_start_offset), [])
    _finish_interrupted_work(directory)
    segments = _find_segments(directory, now_ms)
    _remove_stray_snapshots(directory, [segment.base_offset for segment in segments])
    suspect = 0 if not segments else len(segments) if clean else _floor(segments, recovery_point)
    trusted, end_offset = _load_trusted(segments, suspect)
    if segments:
        log_start_offset = max(log_start_offset, segments[0].base_offset)
    replay = _replay_producers(
        SegmentedLog(
            directory,
            config,
            descriptors,
            segments=segments[:trusted],
            log_start_offset=min(log_start_offset, end_offset),
            log_end_offset=end_offset,
        )
    )
    recovery = _Recovery(config, descriptors, replay, end_offset)
    for segment in segments[trusted:]:
        recovery.recover(segment)
    log = SegmentedLog(
        directory,
        config,
        descriptors,
        segments=[*segments[:trusted], *recovery.segments],
        log_start_offset=min(log_start_offset, recovery.end_offset),
        log_end_offset=recovery.end_offset,
    )
    if log_start_offset > log.log_end_offset:
        # Records acknowledged as deleted must not reappear, and offsets must not be assigned twice.
        log.truncate_fully_and_start_at(log_start_offset)
        replay = ProducerReplay()
    producers = list(replay.producers.values())
    _keep_snapshots_up_to(directory, log.log_end_offset)
    if recovery.recovered:
        write_snapshot(directory, log.log_end_offset, producers)
    return OpenedLog(
        log=log,
        producers=producers,
        epochs=recovery.epochs,
        recovered_segments=tuple(recovery.recovered),
        truncated_bytes=recovery.truncated_bytes,
        deleted_segments=tuple(recovery.deleted),
    )


class _Recovery:
    """Recovers segments one after the other and records what it changed."""

    def __init__(self, config: LogConfig, descriptors: Descriptors, replay: ProducerReplay, end_offset: int) -> None:
        self.segments: list[Segment] = []
        self.epochs: list[EpochStart] = []
        self.recovered: list[int] = []
        self.deleted: list[int] = []
        self.truncated_bytes = 0
        self.end_offset = end_offset
        self._config = config
        self._descriptors = descriptors
        self._replay = replay

    def recover(self, segment: Segment) -> None:
        if self.truncated_bytes:  # Segments after a truncation point are deleted.
            self._descriptors.forget(segment.log_path)
            segment.delete_files()
            self.deleted.append(segment.base_offset)
            return
        self.end_offset = max(self.end_offset, segment.base_offset)
        file_bytes = segment.size_bytes
        segment = Segment(
            segment.directory, segment.base_offset, segment.created_ms
        )  # Discard indexes that may be partly loaded.
        for fact in scan_log(Path(segment.log_path)):
            if not (isinstance(fact, LogBatch) and self._belongs(segment, fact) and self._take(segment, fact)):
                break
        self.truncated_bytes = file_bytes - segment.size_bytes
        if self.truncated_bytes:
            os.ftruncate(self._descriptors.open(segment.log_path), segment.size_bytes)
        segment.finish_recovery()
        self.segments.append(segment)
        self.recovered.append(segment.base_offset)

    def _belongs(self, segment: Segment, batch: LogBatch) -> bool:
        header = batch.header
        return (
            batch.crc_valid
            and header.base_offset >= self.end_offset
            and header.last_offset - segment.base_offset <= MAX_RELATIVE_OFFSET
        )

    def _take(self, segment: Segment, batch: LogBatch) -> bool:
        header = batch.header
        try:
            completed = self._replay.apply(header, batch.buffer, batch.buffer_position)
        except WireError:
            return False
        segment.add(header.size_bytes, header.last_offset, header.max_timestamp, self._config.index_interval_bytes)
        if completed is not None and not completed.committed:
            segment.aborted_txns.append(completed.as_aborted())
        if header.partition_leader_epoch > (self.epochs[-1].epoch if self.epochs else -1):
            self.epochs.append(EpochStart(header.partition_leader_epoch, header.base_offset))
        self.end_offset = header.next_offset
        return True


def _find_segments(directory: Path, now_ms: int) -> list[Segment]:
    """Return the segments in offset order, with their sizes; delete index files without a log."""
    files = [file for file in _parse_files(directory) if file.state is FileState.LIVE]
    logs = sorted(found.offset for found in files if found.suffix is Suffix.LOG)
    for orphan in files:
        if orphan.suffix is not Suffix.PRODUCER_SNAPSHOT and orphan.offset not in logs:
            (directory / orphan.name).unlink()
    segments = [Segment(os.fspath(directory), offset, now_ms) for offset in logs]
    for segment in segments:
        segment.size_bytes = os.stat(segment.log_path).st_size  # noqa: PTH116 - a str path
    return segments


def _floor(segments: list[Segment], offset: int) -> int:
    """Return the index of the segment that contains an offset."""
    return max(sum(segment.base_offset <= offset for segment in segments) - 1, 0)


def _load_trusted(segments: list[Segment], suspect: int) -> tuple[int, int]:
    """Load the indexes of consecutive segments until one is suspect or has unusable indexes.

    Returns:
        The number of intact segments, and the offset after them.
    """
    for index, segment in enumerate(segments):
        if index >= suspect:
            return index, segment.base_offset
        try:
            segment.load_indexes()
        except (ValueError, FileNotFoundError):
            return index, segment.base_offset
    if not segments:
        return 0, 0
    end_offset = _end_of(segments[-1])
    if end_offset is None:
        return len(segments) - 1, segments[-1].base_offset
    return len(segments), end_offset


def _end_of(segment: Segment) -> int | None:
    """Return the offset after a segment's last batch; None if the file does not end with a valid batch."""
    end_offset = segment.base_offset
    for fact in scan_log(Path(segment.log_path), segment.offset_index.last.position):
        if not (isinstance(fact, LogBatch) and fact.crc_valid):
            return None
        end_offset = fact.header.next_offset
    if segment.size_bytes:
        with Path(segment.log_path).open("rb") as file:
            segment.first_timestamp = decode_header(file.read(HEADER_BYTES)).max_timestamp
    return end_offset


def _replay_producers(log: SegmentedLog) -> ProducerReplay:
    """Replay the log from the newest valid snapshot to the log end offset."""
    snapshot = load_latest_snapshot(Path(log.directory), log.log_end_offset)
    offset, entries = snapshot or (log.log_start_offset, [])
    replay = ProducerReplay(entries)
    for header, batch in log.batches(max(offset, log.log_start_offset)):
        try:
            replay.apply(header, batch)
        except WireError as error:
            raise DamagedFile(Path(log.directory), f"the marker at offset {header.base_offset}: {error}") from None
    return replay


def _keep_snapshots_up_to(directory: Path, offset: int) -> None:
    for found in snapshot_offsets(directory):
        if found > offset:
            (directory / SegmentFile(found, Suffix.PRODUCER_SNAPSHOT).name).unlink(missing_ok=True)


def _remove_stray_snapshots(directory: Path, base_offsets: Sequence[int]) -> None:
    """Delete all snapshots but those at the start of a segment and the newest one, if it is above all of these.

    Each clean shutdown leaves one at the log end offset (Kafka's `ProducerStateManager.removeStraySnapshots`).
    """
    strays = sorted(set(snapshot_offsets(directory)) - set(base_offsets))
    if strays and strays[-1] > max(base_offsets, default=-1):
        strays.pop()
    for stray in strays:
        (directory / SegmentFile(stray, Suffix.PRODUCER_SNAPSHOT).name).unlink(missing_ok=True)


def _finish_interrupted_work(directory: Path) -> None:
    """Complete or undo interrupted deletions and cleanings (Kafka's `LogLoader`).

    Deleted and partly cleaned files are removed. A partly cleaned file also invalidates the `.swap` files from its
    offset on, since their segment is incomplete. All other `.swap` files replace the segments that they cover.
    """
    found = _parse_files(directory)
    unfinished = min([file.offset for file in found if file.state is FileState.CLEANED], default=None)
    swaps: list[SegmentFile] = []
    for file in found:
        if file.state is FileState.SWAP and (unfinished is None or file.offset < unfinished):
            swaps.append(file)
        elif file.state is not FileState.LIVE:
            (directory / file.name).unlink()
    swapped_logs = [file for file in swaps if file.suffix is Suffix.LOG]
    if swapped_logs:
        start_offset = min(file.offset for file in swapped_logs)
        end_offset = max(_end_of_swap(directory, file) for file in swapped_logs)
        for file in found:
            replaced = file.state is FileState.LIVE and start_offset <= file.offset < end_offset
            if replaced and file.suffix is not Suffix.PRODUCER_SNAPSHOT:
                (directory / file.name).unlink(missing_ok=True)
    for file in swaps:
        (directory / file.name).rename(directory / file._replace(state=FileState.LIVE).name)


def _end_of_swap(directory: Path, file: SegmentFile) -> int:
    facts = scan_log(directory / file.name)
    return max([file.offset + 1, *(fact.header.next_offset for fact in facts if isinstance(fact, LogBatch))])


def _parse_files(directory: Path) -> list[SegmentFile]:
    return [parsed for path in directory.iterdir() if (parsed := parse_segment_file(path.name)) is not None]
