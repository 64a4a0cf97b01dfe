"""Thousands of requests that wait: each is answered once, at its event or its time, and leaves nothing behind."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api import fetch
from eosctl.sandbox.broker.broker import CLIENT_LISTENER, Broker
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.purgatory import ReplicationWait
from eosctl.sandbox.timing_wheel import WheelTimer
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)
FETCH_COUNT, ROUNDS = 4_000, 4
PRODUCE_COUNT = 25_000
MAX_WAIT_MS = 500
FETCH_VERSION = 11


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = Harness(tmp_path, ClusterShape(1))
    EosClient(harness).create_topic("orders", 1)
    yield harness
    harness.close()


def alive(*kinds: type) -> Counter[str]:
    """Count the objects of some classes that are still referred to."""
    gc.collect()
    return Counter(type(found).__name__ for found in gc.get_objects() if type(found) in kinds)


def hosted(harness: Harness) -> Partition:
    return harness.core.broker(1).replicas.partitions[ORDERS]


def ask(broker: Broker, offset: int, answered: Callable[[Any], None]) -> None:
    asked = [FetchTopic("orders", partitions=[FetchPartition(0, -1, offset, partition_max_bytes=1000)])]
    context = RequestContext(
        ApiKey.FETCH, FETCH_VERSION, "many", "127.0.0.1", "User:ANONYMOUS", CLIENT_LISTENER, False, answered
    )
    fetch.handle(broker, context, FetchRequest(max_wait_ms=MAX_WAIT_MS, min_bytes=1, max_bytes=1000, topics=asked))


def test_fetches_are_answered_by_a_record_or_a_timeout(harness: Harness) -> None:
    client, broker, loop = EosClient(harness), harness.core.broker(1), harness.loop
    answered: list[tuple[float, int]] = []
    before = alive(fetch.Fetch, WheelTimer)
    for turn in range(ROUNDS):
        asked_at, end = loop.time(), hosted(harness).log.end_offset
        answered.clear()
        for _ in range(FETCH_COUNT):
            ask(
                broker,
                end,
                lambda answer: answered.append((loop.time(), len(answer.responses[0].partitions[0].records))),
            )
        harness.advance(MAX_WAIT_MS / 2)
        assert not answered
        if turn % 2:
            assert client.produce(None, ORDERS, ["v"]) is ErrorCode.NONE
            harness.advance(1)
        else:
            harness.advance(MAX_WAIT_MS / 2 + 1)
        assert len(answered) == FETCH_COUNT
        assert all((size > 0) is bool(turn % 2) for _, size in answered)
        waits_ms = {round((at - asked_at) * 1000) for at, _ in answered}
        assert waits_ms <= ({MAX_WAIT_MS // 2, MAX_WAIT_MS // 2 + 1} if turn % 2 else {MAX_WAIT_MS, MAX_WAIT_MS + 1})
        assert not hosted(harness).watchers
    harness.advance(10 * MAX_WAIT_MS)
    # Others of this process may begin or end a few.
    assert (alive(fetch.Fetch, WheelTimer) - before).total() < FETCH_COUNT // 100


def test_appends_are_answered_by_the_last_follower_or_a_timeout(harness: Harness) -> None:
    """Waits of random length: the high watermark passes most, others time out, and each completes once."""
    chance = random.Random(20)
    partition, loop = hosted(harness), harness.loop
    deadlines = harness.core.broker(1).replicas.deadlines
    before = alive(ReplicationWait)
    answers_by_offset: dict[int, list[tuple[ErrorCode, float]]] = {}
    due: dict[int, float] = {}
    high_watermark = 0
    for offset in range(PRODUCE_COUNT):
        wait_s = chance.uniform(0.05, 1.0)
        due[offset] = loop.time() + wait_s
        answers_by_offset[offset] = []
        wait = ReplicationWait(
            offset, due[offset], lambda error, offset=offset: answers_by_offset[offset].append((error, loop.time()))
        )
        partition.waits.append(wait)
        deadlines.add(wait)
        if offset % 100 == 99:
            harness.advance(chance.uniform(0, 40))
            reached = min(offset, max(high_watermark, offset - chance.randrange(3_000)))
            high_watermark = reached
            while partition.waits and partition.waits[0].offset < reached:
                partition.waits.popleft().complete(ErrorCode.NONE)
    harness.advance(2_000)
    assert all(len(answers) == 1 for answers in answers_by_offset.values())
    outcomes = Counter(answers[0][0] for answers in answers_by_offset.values())
    assert set(outcomes) == {ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT}
    for offset, ((error, at),) in answers_by_offset.items():
        late_s = at - due[offset]
        assert late_s <= 0.1 if error is ErrorCode.NONE else 0 <= late_s <= 0.1
    partition.fail_waits(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert all(len(answers) == 1 for answers in answers_by_offset.values()), "a timed-out request gets no second answer"
    del wait
    assert alive(ReplicationWait) <= before


def test_what_is_over_is_forgotten_before_the_next_sweep(harness: Harness) -> None:
    deadlines, before = harness.core.broker(1).replicas.deadlines, alive(ReplicationWait)
    for _ in range(1_000):
        wait = ReplicationWait(0, harness.loop.time() + 1, lambda _: None)
        deadlines.add(wait)
        wait.complete(ErrorCode.NONE)
    assert alive(ReplicationWait).total() - before.total() <= 1
