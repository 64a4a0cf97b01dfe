"""The phases of a verification: topics, applications and faults, settling, reading, and clean-up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from eosctl.client import Client
from eosctl.client.consumer import EARLIEST, LATEST, IsolationLevel, Reader, list_offset
from eosctl.client.destinations import Role
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic, require_topic_rights
from eosctl.errors import AuthorizationDenied, EosctlError, UsageError
from eosctl.lab.history.events import Drained, FaultBegan, FaultEnded, Undrained
from eosctl.lab.recording import read_offset, record_values
from eosctl.lab.verify.applications import applications, watch
from eosctl.lab.verify.chain import run_chain
from eosctl.lab.verify.guide import Guide
from eosctl.lab.verify.plan import STREAMS_MODES, PlannedFault, Workload
from eosctl.lab.verify.scene import Scene
from eosctl.lab.verify.streams import run_streams
from eosctl.model.transaction import TopicPartition
from eosctl.text import count_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

_POLL_S: Final = 0.1
_LOOK_MS: Final = 2
_PROGRESS_EVERY_MS: Final = 1_000
TOPIC_RIGHTS: Final = ("Create", "Write", "Read", "Delete")

Progress = Callable[[str], None]
T = TypeVar("T")


class Nemesis(Protocol):
    """Executes the planned faults of its kinds."""

    async def begin(self, fault: PlannedFault) -> None:
        """Start a fault.

        Raises:
            EosctlError: It is not possible now, e.g. because the broker is stopped.
        """

    async def end(self, fault: PlannedFault) -> None:
        """End a fault and undo its effect.

        Raises:
            EosctlError: As for `begin`.
        """

    async def heal(self) -> None:
        """End all faults."""


class Disturbance(NamedTuple):
    """The faults of a run, or the guide that selects them during the run, and their nemesis."""

    faults: tuple[PlannedFault, ...]
    nemesis: Nemesis | None
    guide: Guide | None = None


class Conducted(NamedTuple):
    """Results that are not part of the history.

    Attributes:
        unsettled: Activities that had not ended in time.
        refused_faults: Faults that did not start, with the reasons.
        left_topics: Topics that could not be deleted.
        faults: The faults that started.
    """

    unsettled: tuple[str, ...] = ()
    refused_faults: tuple[str, ...] = ()
    left_topics: tuple[str, ...] = ()
    faults: tuple[PlannedFault, ...] = ()


async def conduct(
    scene: Scene,
    disturbance: Disturbance,
    *,
    keep: bool,
    progress: Progress = lambda _: None,
) -> Conducted:
    """Run all phases; the history is in `scene.recorder`.

    Args:
        scene: The run.
        disturbance: Its faults.
        keep: Keep the topics.
        progress: Receives the progress.

    Raises:
        UsageError: A topic with the run's prefix exists, so nothing is written.
        AuthorizationDenied: The principal lacks a right of the run.
        EosctlError: The topics cannot be created.
    """
    plan = scene.plan
    progress("creating topics")
    async with scene.connect() as client:
        await _create_topics(client, plan.topics, plan.partition_count, plan.replica_count)
    course = _Course(scene, disturbance, progress)
    left: tuple[str, ...] = plan.topics
    try:
        await course.run()
    finally:
        await course.heal()
        if not keep:
            progress("removing topics")
            left = await asyncio.shield(_remove_topics(scene, plan.topics))
    return Conducted(tuple(course.unsettled), tuple(course.refused), () if keep else left, tuple(course.made))


class _Course:
    def __init__(self, scene: Scene, disturbance: Disturbance, progress: Progress) -> None:
        self.scene = scene
        self.disturbance = disturbance
        self.progress = progress
        self.unsettled: list[str] = []
        self.refused: list[str] = []
        self.made: list[PlannedFault] = []

    async def run(self) -> None:
        scene, plan = self.scene, self.scene.plan
        chance = random.Random(f"applications {plan.seed}")
        writers = {
            name: asyncio.ensure_future(self._live(name, application(scene, random.Random(chance.getrandbits(64)))))
            for name, application in applications(scene)
        }
        everyone = dict(writers)
        writing: Callable[[], bool] = lambda: not all(task.done() for task in writers.values())  # noqa: E731
        if Workload.CHAIN in plan.workloads:
            chain_chance = random.Random(chance.getrandbits(64))
            everyone["chain"] = asyncio.ensure_future(self._live("chain", run_chain(scene, chain_chance, writing)))
        if Workload.STREAMS in plan.workloads:
            for mode in STREAMS_MODES:
                streams_chance = random.Random(chance.getrandbits(64))
                running = run_streams(scene, streams_chance, mode, writing)
                everyone[f"streams-{mode}"] = asyncio.ensure_future(self._live(f"streams-{mode}", running))
        working = tuple(everyone.values())
        is_idle = lambda: all(task.done() for task in working)  # noqa: E731
        for topic in plan.topics:
            reading = watch(scene, topic, is_idle)
            everyone[f"reader of {topic}"] = asyncio.ensure_future(self._live(f"reader of {topic}", reading))
        clock = asyncio.ensure_future(self._count_down())
        faults = asyncio.ensure_future(self._disturb())
        try:
            await self._watch_over(everyone, clock)
            await faults
            await self.heal()
            self.progress("waiting for the applications to finish")
            await self._wait_for(everyone)
            self.progress("settling transactions and reading everything")
            await self._bounded("settling the transactional ids", self._settle())
            await self._bounded("reading what is committed", self._read_everything())
        finally:
            scene.over.set()  # Threads of other clients read it.
            for task in (clock, faults, *everyone.values()):
                task.cancel()
            await asyncio.gather(clock, faults, *everyone.values(), return_exceptions=True)

    async def _count_down(self) -> None:
        plan, now_ms = self.scene.plan, self.scene.recorder.now_ms
        began_ms = now_ms()
        while (passed_ms := now_ms() - began_ms) < plan.duration_ms:
            self.progress(f"{passed_ms // 1000} of {plan.duration_ms // 1000} s")
            await asyncio.sleep(min(_PROGRESS_EVERY_MS, plan.duration_ms - passed_ms) / 1000)
        self.scene.over.set()

    async def _watch_over(self, everyone: Mapping[str, asyncio.Future[None]], clock: asyncio.Future[None]) -> None:
        """Wait for the end of the run; an application that fails earlier ends the run with its error."""
        pending: set[asyncio.Future[None]] = {clock, *everyone.values()}
        while not clock.done():
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()

    async def _wait_for(self, everyone: Mapping[str, asyncio.Future[None]]) -> None:
        done, pending = await asyncio.wait(everyone.values(), timeout=self.scene.plan.settle_ms / 1000)
        for task in done:
            task.result()
        late = [name for name, task in everyone.items() if task in pending]
        if late:
            others = f" and {count_text(len(late) - 3, 'other')}" if len(late) > 3 else ""
            self.unsettled.append(f"{', '.join(late[:3])}{others} did not finish")
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _bounded(self, what: str, work: Awaitable[None]) -> None:
        try:
            async with asyncio.timeout(self.scene.plan.settle_ms / 1000):
                await work
        except TimeoutError:
            self.unsettled.append(f"{what} took longer than {self.scene.plan.settle_ms // 1000} s")

    async def _disturb(self) -> None:
        nemesis, record, now_ms = self.disturbance.nemesis, self.scene.recorder.record, self.scene.recorder.now_ms
        if nemesis is None:
            return
        async for fault in self._faults(now_ms()):
            if self.scene.is_over():
                return
            self.made.append(fault)
            number = len(self.made)
            target = str(fault.target) if fault.target else "all"
            # Record it before, since the fault may take effect before the response.
            record(FaultBegan(now_ms(), number, fault.kind, target))
            try:
                await nemesis.begin(fault)
                await self.scene.pause(fault.duration_ms)
                await nemesis.end(fault)
            except EosctlError as error:
                self.refused.append(f"{fault}: {error.what}")
                await self.heal()
            record(FaultEnded(now_ms(), number, fault.kind, target))

    async def _faults(self, began_ms: int) -> AsyncIterator[PlannedFault]:
        """Yield each fault at its time."""
        scene, guide, now_ms = self.scene, self.disturbance.guide, self.scene.recorder.now_ms
        if guide is None:
            for fault in self.disturbance.faults:
                await scene.pause(began_ms + fault.at_ms - now_ms())
                yield fault
            return
        while not scene.is_over():
            await scene.pause(guide.pause_ms())
            fault = guide.choose(max(0, scene.plan.duration_ms - (now_ms() - began_ms)))
            patience_ms = now_ms() + guide.patience_ms
            while not (guide.is_the_moment(fault.kind) or scene.is_over()) and now_ms() < patience_ms:
                await scene.pause(_LOOK_MS)
            yield fault._replace(at_ms=now_ms() - began_ms)

    async def heal(self) -> None:
        """End all faults; report those that cannot be undone, and continue."""
        if self.disturbance.nemesis is None:
            return
        try:
            await self.disturbance.nemesis.heal()
        except EosctlError as error:
            self.unsettled.append(f"a fault could not be undone: {error.what}")

    async def _live(self, name: str, work: Awaitable[None]) -> None:
        """Run an application; its failure does not end the others, but a missing right ends the run."""
        try:
            await work
        except AuthorizationDenied:
            raise
        except EosctlError as error:
            self.unsettled.append(f"{name} broke down: {error.what}")

    async def _settle(self) -> None:
        """End every open transaction by initializing its id."""
        async with self.scene.client() as client:
            for transactional_id in sorted(self.scene.transactional_ids):
                producer = TransactionalProducer(client, transactional_id, now_ms=self.scene.now_ms)
                while True:
                    try:
                        await producer.init_transactions()
                        break
                    except AuthorizationDenied:
                        raise
                    except EosctlError:
                        await asyncio.sleep(_POLL_S)

    async def _read_everything(self) -> None:
        scene = self.scene
        deadline_ms = scene.recorder.now_ms() + scene.plan.settle_ms // 2
        async with scene.client() as client:
            for topic in scene.plan.topics:
                for index in range(scene.plan.partition_count):
                    await self._drain(client, TopicPartition(topic, index), deadline_ms)
            if Workload.CHAIN in scene.plan.workloads:
                for hop in range(scene.plan.hops):
                    for place in scene.partitions(f"hop-{hop}"):
                        await _until_done(
                            partial(read_offset, client, scene.recorder, "auditor", scene.group(hop), place)
                        )

    async def _drain(self, client: Client, place: TopicPartition, deadline_ms: int) -> None:
        """Read a partition to its end; record if read_committed consumers cannot reach it in time."""
        recorder = self.scene.recorder
        stable, end = 0, -1
        while stable != end:
            end = await _until_done(lambda: list_offset(client, place, LATEST))
            stable = await _until_done(lambda: list_offset(client, place, LATEST, IsolationLevel.READ_COMMITTED))
            if recorder.now_ms() > deadline_ms:
                break
            if stable != end:
                await asyncio.sleep(_POLL_S)
        start = await _until_done(lambda: list_offset(client, place, EARLIEST))
        reader = Reader(client, IsolationLevel.READ_COMMITTED, {place: start})
        while reader.positions[place] < stable:
            found = await _until_done(lambda: reader.poll(max_wait_ms=100))
            record_values(recorder, "auditor", place, found.get(place, ()))
        if stable == end:
            recorder.record(Drained(recorder.now_ms(), "auditor", place))
        else:
            recorder.record(Undrained(recorder.now_ms(), "auditor", place, stable, end))


async def _until_done(ask: Callable[[], Awaitable[T]]) -> T:
    """Repeat a request until it succeeds; the caller limits the time."""
    while True:
        try:
            return await ask()
        except AuthorizationDenied:
            raise
        except EosctlError:
            await asyncio.sleep(_POLL_S)


async def _create_topics(
    client: Client, topics: Sequence[str], partition_count: int, replica_count: int | None
) -> None:
    there = {topic.name for topic in (await client.refresh_metadata(None)).topics}
    if taken := sorted(there & set(topics)):
        raise UsageError(
            f"The topic {taken[0]} exists already.",
            "A verification writes only to topics that it has created itself.",
            "Choose another --prefix, or remove the topics of an earlier run that was kept.",
        )
    await require_topic_rights(client, topics, TOPIC_RIGHTS)
    for topic in topics:
        await ensure_topic(client, topic, partition_count=partition_count, replica_count=replica_count)


async def _remove_topics(scene: Scene, topics: Sequence[str]) -> tuple[str, ...]:
    """Delete topics, and return those that remain."""
    left = set(topics)
    try:
        async with asyncio.timeout(scene.plan.settle_ms / 1000), scene.client() as client:
            request = DeleteTopicsRequest(
                topic_names=list(topics),
                topics=[DeleteTopicState(name=topic) for topic in topics],
                timeout_ms=client.config.request_timeout_ms,
            )
            answer = await client.request(Role.CONTROLLER, ApiKey.DELETE_TOPICS, request)
            left -= {result.name for result in answer.responses if not result.error_code}
    except (EosctlError, TimeoutError):
        pass
    return tuple(sorted(left))
