"""One task: a partition of the input, the part of the state that belongs to it, and the results it makes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from eosctl.client.client import Client
from eosctl.client.consumer import EARLIEST, LATEST, IsolationLevel, Reader, list_offset
from eosctl.client.offsets import committed_offsets
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.record import Record
from tests.lab.workloads.streams.rules import Rules, Start, decide_start
from tests.lab.workloads.streams.state import TaskDirectory

_POLL_WAIT_MS: Final = 20
_RESTORE_WAIT_S: Final = 0.02


class Step(StrEnum):
    """The steps of the loop, in their order."""

    INITIALIZE = "initialize the producer"
    LOAD_OFFSET = "load the offset"
    FORGET_OFFSET = "forget the offset"
    WIPE = "wipe the store"
    RESTORE = "restore"
    RUN = "begin to run"
    POLL = "poll"
    PROCESS = "process"
    PUT = "write the store"
    LOG_CHANGE = "log the change"
    FORWARD = "forward the result"
    PREPARE_COMMIT = "prepare the commit"
    PRODUCE_CHANGELOG = "produce the changelog"
    PRODUCE_OUTPUT = "produce the output"
    ADD_OFFSETS = "add the offsets"
    COMMIT = "commit"
    COMMITTED = "commit answered"
    STORE_COMMITTED = "take the writes over into the store"
    SUSPEND = "suspend"
    WRITE_CHECKPOINT = "write the checkpoint"
    CLOSE = "close"


class Life(Protocol):
    """Called before each step; may end the process there by raising an exception that is not caught."""

    def reach(self, step: Step) -> None:
        """Enter a step."""


class TaskState(StrEnum):
    """The states of Streams' tasks (``Task.State``)."""

    CREATED = "CREATED"
    RESTORING = "RESTORING"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    CLOSED = "CLOSED"


_NEXT: Final = {
    TaskState.CREATED: {TaskState.RESTORING, TaskState.CLOSED},
    TaskState.RESTORING: {TaskState.RUNNING, TaskState.SUSPENDED},
    TaskState.RUNNING: {TaskState.SUSPENDED},
    TaskState.SUSPENDED: {TaskState.CLOSED},
    TaskState.CLOSED: {TaskState.CREATED},
}


class Places(NamedTuple):
    """The partitions of a task, and the group whose offset marks the processed input."""

    input: TopicPartition
    changelog: TopicPartition
    output: TopicPartition
    group_id: str


class Sizes(NamedTuple):
    """How much a task takes at a time.

    Attributes:
        memtable: Puts after which a store writes itself to the disk, see `Store`.
        batch: Records that are handled in one transaction at most; stands for ``commit.interval.ms``.
    """

    memtable: int = 1_000
    batch: int = 1_000


DEFAULT_SIZES: Final = Sizes()


Process = Callable[[Record, Callable[[str], int]], tuple[tuple[str, int], ...]]
"""Returns the new numbers by key for a record; each is stored, logged, and forwarded."""


def count_words(record: Record, get: Callable[[str], int]) -> tuple[tuple[str, int], ...]:
    """Return the next number of each word of a record."""
    numbers: list[tuple[str, int]] = []
    found: dict[str, int] = {}
    for word in (record.value or b"").decode("utf-8", "replace").split():
        found[word] = found.get(word, get(word)) + 1
        numbers.append((word, found[word]))
    return tuple(numbers)


class Task:
    """A task of an instance; every life of it begins with `restore`.

    Args:
        client: The client.
        places: Its partitions.
        directory: Its local state.
        rules: What keeps that state right.
        sizes: How much it takes at a time.
        process: What it does with a record.
        life: Called at each step.
    """

    def __init__(
        self,
        client: Client,
        places: Places,
        directory: TaskDirectory,
        rules: Rules,
        sizes: Sizes,
        process: Process,
        life: Life,
    ) -> None:
        self.places = places
        self.state = TaskState.CREATED
        self.start: Start | None = None
        self.restored_count = 0
        self._client = client
        self._directory = directory
        self._rules = rules
        self._sizes = sizes
        self._process = process
        self._life = life
        self._unsent: dict[TopicPartition, list[OutgoingRecord]] = defaultdict(list)
        self._stored_offset: int | None = None
        self._logged_offset: int | None = None

    @property
    def path(self) -> Path:
        """Its directory."""
        return self._directory.path

    async def restore(self) -> None:
        """Bring the store to where the changelog is, wiping it first when it may hold what was aborted."""
        self._become(TaskState.RESTORING)
        self._life.reach(Step.LOAD_OFFSET)
        offset = self._directory.offset
        directory = self._directory
        self.start = decide_start(
            self._rules, has_files=directory.has_files, offset=offset, is_marked_open=directory.is_marked_open
        )
        if self.start is Start.REFUSE:
            raise AssertionError(f"{directory.path.name}: the store is marked as open, and never opened again")
        if self.start is Start.WIPE:
            self._life.reach(Step.WIPE)
            directory.wipe()
        self._store = directory.open(self._sizes.memtable, has_buffer=self._rules.buffers_writes)
        if self._rules.forgets_loaded:
            self._life.reach(Step.FORGET_OFFSET)
            self._directory.forget(self._store)
        self._stored_offset = offset
        await self._read_changelog()
        if self._rules.notes_restoration:
            self._directory.note(self._store, self._stored_offset)
        self._life.reach(Step.RUN)
        self._reader = await self._read_from_committed()
        self._become(TaskState.RUNNING)

    async def _read_changelog(self) -> None:
        place, rules = self.places.changelog, self._rules
        isolation = IsolationLevel(rules.restores_committed)
        # Streams asks for the end with READ_UNCOMMITTED and reads up to it with read_committed: it waits for markers.
        end_isolation = IsolationLevel.READ_UNCOMMITTED if rules.restores_to_end else IsolationLevel.READ_COMMITTED
        end = await list_offset(self._client, place, LATEST, end_isolation)
        known = self._stored_offset
        begin = known + 1 if known is not None else await list_offset(self._client, place, EARLIEST)
        reader = Reader(self._client, isolation, {place: begin})
        while reader.positions[place] < end:
            for record in (await reader.poll(max_wait_ms=_POLL_WAIT_MS)).get(place, ()):
                self._life.reach(Step.RESTORE)
                self._store.put((record.key or b"").decode(), int(record.value or b"0"))
                self._stored_offset = record.offset
                self._store.commit(record.offset)
                self.restored_count += 1
            await asyncio.sleep(0 if reader.positions[place] >= end else _RESTORE_WAIT_S)

    async def _read_from_committed(self) -> Reader:
        place = self.places.input
        offset = (await committed_offsets(self._client, self.places.group_id, [place]))[place]
        start = offset if offset is not None else await list_offset(self._client, place, EARLIEST)
        return Reader(self._client, IsolationLevel.READ_COMMITTED, {place: start})

    async def poll_and_process(self) -> int:
        """Handle what there is of the input and return how many records that were."""
        self._life.reach(Step.POLL)
        records = (await self._reader.poll()).get(self.places.input, ())[: self._sizes.batch]
        if len(records) == self._sizes.batch:
            self._reader.positions[self.places.input] = records[-1].offset + 1
        for record in records:
            self._life.reach(Step.PROCESS)
            for key, number in self._process(record, self._store.get):
                self._life.reach(Step.PUT)
                self._store.put(key, number)
                self._life.reach(Step.LOG_CHANGE)
                change = OutgoingRecord(key.encode(), str(number).encode())
                self._unsent[self.places.changelog].append(change)
                self._life.reach(Step.FORWARD)
                self._unsent[self.places.output].append(change)
        return len(records)

    @property
    def input_offset(self) -> int:
        """From where the input is to be read once what was handled is committed."""
        return self._reader.positions[self.places.input]

    async def flush(self, producer: TransactionalProducer) -> None:
        """Write what was made since the last commit (``prepareCommit``)."""
        if not self._unsent:
            return
        self._life.reach(Step.PREPARE_COMMIT)  # the store is not written to the disk: that is for a clean close
        self._life.reach(Step.PRODUCE_CHANGELOG)
        changes = self._unsent[self.places.changelog]
        first_offset = await producer.send(self.places.changelog, changes)
        self._logged_offset = first_offset + len(changes) - 1
        self._life.reach(Step.PRODUCE_OUTPUT)
        await producer.send(self.places.output, self._unsent[self.places.output])
        self._unsent.clear()

    def committed(self) -> None:
        """Take note that everything is committed (``postCommit``).

        Only a transactional store takes the writes over now, and their offset with them.
        """
        if self._logged_offset is not None:
            self._stored_offset = self._logged_offset
        self._life.reach(Step.STORE_COMMITTED)
        self._store.commit(self._stored_offset)

    def close_clean(self) -> None:
        """Close after a commit: the store is as the changelog, and its offset is written down."""
        self._life.reach(Step.SUSPEND)
        self._become(TaskState.SUSPENDED)
        self._life.reach(Step.WRITE_CHECKPOINT)
        self._directory.note(self._store, self._stored_offset)
        self._life.reach(Step.CLOSE)
        self._become(TaskState.CLOSED)

    def close_dirty(self) -> None:
        """Close in the middle of a transaction that will not be committed.

        The store is worth nothing any more, unless what was not committed is still in its buffer.
        """
        if self.state in (TaskState.RESTORING, TaskState.RUNNING):
            self._become(TaskState.SUSPENDED)
            self._store.discard()
            if self._rules.buffers_writes:
                self._store.flush()  # as RocksDB does when it is closed
        if self._rules.wipes_unknown and not self._rules.buffers_writes:
            self._directory.wipe()
        self._become(TaskState.CLOSED)

    def content(self) -> dict[str, int]:
        """Return what the store holds, by key."""
        return self._store.content

    def _become(self, state: TaskState) -> None:
        if state not in _NEXT[self.state]:
            raise AssertionError(f"{self.path.name}: {self.state} cannot become {state}")
        self.state = state
