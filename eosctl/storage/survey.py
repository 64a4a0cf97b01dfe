"""The content of data directories: small files are read, large files are prepared for streaming.

Nothing is changed or judged. A file that cannot be read is represented as `Unreadable`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from eosctl.model.transaction import TopicPartition
from eosctl.storage import offset_index, time_index
from eosctl.storage.checkpoints import EpochStart, read_epoch_checkpoint, read_offset_checkpoint
from eosctl.storage.errors import DamagedFile
from eosctl.storage.file_lock import LockState, read_lock_state
from eosctl.storage.file_print import FilePrint, file_print
from eosctl.storage.index_file import IndexFile, read_index_file
from eosctl.storage.meta_properties import read_meta_properties
from eosctl.storage.names import (
    CLEAN_SHUTDOWN,
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    LOCK,
    LOG_START_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REMOTE_INDEX_CACHE,
    DirectoryState,
    FileState,
    SegmentFile,
    Suffix,
    parse_partition_directory,
    parse_segment_file,
)
from eosctl.storage.partition_metadata import read_partition_metadata
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry, decode_snapshot
from eosctl.storage.regular_file import read_regular
from eosctl.storage.scan import LogBatch, LogDamage, scan_log
from eosctl.storage.throttled_reader import Read
from eosctl.wire.errors import WireError

T = TypeVar("T")
OFFSET_CHECKPOINTS = (
    RECOVERY_POINT_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_CHECKPOINT,
    CLEANER_CHECKPOINT,
)


_OF_PARTITIONS = frozenset({LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA})


class Unreadable(NamedTuple):
    """The reason why a file could not be read, and the invalid field, if one is known."""

    what: str
    field: str = ""


class SegmentFacts(NamedTuple):
    """A segment: its log for streaming, and its indexes; None if a file is absent.

    Attributes:
        base_offset: The offset in the files' names.
        log_name: Name of the log.
        log_bytes: The log's size at the time of the survey.
        scan: Streams the log.
        offset_index: The offset index.
        time_index: The time index.
        txn_index: The transaction index, undecoded.
    """

    base_offset: int
    log_name: str
    log_bytes: int
    scan: Callable[[], Iterator[LogBatch | LogDamage]]
    offset_index: IndexFile | None
    time_index: IndexFile | None
    txn_index: bytes | None


class PartitionFacts(NamedTuple):
    """A partition directory.

    Attributes:
        name: The directory's name, such as `orders-0`.
        partition: Topic and number.
        segments: In offset order.
        snapshots: Producer snapshots in offset order.
        epochs: The leader-epoch checkpoint; None if absent.
        metadata: The problem of `partition.metadata`; None if it is valid or absent.
        leftovers: Files of interrupted or delayed work.
        indexes_without_log: Live index files whose log is absent.
        topic_id: The topic's id by `partition.metadata`, 16 bytes; None if unknown.
        prints: What shows later that a file has not changed, taken before it was read; empty unless wanted.
    """

    name: str
    partition: TopicPartition
    segments: tuple[SegmentFacts, ...]
    snapshots: tuple[tuple[int, list[ProducerSnapshotEntry] | Unreadable], ...]
    epochs: list[EpochStart] | Unreadable | None
    metadata: Unreadable | None
    leftovers: tuple[SegmentFile, ...]
    indexes_without_log: tuple[SegmentFile, ...]
    topic_id: bytes | None = None
    prints: tuple[tuple[SegmentFile, FilePrint], ...] = ()


class DataDirFacts(NamedTuple):
    """A data directory, with its partitions still to be surveyed one by one.

    The cluster id is empty if `meta.properties` is absent or does not contain it; `identity` says why it cannot be
    read. `lock` shows whether a broker of this machine uses the directory. `foreign` names directories that are not a
    partition's, and links of partitions to nowhere. `moving` names the logs of replicas that move here from another
    directory of the broker.
    """

    path: Path
    partitions: tuple[Path, ...]
    checkpoints: Mapping[str, dict[TopicPartition, int] | Unreadable]
    was_closed: bool
    cluster_id: str = ""
    lock: LockState = LockState.ABSENT
    foreign: tuple[str, ...] = ()
    identity: Unreadable | None = None
    moving: tuple[str, ...] = ()


def find_data_dirs(path: Path) -> list[Path]:
    """Return the data directories at or below a directory, in order of their names; itself if it has none.

    Links are not followed. A directory below that cannot be read, such as `lost+found`, is one of them.

    Raises:
        OSError: The directory itself cannot be read.
    """
    return _data_dirs_below(path) or [path]


def survey_data_dir(path: Path) -> DataDirFacts:
    """Read the files of a data directory, without its partitions.

    A partition directory is treated as a data directory with this one partition, and one that this user may not read as
    a foreign one of the directory around it.

    Raises:
        OSError: The directory cannot be read.
    """
    try:
        children = sorted(path.iterdir())
    except PermissionError:
        return DataDirFacts(path.parent, (), {}, was_closed=False, foreign=(path.name,))
    inner = [child for child in children if child.is_dir() and _is_partition(child)]
    moving = tuple(child.name for child in children if _state_of(child) is DirectoryState.FUTURE and child.is_dir())
    foreign = tuple(child.name for child in children if _is_foreign(child))
    checkpoints = {
        name: _read(read_offset_checkpoint, path / name) for name in OFFSET_CHECKPOINTS if (path / name).exists()
    }
    home = path
    if not inner and _is_partition(path) and any(child.suffix == ".log" for child in path.iterdir()):
        home, inner, checkpoints, foreign, moving = path.parent, [path], {}, (), ()
    closed = (home / CLEAN_SHUTDOWN).exists()
    lock, _ = read_lock_state(home / LOCK)
    cluster_id, identity = _identity(home)
    return DataDirFacts(
        path=home,
        partitions=tuple(inner),
        checkpoints=checkpoints,
        was_closed=closed,
        cluster_id=cluster_id,
        lock=lock,
        foreign=foreign,
        identity=identity,
        moving=moving,
    )


def fingerprint_of(facts: DataDirFacts) -> Set[tuple[str, int, int]]:
    """Return the logs' names, sizes, and modification times; they differ after any write."""
    found = set()
    for partition in facts.partitions:
        # Who reads the partition reports what cannot be read.
        with suppress(OSError), os.scandir(partition) as entries:
            for entry in entries:
                if entry.name.endswith(".log"):
                    seen = entry.stat()
                    found.add((entry.path, seen.st_size, seen.st_mtime_ns))
    return found


def is_without_files(facts: PartitionFacts) -> bool:
    """Return whether a directory holds nothing that Kafka writes for a partition."""
    has_files = facts.segments or facts.snapshots or facts.leftovers or facts.indexes_without_log
    return not has_files and facts.epochs is None and facts.metadata is None and facts.topic_id is None


def survey_partition(path: Path, read: Read = os.pread, *, is_printed: bool = False) -> PartitionFacts:
    """Read the small files of a partition directory.

    Args:
        path: The directory.
        read: Reads the logs when they are streamed.
        is_printed: Whether to take the prints of the files.

    Raises:
        OSError: The directory cannot be read.
    """
    directory = parse_partition_directory(path.name)
    if directory is None:
        raise ValueError(path.name)
    files = sorted(found for child in path.iterdir() if (found := parse_segment_file(child.name)) is not None)
    live = [file for file in files if file.state is FileState.LIVE]
    prints = tuple((file, file_print(path / file.name)) for file in live) if is_printed else ()
    logs = [file.offset for file in live if file.suffix is Suffix.LOG]
    known = set(logs)
    metadata = path / PARTITION_METADATA
    identity = _read(read_partition_metadata, metadata) if metadata.exists() else None
    epochs = path / LEADER_EPOCH_CHECKPOINT
    return PartitionFacts(
        name=path.name,
        partition=TopicPartition(directory.topic, directory.partition),
        segments=tuple(_segment(path, offset, read) for offset in logs),
        snapshots=tuple(
            (file.offset, _snapshot(path / file.name)) for file in live if file.suffix is Suffix.PRODUCER_SNAPSHOT
        ),
        epochs=_read(read_epoch_checkpoint, epochs) if epochs.exists() else None,
        metadata=identity if isinstance(identity, Unreadable) else None,
        leftovers=tuple(file for file in files if file.state is not FileState.LIVE),
        indexes_without_log=tuple(
            file for file in live if file.suffix is not Suffix.PRODUCER_SNAPSHOT and file.offset not in known
        ),
        topic_id=identity if isinstance(identity, bytes) else None,
        prints=prints,
    )


def _identity(path: Path) -> tuple[str, Unreadable | None]:
    """Return the cluster id, or why `meta.properties` cannot be read; a directory without the file has neither."""
    try:
        return read_meta_properties(path).cluster_id, None
    except DamagedFile as error:
        return "", Unreadable(error.what)
    except FileNotFoundError:
        is_link = (path / META_PROPERTIES).is_symlink()
        return "", Unreadable("cannot be read: the link leads nowhere") if is_link else None
    except OSError as error:
        return "", _unopened(error)


def _data_dirs_below(path: Path) -> list[Path]:
    children = sorted(child for child in path.iterdir() if child.is_dir())
    if (path / META_PROPERTIES).exists() or _is_partition(path) or any(map(_is_partition, children)):
        return [path]
    found: list[Path] = []
    for child in children:
        if not child.is_symlink():
            try:
                found += _data_dirs_below(child)
            except PermissionError:
                found.append(child)
    return found


def _is_foreign(path: Path) -> bool:
    """Return whether a directory is not a partition's (a broker refuses most names), or a link to one leads nowhere."""
    state = _state_of(path)
    if path.is_dir():
        is_partition = state is not None and (state is not DirectoryState.LIVE or _is_partition(path))
        return not is_partition and path.name != REMOTE_INDEX_CACHE
    return state is not None and path.is_symlink()


def _is_partition(path: Path) -> bool:
    """Return whether a directory has the name of a partition, and is not one of data directories or of other things."""
    if _state_of(path) is not DirectoryState.LIVE:
        return False
    has_folders = False
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name in _OF_PARTITIONS or parse_segment_file(entry.name) is not None:
                    return True
                has_folders = has_folders or entry.is_dir(follow_symlinks=False)
    except OSError:
        # Who reads the partition reports it.
        return True
    return not has_folders


def _state_of(path: Path) -> DirectoryState | None:
    directory = parse_partition_directory(path.name)
    return None if directory is None else directory.state


def _segment(directory: Path, offset: int, read: Read) -> SegmentFacts:
    def path(suffix: Suffix) -> Path:
        return directory / SegmentFile(offset, suffix).name

    def index(suffix: Suffix, entry_bytes: int) -> IndexFile | None:
        return read_index_file(path(suffix), entry_bytes) if path(suffix).exists() else None

    log = path(Suffix.LOG)
    txn_index = path(Suffix.TXN_INDEX)
    # Indexes first: a running broker appends to the log before it adds index entries, so the log then covers the
    # entries.
    offsets = index(Suffix.OFFSET_INDEX, offset_index.ENTRY_BYTES)
    times = index(Suffix.TIME_INDEX, time_index.ENTRY_BYTES)
    aborted = read_regular(txn_index) if txn_index.exists() else None
    return SegmentFacts(
        base_offset=offset,
        log_name=log.name,
        log_bytes=log.stat().st_size,
        scan=lambda: scan_log(log, read=read),
        offset_index=offsets,
        time_index=times,
        txn_index=aborted,
    )


def _snapshot(path: Path) -> list[ProducerSnapshotEntry] | Unreadable:
    try:
        return decode_snapshot(read_regular(path))
    except WireError as error:
        return Unreadable(error.what, error.field)
    except OSError as error:
        return _unopened(error)


def _read(read: Callable[[Path], T], path: Path) -> T | Unreadable:
    try:
        return read(path)
    except DamagedFile as error:
        return Unreadable(f"{error.what} (line {error.offset})")
    except OSError as error:
        return _unopened(error)


def _unopened(error: OSError) -> Unreadable:
    """Return why a file was not read; a file that is gone is the caller's matter.

    Raises:
        FileNotFoundError: A broker has removed the file.
    """
    if isinstance(error, FileNotFoundError):
        raise error
    return Unreadable(f"cannot be read: {error.strerror or error}")
