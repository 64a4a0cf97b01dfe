"""A group coordinator with a virtual clock, an in-memory log and real request handlers."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.ports import (
    CONSUMER_OFFSETS_TOPIC,
    AppendResult,
    Emulation,
    PartitionLeadership,
    RequestContext,
)
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import BatchHeader, decode_header, with_offset
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch

SETTINGS = {
    "group.min.session.timeout.ms": 1000,
    "group.max.session.timeout.ms": 1_800_000,
    "group.initial.rebalance.delay.ms": 0,
    "group.max.size": 2**31 - 1,
    "offset.metadata.max.bytes": 4096,
    "offsets.commit.timeout.ms": 5000,
    "offsets.topic.num.partitions": 5,
    "offsets.retention.minutes": 10080,
    "offsets.retention.check.interval.ms": 600_000,
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.heartbeat.interval.ms": 5000,
    "group.consumer.assignment.interval.ms": 1000,
    "group.consumer.max.size": 2**31 - 1,
    "group.consumer.regex.refresh.interval.ms": 600_000,
    "group.consumer.assignors": "uniform,range",
    "group.consumer.migration.policy": "bidirectional",
}


class Clock:
    """Timers over a virtual clock; ``call_soon`` work runs when the harness drains it."""

    def __init__(self) -> None:
        self.time_ms = 1_700_000_000_000
        self.random = random.Random(7)
        self.soon: deque[Callable[[], None]] = deque()
        self._due: list[tuple[float, int, Callable[[], None], list[bool]]] = []
        self._order = itertools.count()

    def now_ms(self) -> int:
        return self.time_ms

    def call_soon(self, call: Callable[[], None]) -> None:
        self.soon.append(call)

    def call_later(self, delay_ms: float, call: Callable[[], None], pace: Pace = Pace.ACT) -> Any:
        cancelled = [False]
        heapq.heappush(self._due, (self.time_ms + delay_ms, next(self._order), call, cancelled))

        class Handle:
            def cancel(self) -> None:
                cancelled[0] = True

        return Handle()

    def drain(self) -> None:
        while self.soon:
            self.soon.popleft()()

    def advance(self, delay_ms: int) -> None:
        end = self.time_ms + delay_ms
        self.drain()
        while self._due and self._due[0][0] <= end:
            due, _, call, cancelled = heapq.heappop(self._due)
            self.time_ms = int(max(due, self.time_ms))
            if not cancelled[0]:
                call()
            self.drain()
        self.time_ms = end


class Log:
    """The replica manager: keeps batches with their offsets; can refuse appends or hold their acknowledgement."""

    def __init__(self) -> None:
        self.batches: dict[TopicPartition, list[bytes]] = {}
        self.error = ErrorCode.NONE
        self.holds = False
        self.held: deque[Callable[[], None]] = deque()
        self.needs_verification = False
        self.guards: list[object | None] = []

    def log_end_offset(self, partition: TopicPartition) -> int:
        batches = self.batches.get(partition)
        return decode_header(batches[-1]).last_offset + 1 if batches else 0

    def store(self, partition: TopicPartition, batch: bytes) -> int:
        base_offset = self.log_end_offset(partition)
        self.batches.setdefault(partition, []).append(with_offset(batch, base_offset, 0))
        return base_offset

    def append_internal(
        self,
        partition: TopicPartition,
        batch: bytes,
        done: Callable[[AppendResult], None],
        *,
        timeout_ms: int = 5000,
        guard: object | None = None,
    ) -> None:
        self.guards.append(guard)
        if self.error is not ErrorCode.NONE:
            done(AppendResult(self.error))
            return
        base_offset = self.store(partition, batch)
        if self.holds:
            self.held.append(lambda: done(AppendResult(ErrorCode.NONE, base_offset)))
        else:
            done(AppendResult(ErrorCode.NONE, base_offset))

    def release(self) -> None:
        while self.held:
            self.held.popleft()()

    def begin_verification(
        self, partition: TopicPartition, producer_id: int, producer_epoch: int, *, adds_partition: bool = False
    ) -> object | ErrorCode | None:
        return object() if self.needs_verification else None

    def read_all(self, partition: TopicPartition) -> Iterator[tuple[BatchHeader, bytes]]:
        for batch in self.batches.get(partition, ()):
            yield decode_header(batch), batch


class Metadata:
    """Two topics and the offsets topic, all led by node 1."""

    def __init__(self) -> None:
        self.counts = {"orders": 2, "payments": 1, CONSUMER_OFFSETS_TOPIC: 5}
        self.ids = {name: name.encode().ljust(16, b"\1")[:16] for name in self.counts}

    @property
    def topics(self) -> dict[str, int]:
        return self.counts

    def leadership(self, partition: TopicPartition) -> PartitionLeadership | None:
        return PartitionLeadership(1, 0) if partition.partition < self.partition_count(partition.topic) else None

    def partition_count(self, topic: str) -> int:
        return self.counts.get(topic, 0)

    def topic_id(self, topic: str) -> bytes | None:
        return self.ids.get(topic)

    def topic_name(self, topic_id: bytes) -> str | None:
        return next((name for name, known in self.ids.items() if known == topic_id), None)

    def partition_racks(self, topic: str) -> tuple[tuple[str, ...], ...]:
        return ((),) * self.partition_count(topic)

    def finalized_feature(self, name: str) -> int:
        return 2

    def group_settings(self, group_id: str) -> dict[str, str]:
        return {}


class Config:
    def __init__(self) -> None:
        self.values: dict[str, Any] = dict(SETTINGS)

    def get_int(self, name: str) -> int:
        return int(self.values[name])

    def get_bool(self, name: str) -> bool:
        return bool(self.values[name])

    def get_str(self, name: str) -> str:
        return str(self.values[name])


class Verifier:
    """Answers every verification with one code."""

    def __init__(self) -> None:
        self.error = ErrorCode.NONE
        self.asked: list[tuple[Any, ...]] = []

    def verify_partition(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partition: TopicPartition,
        *,
        add_partition: bool,
        done: Callable[[ErrorCode], None],
        renew: Callable[[], ErrorCode | None],
        knows_abortable: bool = True,
    ) -> None:
        self.asked.append((transactional_id, producer_id, producer_epoch, partition, add_partition, knows_abortable))
        done(self.error)


class Broker:
    """What handlers and coordinator need, and a way to ask it."""

    def __init__(self, release: str) -> None:
        self.node_id = 1
        self.runtime = Clock()
        self.config = Config()
        self.emulation = Emulation(release)
        self.metadata = Metadata()
        self.replicas = Log()
        self.verification = Verifier()
        self.groups = GroupCoordinator(self)
        self.elect()

    def elect(self) -> None:
        for index in range(5):
            self.groups.become_leader(index, 0)
        self.runtime.drain()

    def restart(self) -> None:
        """Lose everything but the log."""
        for index in range(5):
            self.groups.resign(index, None)
        self.groups = GroupCoordinator(self)
        self.elect()

    def send(self, version: int, request: Any, client_id: str = "A") -> list[Any]:
        """Hand a request to its handler; the list holds the answer as soon as there is one."""
        name = type(request).__name__.removesuffix("Request")
        api_key = next(key for key in ApiKey if key.name.replace("_", "") == name.upper())
        wire = codec(api_key, version)
        answers: list[Any] = []

        def reply(response: Any) -> None:
            answers.append(wire.decode_response(wire.encode_response(response), 0)[0])

        context = RequestContext(api_key, version, client_id, "127.0.0.1", "User:ANONYMOUS", "CLIENT", False, reply)
        received, _ = wire.decode_request(wire.encode_request(request), 0)
        import_module(f"eosctl.sandbox.api.{api_key.name.lower()}").handle(self, context, received)
        return answers

    def ask(self, version: int, request: Any, client_id: str = "A") -> Any:
        """Send a request, fire expired timers, and return the answer."""
        answers = self.send(version, request, client_id)
        self.runtime.advance(0)
        assert len(answers) == 1
        return answers[0]

    def partition_of(self, group_id: str) -> TopicPartition:
        return TopicPartition(CONSUMER_OFFSETS_TOPIC, self.groups.partition_for(group_id))

    def end_transaction(self, group_id: str, producer_id: int, committed: bool, producer_epoch: int = 0) -> None:
        """Write the marker of a transaction to a group's partition, as WriteTxnMarkers does."""
        partition = self.partition_of(group_id)
        marker = EndTxnMarker(committed, 0)
        self.replicas.store(partition, encode_marker_batch(marker, producer_id, producer_epoch, self.runtime.time_ms))
        self.groups.marker_written(partition.partition, producer_id, producer_epoch, committed)


@pytest.fixture(params=["3.9", "4.3", "4.4"])
def broker(request: pytest.FixtureRequest) -> Broker:
    return Broker(request.param)


@pytest.fixture
def new_broker() -> Callable[[str], Broker]:
    return Broker
