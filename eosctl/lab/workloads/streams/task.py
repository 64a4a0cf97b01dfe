"""One task: a partition of the input, the part of the state that belongs to it, and the results it makes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from eosctl.client.client import Client
from eosctl.client.consumer import EARLIEST, LATEST, IsolationLevel, Reader, list_offset
from eosctl.client.offsets import committed_offsets
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.lab.workloads.streams.rules import Rules, Start, decide_start
from eosctl.lab.workloads.streams.state import TaskDirectory
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.record import Record

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


class StoreView(NamedTuple):
    """A store at a moment of its task.

    Attributes:
        changelog: The partition that it is restored from.
        moment: When: ``restored``, ``standby``, or ``closed``.
        start: What became of the store that the task found.
        kept_offset: Offset of the last changelog record in the store that it found; None if nothing was kept.
        offset: Offset of the last changelog record in it; None if it has none.
        restored_count: Changelog records that were read since it was found.
        content: Its numbers by key.
    """

    changelog: TopicPartition
    moment: str
    start: Start
    kept_offset: int | None
    offset: int | None
    restored_count: int
    content: Mapping[str, int]


class Life(Protocol):
    """Follows a process, and may end it at a step by raising an exception that is not caught."""

    def reach(self, step: Step) -> None:
        """Enter a step."""

    def observe(self, view: StoreView) -> None:
        """Receive the state of a store."""


class TaskState(StrEnum):
    """The states of Streams' tasks (``Task.State``); a standby is one of another class, and here of another state."""

    CREATED = "CREATED"
    STANDBY = "STANDBY"
    RESTORING = "RESTORING"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    CLOSED = "CLOSED"


_NEXT: Final = {
    TaskState.CREATED: {TaskState.RESTORING, TaskState.STANDBY, TaskState.CLOSED},
    TaskState.STANDBY: {TaskState.RESTORING, TaskState.SUSPENDED},
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

Describe = Callable[[Record, str, int], bytes]
"""Returns the value of a change in the changelog and in the output: its number, or a text that ends in ``=NUMBER``."""


def count_words(record: Record, get: Callable[[str], int]) -> tuple[tuple[str, int], ...]:
    """Return the next number of each word of a record."""
    numbers: list[tuple[str, int]] = []
    found: dict[str, int] = {}
    for word in (record.value or b"").decode("utf-8", "replace").split():
        found[word] = found.get(word, get(word)) + 1
        numbers.append((word, found[word]))
    return tuple(numbers)


def describe_number(_record: Record, _key: str, number: int) -> bytes:
    """Return the number of a change."""
    return str(number).encode()


def number_of(value: bytes | None) -> int:
    """Return the number of a change in the changelog.

    >>> number_of(b"7"), number_of(b"line-1|once=7"), number_of(None)
    (7, 7, 0)
    """
    return int((value or b"0").rpartition(b"=")[2])


class Job(NamedTuple):
    """What an application does with a record, and how it writes the result down."""

    process: Process = count_words
    describe: Describe = describe_number


class Task:
    """A task of an instance; every life of it begins with `restore`, or with `stand_by` for a copy of its state.

    Args:
        client: The client.
        places: Its partitions.
        directory: Its local state.
        rules: What keeps that state right.
        sizes: How much it takes at a time.
        job: What it does with a record.
        life: Follows it.
    """

    def __init__(
        self,
        client: Client,
        places: Places,
        directory: TaskDirectory,
        rules: Rules,
        sizes: Sizes,
        job: Job,
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
        self._job = job
        self._life = life
        self._unsent: dict[TopicPartition, list[OutgoingRecord]] = defaultdict(list)
        self._kept_offset: int | None = None
        self._stored_offset: int | None = None
        self._logged_offset: int | None = None

    @property
    def path(self) -> Path:
        """Its directory."""
        return self._directory.path

    async def restore(self) -> None:
        """Bring the store to where the changelog is, wiping it first when it may hold what was aborted."""
        if self.state is TaskState.CREATED:
            self._open()
        self._become(TaskState.RESTORING)
        # Streams asks for the end with READ_UNCOMMITTED and reads up to it with read_committed: it waits for markers.
        to_end = self._rules.restores_to_end
        await self._read_changelog(IsolationLevel.READ_UNCOMMITTED if to_end else IsolationLevel.READ_COMMITTED)
        if self._rules.notes_restoration:
            self._directory.note(self._store, self._stored_offset)
        self._life.reach(Step.RUN)
        self._reader = await self._read_from_committed()
        self._become(TaskState.RUNNING)
        self._observe("restored")

    async def stand_by(self) -> None:
        """Bring a standby's copy of the store to the last stable offset of the changelog."""
        if self.state is TaskState.CREATED:
            self._open()
            self._become(TaskState.STANDBY)
        await self._read_changelog(IsolationLevel.READ_COMMITTED)
        self._observe("standby")

    def _open(self) -> None:
        self._life.reach(Step.LOAD_OFFSET)
        directory = self._directory
        offset = directory.offset
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
        self._stored_offset = self._kept_offset = offset

    def _observe(self, moment: str) -> None:
        if self.start is not None:
            view = StoreView(
                changelog=self.places.changelog,
                moment=moment,
                start=self.start,
                kept_offset=self._kept_offset,
                offset=self._stored_offset,
                restored_count=self.restored_count,
                content=self._store.content,
            )
            self._life.observe(view)

    async def _read_changelog(self, end_isolation: IsolationLevel) -> None:
        place = self.places.changelog
        isolation = IsolationLevel(self._rules.restores_committed)
        end = await list_offset(self._client, place, LATEST, end_isolation)
        known = self._stored_offset
        begin = known + 1 if known is not None else await list_offset(self._client, place, EARLIEST)
        reader = Reader(self._client, isolation, {place: begin})
        while reader.positions[place] < end:
            for record in (await reader.poll(max_wait_ms=_POLL_WAIT_MS)).get(place, ()):
                self._life.reach(Step.RESTORE)
                self._store.put((record.key or b"").decode(), number_of(record.value))
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
            for key, number in self._job.process(record, self._store.get):
                self._life.reach(Step.PUT)
                self._store.put(key, number)
                self._life.reach(Step.LOG_CHANGE)
                change = OutgoingRecord(key.encode(), self._job.describe(record, key, number))
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
        self._observe("closed")
        self._life.reach(Step.CLOSE)
        self._become(TaskState.CLOSED)

    def close_dirty(self) -> None:
        """Close in the middle of a transaction that will not be committed.

        The store is worth nothing any more, unless what was not committed is still in its buffer.
        """
        if self.state in (TaskState.STANDBY, TaskState.RESTORING, TaskState.RUNNING):
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
