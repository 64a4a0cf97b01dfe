"""A world for the coordinator: virtual time, logs in memory, links that can be held."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.transaction.coordinator import TransactionCoordinator
from eosctl.sandbox.coordinator.transaction.producer_ids import ProducerIdManager
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.coordinator.transaction.rules.init_producer_id import Expected
from eosctl.sandbox.ports import (
    TRANSACTION_STATE_TOPIC,
    AppendResult,
    Emulation,
    PartitionLeadership,
    RequestContext,
)
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.allocate_producer_ids import AllocateProducerIdsResponse
from eosctl.wire.records.batch import BatchHeader, decode_header, decode_records, encode_entries

START_MS = 1_700_000_000_000


class VirtualTimer:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None


class VirtualRuntime:
    """Time moves only in ``advance``; work runs in order of arrival."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.time_ms = float(START_MS)
        self.ready: deque[Callable[[], None]] = deque()
        self.timers: list[tuple[float, int, VirtualTimer]] = []
        self.serial = itertools.count()

    def now_ms(self) -> int:
        return int(self.time_ms)

    def call_soon(self, call: Callable[[], None]) -> None:
        self.ready.append(call)

    def call_later(self, delay_ms: float, call: Callable[[], None], pace: Pace = Pace.ACT) -> VirtualTimer:
        timer = VirtualTimer(call)
        heapq.heappush(self.timers, (self.time_ms + delay_ms, next(self.serial), timer))
        return timer

    def run(self) -> None:
        while self.ready:
            self.ready.popleft()()

    def advance(self, delay_ms: float) -> None:
        until = self.time_ms + delay_ms
        self.run()
        while self.timers and self.timers[0][0] <= until:
            due, _, timer = heapq.heappop(self.timers)
            self.time_ms = max(self.time_ms, due)
            if timer.call is not None:
                timer.call()
            self.run()
        self.time_ms = until


class Config:
    def __init__(self, **changes: int | bool | str) -> None:
        self.values: dict[str, int | bool | str] = {
            "transaction.state.log.num.partitions": 5,
            "offsets.topic.num.partitions": 5,
            "transaction.max.timeout.ms": 900_000,
            "transactional.id.expiration.ms": 604_800_000,
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": 10_000,
            "transaction.remove.expired.transaction.cleanup.interval.ms": 3_600_000,
            "transaction.two.phase.commit.enable": False,
            "request.timeout.ms": 30_000,
            "add.partitions.to.txn.retry.backoff.ms": 20,
            "add.partitions.to.txn.retry.backoff.max.ms": 100,
        }
        self.values.update(changes)

    def get_int(self, name: str) -> int:
        return int(self.values[name])

    def get_bool(self, name: str) -> bool:
        return bool(self.values[name])

    def get_str(self, name: str) -> str:
        return str(self.values[name])


class Metadata:
    def __init__(self, transaction_version: int) -> None:
        self.leaders: dict[TopicPartition, PartitionLeadership] = {}
        self.features = {"transaction.version": transaction_version}

    def lead(self, topic: str, count: int, leader_id: int, epoch: int = 0) -> None:
        for index in range(count):
            self.leaders[TopicPartition(topic, index)] = PartitionLeadership(leader_id, epoch)

    def leadership(self, partition: TopicPartition) -> PartitionLeadership | None:
        return self.leaders.get(partition)

    def partition_count(self, topic: str) -> int:
        return sum(partition.topic == topic for partition in self.leaders)

    def finalized_feature(self, name: str) -> int:
        return self.features.get(name, 0)

    def group_settings(self, group_id: str) -> dict[str, str]:
        return {}

    def topic_id(self, topic: str) -> bytes | None:
        return None

    def topic_name(self, topic_id: bytes) -> str | None:
        return None


class Replicas:
    """Logs in memory. ``held`` keeps the callbacks of state appends, ``append_errors`` answers instead of writing."""

    def __init__(self, runtime: VirtualRuntime, logs: dict[TopicPartition, list[bytes]]) -> None:
        self.runtime = runtime
        self.logs = logs
        self.is_held = False
        self.held: list[Callable[[], None]] = []
        self.append_errors: deque[ErrorCode] = deque()
        self.marker_errors: dict[TopicPartition, deque[ErrorCode]] = {}
        self.markers: list[tuple[TopicPartition, int, int, bool, int, int]] = []

    def append_entries(
        self,
        partition: TopicPartition,
        entries: Sequence[tuple[bytes, bytes | None]],
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int,
    ) -> None:
        if self.append_errors:
            error = self.append_errors.popleft()
            self.runtime.call_soon(lambda: done(AppendResult(error)))
            return
        log = self.logs.setdefault(partition, [])
        offset = sum(decode_header(known).records_count for known in log)
        log.append(encode_entries(entries, self.runtime.now_ms(), offset, 0)[1])

        def finish() -> None:
            done(AppendResult(ErrorCode.NONE, offset))

        if self.is_held:
            self.held.append(finish)
        else:
            self.runtime.call_soon(finish)

    def release(self) -> None:
        self.is_held = False
        held, self.held = self.held, []
        for finish in held:
            finish()
        self.runtime.run()

    def append_marker(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        coordinator_epoch: int,
        transaction_version: int,
        done: Callable[[AppendResult], None],
    ) -> None:
        errors = self.marker_errors.get(partition)
        error = errors.popleft() if errors else ErrorCode.NONE
        if error is ErrorCode.NONE:
            self.markers.append(
                (partition, producer_id, producer_epoch, committed, coordinator_epoch, transaction_version)
            )
        done(AppendResult(error))

    def read_all(self, partition: TopicPartition) -> Iterator[tuple[BatchHeader, bytes]]:
        for batch in tuple(self.logs.get(partition, ())):
            yield decode_header(batch), batch


class Channel:
    """Carries encoded requests to handlers; ``blocked`` nodes never answer until released, ``cut`` ones answer None."""

    def __init__(self, runtime: VirtualRuntime) -> None:
        self.runtime = runtime
        self.brokers: dict[int, Any] = {}
        self.blocked: set[int] = set()
        self.cut: set[int] = set()
        self.sent: list[tuple[int, int, Any]] = []
        self.waiting: list[tuple[int, Callable[[], None]]] = []
        self.next_producer_id = 0
        self.block_length = 1000
        self.controller_error: ErrorCode | None = ErrorCode.NONE
        self.controller_requests = 0

    def send(
        self,
        node_id: int,
        api_key: int,
        version: int,
        message: Any,
        done: Callable[[Any | None], None],
        *,
        timeout_ms: int = 30_000,
    ) -> None:
        form = codec(api_key, version)
        request, _ = form.decode_request(form.encode_request(message))
        self.sent.append((node_id, api_key, request))

        def deliver() -> None:
            if node_id in self.cut:
                done(None)
                return

            def reply(response: Any) -> None:
                answer, _ = form.decode_response(form.encode_response(response))
                self.runtime.call_soon(lambda: done(answer))

            context = RequestContext(api_key, version, "", "127.0.0.1", "", "", True, reply)
            handle = __import__(f"eosctl.sandbox.api.{ApiKey(api_key).name.lower()}", fromlist=["handle"]).handle
            handle(self.brokers[node_id], context, request)

        if node_id in self.blocked:
            self.waiting.append((node_id, deliver))
        else:
            self.runtime.call_soon(deliver)

    def unblock(self, node_id: int) -> None:
        self.blocked.discard(node_id)
        waiting, self.waiting = self.waiting, []
        for node, deliver in waiting:
            if node == node_id:
                self.runtime.call_soon(deliver)
            else:
                self.waiting.append((node, deliver))
        self.runtime.run()

    def send_to_controller(
        self, api_key: int, version: int, message: Any, done: Callable[[Any | None], None], *, timeout_ms: int = 30_000
    ) -> None:
        assert api_key == ApiKey.ALLOCATE_PRODUCER_IDS
        self.controller_requests += 1
        if self.controller_error is None:
            self.runtime.call_soon(lambda: done(None))
            return
        if self.controller_error is not ErrorCode.NONE:
            error = self.controller_error
            self.runtime.call_soon(lambda: done(AllocateProducerIdsResponse(error_code=error)))
            return
        first = self.next_producer_id
        self.next_producer_id += self.block_length
        response = AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=self.block_length)
        self.runtime.call_soon(lambda: done(response))


class Broker:
    """One node with its coordinator, as the handlers see it."""

    def __init__(self, world: World, node_id: int) -> None:
        self.node_id = node_id
        self.runtime = world.runtime
        self.config = world.config
        self.emulation = world.emulation
        self.metadata = world.metadata
        self.replicas = Replicas(world.runtime, world.logs)
        self.producer_ids = ProducerIdManager(
            node_id=node_id, runtime=world.runtime, channel=world.channel, broker_epoch=lambda: 1
        )
        self.transactions = TransactionCoordinator(
            runtime=world.runtime,
            config=world.config,
            emulation=world.emulation,
            metadata=world.metadata,
            replicas=self.replicas,
            channel=world.channel,
            producer_ids=self.producer_ids,
        )
        world.channel.brokers[node_id] = self


class World:
    """Brokers over shared logs. Broker 1 leads every partition of the state topic and of ``orders`` at first."""

    def __init__(self, target: str, brokers: int = 1, **settings: int | bool | str) -> None:
        release, level = target.split("-tv")
        self.emulation = Emulation(release)
        self.runtime = VirtualRuntime()
        self.config = Config(**settings)
        self.metadata = Metadata(int(level))
        self.logs: dict[TopicPartition, list[bytes]] = {}
        self.channel = Channel(self.runtime)
        self.metadata.lead(TRANSACTION_STATE_TOPIC, 5, 1)
        self.metadata.lead("orders", 3, 1)
        self.brokers = [Broker(self, number + 1) for number in range(brokers)]
        self.broker = self.brokers[0]
        self.coordinator = self.broker.transactions
        for broker in self.brokers:
            broker.producer_ids.start()
        for index in range(5):
            self.coordinator.become_leader(index, 0)
        self.runtime.run()

    def restart(self, epoch: int = 1) -> TransactionCoordinator:
        """Replace broker 1 by a fresh process that leads everything in a new epoch."""
        self.broker = self.brokers[0] = Broker(self, 1)
        self.coordinator = self.broker.transactions
        self.broker.producer_ids.start()
        for index in range(5):
            self.coordinator.become_leader(index, epoch)
        self.runtime.run()
        return self.coordinator

    def settled(self, answers: list[Answer]) -> Answer:
        self.runtime.run()
        (answer,) = answers
        return answer

    def init(
        self, transactional_id: str | None = "app", expected: tuple[int, int] | None = None, timeout_ms: int = 60_000
    ) -> Answer:
        answers: list[Answer] = []
        self.coordinator.init_producer_id(
            transactional_id, timeout_ms, Expected(*expected) if expected else None, answers.append
        )
        return self.settled(answers)

    def add(self, producer_id: int, epoch: int, *indexes: int, topic: str = "orders", version: int = 0) -> ErrorCode:
        answers: list[Answer] = []
        partitions = frozenset(TopicPartition(topic, index) for index in indexes)
        self.coordinator.add_partitions("app", producer_id, epoch, partitions, version, answers.append)
        return self.settled(answers).error

    def end(self, producer_id: int, epoch: int, committed: bool, version: int = 0) -> Answer:
        answers: list[Answer] = []
        self.coordinator.end_transaction("app", producer_id, epoch, committed, version, answers.append)
        return self.settled(answers)

    def state(self, transactional_id: str = "app") -> Any:
        return self.coordinator.describe(transactional_id)

    def records(self, transactional_id: str = "app") -> list[Any]:
        """Return key and value of every state record of an id's partition."""
        partition = TopicPartition(TRANSACTION_STATE_TOPIC, self.coordinator.states.partition_index(transactional_id))
        return [
            record for batch in self.logs.get(partition, []) for record in decode_records(batch, decode_header(batch))
        ]

    def call(self, api_key: ApiKey, version: int, request: Any, node: int = 1) -> Any:
        """Send a request through its handler and its codec; None when it is not answered."""
        form = codec(api_key, version)
        answers: list[Any] = []
        context = RequestContext(api_key, version, "", "127.0.0.1", "", "", False, answers.append)
        handle = __import__(f"eosctl.sandbox.api.{api_key.name.lower()}", fromlist=["handle"]).handle
        decoded, _ = form.decode_request(form.encode_request(request))
        handle(self.brokers[node - 1], context, decoded)
        self.runtime.run()
        if not answers:
            return None
        (answer,) = answers
        return form.decode_response(form.encode_response(answer))[0]


TARGETS = ("3.9-tv0", "4.3-tv0", "4.3-tv1", "4.3-tv2")


@pytest.fixture(params=TARGETS)
def world(request: pytest.FixtureRequest) -> World:
    """A broker of every emulation and level."""
    return World(request.param)


@pytest.fixture
def make_world() -> Callable[..., World]:
    """Make a world of one's own."""
    return World
