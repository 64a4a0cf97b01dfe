"""State directories of Kafka Streams: tasks, their stores, and the changelog offset of each store.

`state.dir` has one directory for each application. It contains `.lock`, `kafka-streams-process-metadata`, `global`, and
one directory for each task (`<subtopology>_<partition>`, below `__NAME__` for named topologies). Up to 4.2 a task keeps
its offsets in `.checkpoint`; since 4.3 (KIP-1035) each RocksDB store keeps its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.storage.checkpoints import read_offset_checkpoint
from eosctl.storage.errors import DamagedFile
from eosctl.storage.file_lock import LockState, read_lock_state
from eosctl.storage.regular_file import read_regular

CHECKPOINT: Final = ".checkpoint"
LOCK: Final = ".lock"
PROCESS_METADATA: Final = "kafka-streams-process-metadata"
GLOBAL: Final = "global"
ROCKSDB: Final = "rocksdb"
#: Written by Streams for a store whose offset is unknown (`OffsetCheckpoint.OFFSET_UNKNOWN`).
OFFSET_UNKNOWN: Final = -4

_TASK: Final = re.compile(r"\d+_\d+", re.ASCII)
_NAMED_TOPOLOGY: Final = re.compile(r"__.+__")
_OFFSETS_FAMILY: Final = b'[CFOptions "offsets"]'
_MOST_OPTIONS_BYTES: Final = 1 << 20
#: Streams writes about fifty bytes.
_MOST_METADATA_BYTES: Final = 1 << 14


class OffsetHome(StrEnum):
    """Where a store's changelog offset is kept."""

    CHECKPOINT = "checkpoint"
    STORE = "store"
    NOWHERE = "nowhere"


class Application(NamedTuple):
    """The state directory of an application.

    Attributes:
        path: The directory; its name is the `application.id`.
        lock: Whether a process of this machine holds it.
        lock_pid: The process id, if it is visible from this process.
        tasks: The directories of its tasks.
    """

    path: Path
    lock: LockState
    lock_pid: int | None
    tasks: tuple[Path, ...]


class StoreOffset(NamedTuple):
    """A store of a task, or a changelog whose store has no directory.

    Attributes:
        store: The store's name; empty when the changelog is not named after it.
        changelog: The topic from which the store is restored; empty if no file names it.
        partition: Its partition; None if no file names it.
        offset: Offset of the last changelog record that is in the store; None if no readable file contains it.
        offset_in: Where the offset is kept.
        size_bytes: Size of the store's files; 0 for a store in memory.
    """

    store: str
    changelog: str
    partition: int | None
    offset: int | None
    offset_in: OffsetHome
    size_bytes: int


def find_applications(path: Path) -> list[Application]:
    """Find the applications of a directory: a `state.dir`, an application's directory, or a task's directory.

    Raises:
        OSError: The directory cannot be read.
    """
    if _TASK.fullmatch(path.name):
        parent = path.parent.parent if _NAMED_TOPOLOGY.fullmatch(path.parent.name) else path.parent
        return [_application(parent, (path,))]
    if _is_application(path):
        return [_application(path, tuple(_tasks(path)))]
    inner = sorted(child for child in path.iterdir() if child.is_dir())
    return [_application(child, tuple(_tasks(child))) for child in inner if _is_application(child)]


def read_process_id(application: Path) -> str | None:
    """Read the process id that an application keeps across restarts; None if it has not written one.

    Raises:
        DamagedFile: The content is not the format of Streams.
        OSError: The file cannot be read.
    """
    path = application / PROCESS_METADATA
    if not path.exists():
        return None
    try:
        content = json.loads(read_regular(path, _MOST_METADATA_BYTES))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(path, f"no JSON: {error}", getattr(error, "pos", 0)) from None
    process_id = content.get("processId") if isinstance(content, dict) else None
    if not isinstance(process_id, str):
        raise DamagedFile(path, "the text field processId was expected", 0)
    return process_id


def read_checkpoint(task: Path) -> dict[TopicPartition, int]:
    """Read a task's checkpointed offsets by changelog; empty without a checkpoint file.

    Raises:
        DamagedFile: The file is malformed; `offset` is the line, counted from 1.
        OSError: The file cannot be read.
    """
    return read_offset_checkpoint(task / CHECKPOINT)


def list_stores(task: Path, application_id: str, checkpoint: dict[TopicPartition, int]) -> list[StoreOffset]:
    """List the stores of a task with their offsets, followed by changelogs without a store directory.

    Args:
        task: The task's directory.
        application_id: The application's id, the prefix of its changelogs.
        checkpoint: The task's checkpoint.

    Raises:
        OSError: A directory cannot be read.
    """
    left = dict(checkpoint)
    found = []
    for directory in _store_directories(task):
        names = [at for at in left if at.topic == f"{application_id}-{directory.name}-changelog"]
        size_bytes = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
        home = OffsetHome.STORE if _keeps_offsets(directory) else OffsetHome.NOWHERE
        if not names:
            found.append(
                StoreOffset(
                    store=directory.name,
                    changelog="",
                    partition=None,
                    offset=None,
                    offset_in=home,
                    size_bytes=size_bytes,
                )
            )
        found += [_checkpointed(directory.name, at, left.pop(at), size_bytes) for at in names]
    prefix, suffix = f"{application_id}-", "-changelog"
    for at, offset in left.items():
        is_named = at.topic.startswith(prefix) and at.topic.endswith(suffix)
        found.append(_checkpointed(at.topic[len(prefix) : -len(suffix)] if is_named else "", at, offset, 0))
    return found


def _checkpointed(store: str, at: TopicPartition, offset: int, size_bytes: int) -> StoreOffset:
    known = None if offset == OFFSET_UNKNOWN else offset
    home = OffsetHome.NOWHERE if known is None else OffsetHome.CHECKPOINT
    return StoreOffset(
        store=store, changelog=at.topic, partition=at.partition, offset=known, offset_in=home, size_bytes=size_bytes
    )


def _is_task(path: Path) -> bool:
    return path.is_dir() and (path.name == GLOBAL or _TASK.fullmatch(path.name) is not None)


def _is_application(path: Path) -> bool:
    return (path / PROCESS_METADATA).exists() or any(_TASK.fullmatch(task.name) for task in _tasks(path))


def _tasks(application: Path) -> Iterator[Path]:
    for child in sorted(application.iterdir()):
        if _is_task(child):
            yield child
        elif _NAMED_TOPOLOGY.fullmatch(child.name) and child.is_dir():
            yield from (inner for inner in sorted(child.iterdir()) if _is_task(inner))


def _store_directories(task: Path) -> Iterator[Path]:
    for child in sorted(task.iterdir()):
        if child.is_dir() and child.name == ROCKSDB:
            yield from (inner for inner in sorted(child.iterdir()) if inner.is_dir())
        elif child.is_dir():
            yield child


def _keeps_offsets(store: Path) -> bool:
    """Return whether a RocksDB store has the column family in which releases since 4.3 keep its offsets."""
    newest = sorted(store.rglob("OPTIONS-*"))[-1:]
    for path in newest:
        return _OFFSETS_FAMILY in read_regular(path, _MOST_OPTIONS_BYTES)
    return False


def _application(path: Path, tasks: tuple[Path, ...]) -> Application:
    state, pid = read_lock_state(path / LOCK)
    return Application(path, state, pid, tasks)
