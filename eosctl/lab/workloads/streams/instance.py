"""One instance of the application: a stream thread with its producer, its tasks and the loop over them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eosctl.client.client import Client
from eosctl.client.ports import WallClock
from eosctl.client.producer import TransactionalProducer
from eosctl.client.producer_errors import ProducerFenced
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, TransactionDialect
from eosctl.errors import AuthorizationDenied, EosctlError
from eosctl.lab.workloads.streams.rules import STREAMS_4_3, Rules
from eosctl.lab.workloads.streams.state import TaskDirectory
from eosctl.lab.workloads.streams.task import DEFAULT_SIZES, Job, Life, Places, Sizes, Step, Task, TaskState
from eosctl.model.transaction import TopicPartition

_STORE: Final = "counts"
COUNT_WORDS: Final = Job()
#: Pause of a standby that has reached the end of the changelog.
_STANDBY_S: Final = 0.1
#: Pause of tasks without input.
_IDLE_S: Final = 0.02

MakeProducer = Callable[[Client], TransactionalProducer]
"""Opens the producer of an instance."""


@dataclass(frozen=True, slots=True)
class StreamsPlan:
    """A word count: input → store with changelog → output, task by task.

    Attributes:
        application_id: ``application.id``: names group, changelog and transactional ids.
        input_topic: What is read.
        output_topic: Where results go; as many partitions as the input.
        partitions: Numbers of the partitions, and so of the tasks, that this instance has.
        state_dir: ``state.dir``.
        process_id: What Streams keeps in the state directory across restarts, so that a restarted instance fences
            what it was before by its transactional id.
        rules: What keeps local state right.
        sizes: How much a task takes at a time.
        transaction_timeout_ms: ``transaction.timeout.ms``; 10 s as for Streams.
        dialect: The protocol level; None for what the cluster has finalized.
        job: What is done with a record.
    """

    application_id: str
    input_topic: str
    output_topic: str
    partitions: tuple[int, ...]
    state_dir: Path
    process_id: str = "process"
    rules: Rules = STREAMS_4_3
    sizes: Sizes = DEFAULT_SIZES
    transaction_timeout_ms: int = 10_000
    dialect: TransactionDialect | None = None
    job: Job = COUNT_WORDS

    @property
    def changelog_topic(self) -> str:
        """The topic that the store is restored from, named as Streams does."""
        return f"{self.application_id}-{_STORE}-changelog"

    @property
    def transactional_id(self) -> str:
        """The id of the instance's only stream thread under exactly_once_v2."""
        return f"{self.application_id}-{self.process_id}-1"

    def places(self, partition: int) -> Places:
        """Return the partitions of a task."""
        return Places(
            TopicPartition(self.input_topic, partition),
            TopicPartition(self.changelog_topic, partition),
            TopicPartition(self.output_topic, partition),
            self.application_id,
        )

    def directory(self, partition: int) -> TaskDirectory:
        """Return where a task keeps its state."""
        path = self.state_dir / self.application_id / f"0_{partition}"
        return TaskDirectory(path, _STORE, self.places(partition).changelog, self.rules.offsets_in)


class Instance:
    """A process of the application. A restart is another instance with the same plan.

    The tasks of an instance are given to it; members of a group would divide them among themselves.

    Args:
        client: The client.
        plan: What it does.
        now_ms: Dates the records.
        life: Follows it; may end the process at a step.
        make_producer: Opens its producer; by default one with the transactional id of the plan.
    """

    def __init__(
        self,
        client: Client,
        plan: StreamsPlan,
        *,
        now_ms: WallClock,
        life: Life,
        make_producer: MakeProducer | None = None,
    ) -> None:
        self._client = client
        self._plan = plan
        self._now_ms = now_ms
        self._life = life
        self._make_producer = make_producer or self._open_producer
        self.tasks: tuple[Task, ...] = ()

    async def run(self, is_over: Callable[[], bool]) -> Mapping[int, Mapping[str, int]]:
        """Work until it is over and nothing is left of the input; close cleanly and return each task's state.

        After any error in a transaction, its tasks restart from the committed state with a new producer,
        as Streams does with corrupted tasks; the caller bounds the time.

        Raises:
            AuthorizationDenied: The principal lacks a right.
            ProducerFenced: Another instance has this one's transactional id (Streams: ``TaskMigratedException``).
        """
        while True:
            try:
                return await self._live(is_over)
            except (AuthorizationDenied, ProducerFenced):
                self._close_dirty()
                raise
            except EosctlError:
                self._close_dirty()

    async def stand_by(self, is_over: Callable[[], bool]) -> None:
        """Keep copies of all stores, until it is over; `run` continues with them."""
        self.tasks = tuple(self._task(partition) for partition in self._plan.partitions)
        while not is_over():
            with contextlib.suppress(EosctlError):  # The next round continues where this one stopped.
                for task in self.tasks:
                    await task.stand_by()
            await asyncio.sleep(_STANDBY_S)

    async def _live(self, is_over: Callable[[], bool]) -> Mapping[int, Mapping[str, int]]:
        if not self.tasks or any(task.state is not TaskState.STANDBY for task in self.tasks):
            self.tasks = tuple(self._task(partition) for partition in self._plan.partitions)
        self._life.reach(Step.INITIALIZE)
        producer = self._make_producer(self._client)
        await producer.init_transactions()
        for task in self.tasks:
            await task.restore()
        while True:
            over = is_over()  # before looking: what is there now is still handled
            handled = [await task.poll_and_process() for task in self.tasks]
            if any(handled):
                await self._commit(producer)
            elif over:
                break
            else:
                await asyncio.sleep(_IDLE_S)
        for task in self.tasks:
            task.close_clean()
        return {task.places.input.partition: task.content() for task in self.tasks}

    async def _commit(self, producer: TransactionalProducer) -> None:
        for task in self.tasks:
            await task.flush(producer)
        self._life.reach(Step.ADD_OFFSETS)
        offsets = {task.places.input: OffsetToCommit(task.input_offset) for task in self.tasks}
        await producer.send_offsets(GroupIdentity(self._plan.application_id), offsets)
        self._life.reach(Step.COMMIT)
        await producer.commit()
        self._life.reach(Step.COMMITTED)
        for task in self.tasks:
            task.committed()

    def _open_producer(self, client: Client) -> TransactionalProducer:
        return TransactionalProducer(
            client,
            self._plan.transactional_id,
            now_ms=self._now_ms,
            transaction_timeout_ms=self._plan.transaction_timeout_ms,
            dialect=self._plan.dialect,
        )

    def _task(self, partition: int) -> Task:
        plan = self._plan
        directory, places = plan.directory(partition), plan.places(partition)
        return Task(
            client=self._client,
            places=places,
            directory=directory,
            rules=plan.rules,
            sizes=plan.sizes,
            job=plan.job,
            life=self._life,
        )

    def _close_dirty(self) -> None:
        for task in self.tasks:
            task.close_dirty()
