"""The local state of a task: a directory with a store and the changelog offset that the store is known to be at."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from eosctl.lab.workloads.streams.rules import OFFSET_UNKNOWN, OffsetsIn
from eosctl.model.transaction import TopicPartition
from eosctl.storage.atomic import replace_file
from eosctl.storage.checkpoints import read_offset_checkpoint, write_offset_checkpoint
from eosctl.storage.streams_state import CHECKPOINT, ROCKSDB

_CONTENT_FILE: Final = "content.json"


class Store:
    """Numbers by key and an offset, on the disk as RocksDB keeps them for Streams: without a write-ahead log.

    What was set since the memtable was written out is lost with the process. RocksDB writes it out when it is full,
    in the middle of a transaction too: then what may still be aborted is on the disk, and with it that the offset is
    not known.

    With a buffer it is a transactional store: what is set waits there, and reaches the memtable with `commit` only.

    Args:
        path: Its file.
        memtable_limit: How many puts the memtable takes before it is written out.
        has_buffer: Whether it is transactional.
    """

    def __init__(self, path: Path, memtable_limit: int, *, has_buffer: bool = False) -> None:
        self._path = path
        self._memtable_limit = memtable_limit
        self._memtable_size = 0
        self._has_buffer = has_buffer
        self._buffer: dict[str, int] = {}
        self.offset: int | None = None
        self.is_marked_open = False
        self._content: dict[str, int] = {}
        if path.exists():
            kept = json.loads(path.read_bytes())
            self.offset, self._content, self.is_marked_open = kept["offset"], kept["content"], kept["open"]
        else:
            self.flush()

    @property
    def content(self) -> dict[str, int]:
        """A copy of everything in it."""
        return self._content | self._buffer

    def get(self, key: str) -> int:
        """Return the number of a key, or 0 if the store lacks it."""
        return self._buffer.get(key, self._content.get(key, 0))

    def put(self, key: str, number: int) -> None:
        """Set the number of a key."""
        if self._has_buffer:
            self._buffer[key] = number
            return
        self._content[key] = number
        self._memtable_size += 1
        self._flush_if_full()

    def commit(self, offset: int | None) -> None:
        """Take the buffer over into the store, together with the changelog offset that it ends at."""
        if not self._has_buffer:
            return
        self._content |= self._buffer
        self._memtable_size += len(self._buffer)
        self._buffer.clear()
        self.offset = offset
        self._flush_if_full()

    def discard(self) -> None:
        """Forget what was not committed."""
        self._buffer.clear()

    def _flush_if_full(self) -> None:
        if self._memtable_size >= self._memtable_limit:
            self.flush()

    def flush(self) -> None:
        """Write the memtable out."""
        replace_file(self._path, json.dumps(self._kept()).encode())
        self._memtable_size = 0

    def _kept(self) -> dict[str, object]:
        return {"offset": self.offset, "content": self._content, "open": self.is_marked_open}


class TaskDirectory:
    """The directory of a task with one store, laid out as Streams does (``eosctl decode state-dir`` reads it).

    Args:
        path: The task's directory, such as ``STATE.DIR/APPLICATION/0_3``.
        store: The store's name.
        changelog: What it is restored from.
        offsets_in: Where its offset is kept.
    """

    def __init__(self, path: Path, store: str, changelog: TopicPartition, offsets_in: OffsetsIn) -> None:
        self.path = path
        self._changelog = changelog
        self._offsets_in = offsets_in
        self._file = path / ROCKSDB / store / _CONTENT_FILE

    @property
    def has_files(self) -> bool:
        """Whether there is anything of a store."""
        return self._file.exists()

    @property
    def offset(self) -> int | None:
        """Offset of the last changelog record in the store, according to the disk."""
        if self._offsets_in is OffsetsIn.STORE:
            return Store(self._file, 1).offset if self.has_files else None
        offset = read_offset_checkpoint(self.path / CHECKPOINT).get(self._changelog, OFFSET_UNKNOWN)
        return None if offset == OFFSET_UNKNOWN else offset

    @property
    def is_marked_open(self) -> bool:
        """Whether the store on the disk was last written without transactions, and not closed."""
        return self.has_files and Store(self._file, 1).is_marked_open

    def open(self, memtable_limit: int, *, has_buffer: bool = False) -> Store:
        """Open the store with what is on the disk; from then on there are files of it, as with RocksDB."""
        return Store(self._file, memtable_limit, has_buffer=has_buffer)

    def note(self, store: Store, offset: int | None) -> None:
        """Write the store out, and its offset; None for one that is not known."""
        if self._offsets_in is OffsetsIn.STORE:
            store.offset = offset
        store.is_marked_open = False
        store.flush()
        if self._offsets_in is OffsetsIn.CHECKPOINT:
            known = OFFSET_UNKNOWN if offset is None else offset
            write_offset_checkpoint(self.path / CHECKPOINT, {self._changelog: known})

    def forget(self, store: Store) -> None:
        """Remove the offset: immediately if it is in a file, with the next memtable if it is in the store.

        In the latter case a process that is killed earlier has not changed the disk, so the offset is still right.
        """
        store.offset = None
        store.is_marked_open = True
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def wipe(self) -> None:
        """Remove everything of the task."""
        shutil.rmtree(self.path, ignore_errors=True)
