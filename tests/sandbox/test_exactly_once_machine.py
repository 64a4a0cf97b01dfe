"""Random conversations of live and stale producers, commits, aborts, timeouts and crashes against a simple model.

The model keeps, for each partition, every acknowledged record with the transaction that it belongs to. What a
read_committed reader sees must be: all records before the first one of an open transaction, without the aborted ones.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient, Handle
from tests.sandbox.harness import Harness

PARTITIONS = [TopicPartition("orders", 0), TopicPartition("orders", 1)]
IDS = ("a", "b")
TIMEOUT_MS = 10_000
MAX_CRASHES = 4  # a restart costs as much as fifty requests
FEW_PARTITIONS = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "broker.heartbeat.interval.ms": "1000",
    "broker.session.timeout.ms": "1500",
    "metadata.max.idle.interval.ms": "0",
}
REMEMBERED_BATCHES = 5  # batches that a broker recognizes as duplicates, and that a producer may have in flight
FENCED = {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED}
#: What an application hears after its transaction timed out, by API and version.
LOST = FENCED | {ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE}

SETTINGS = settings(
    max_examples=300,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def examples(count: int) -> settings:
    """Return the settings for so many examples; the profile `prove` runs a hundred times as many."""
    return settings(SETTINGS, max_examples=settings.default.max_examples // 100 * count)


@dataclass
class Transaction:
    outcome: str = "open"


@dataclass(eq=False)
class Producer:
    handle: Handle
    is_live: bool = True
    transaction: Transaction | None = None
    timed_out: bool = False


@dataclass
class Log:
    entries: list[tuple[str, Transaction | None]] = field(default_factory=list)

    def visible(self) -> list[str]:
        seen = []
        for value, transaction in self.entries:
            if transaction is not None and transaction.outcome == "open":
                break
            if transaction is None or transaction.outcome == "committed":
                seen.append(value)
        return seen


class ExactlyOnce(RuleBasedStateMachine):
    release = "4.3"
    transaction_version: int | None = 1
    implicit = False

    producers = Bundle("producers")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shape = ClusterShape(1, Emulation(self.release), self.transaction_version, FEW_PARTITIONS)
        self.harness = Harness(self.folder, shape)
        self.client = EosClient(self.harness, implicit=self.implicit)
        self.logs = {partition: Log() for partition in PARTITIONS}
        self.instances: dict[str, list[Producer]] = {name: [] for name in IDS}
        self.count = 0
        self.crash_count = 0

    def teardown(self) -> None:
        self.harness.close()
        shutil.rmtree(self.folder)

    @initialize()
    def create(self) -> None:
        self.client.create_topic("orders", len(PARTITIONS))

    def values(self, count: int) -> list[str]:
        self.count += count
        return [f"v{number}" for number in range(self.count - count, self.count)]

    @rule(target=producers, name=st.sampled_from(IDS))
    def init(self, name: str) -> Producer:
        handle = self.client.init(name, TIMEOUT_MS)
        for older in self.instances[name]:
            if older.transaction is not None:
                older.transaction.outcome = "aborted"
                older.transaction = None
            same = older.handle.producer_id == handle.producer_id
            assert not same or older.handle.producer_epoch < handle.producer_epoch
            older.is_live = older.timed_out = False
        producer = Producer(handle)
        self.instances[name].append(producer)
        return producer

    @rule(producer=producers, partition=st.sampled_from(PARTITIONS), count=st.integers(1, 3))
    def produce(self, producer: Producer, partition: TopicPartition, count: int) -> None:
        values = self.values(count)
        error = self.client.produce(producer.handle, partition, values)
        if not producer.is_live:
            assert error in LOST, error
            return
        assert error is ErrorCode.NONE, error
        if producer.transaction is None:
            producer.transaction = Transaction()
        self.logs[partition].entries += [(value, producer.transaction) for value in values]

    @rule(producer=producers, partition=st.sampled_from(PARTITIONS), back=st.integers(1, REMEMBERED_BATCHES))
    def repeat(self, producer: Producer, partition: TopicPartition, back: int) -> None:
        """Send one of the last five batches again, as after a lost answer: the same answer, and no new record."""
        if not producer.is_live:
            return
        if producer.transaction is None:
            self.produce(producer, partition, 1)
        sent = producer.handle.batches.setdefault(partition, [])
        while len(sent) < back:
            self.produce(producer, partition, 1)
        again = self.client.append(partition, sent[-back].batch, producer.handle.transactional_id)
        assert again is not None
        assert (again.error_code, again.base_offset) == (ErrorCode.NONE, sent[-back].base_offset)

    @precondition(lambda self: not self.implicit)
    @rule(producer=producers, partition=st.sampled_from(PARTITIONS))
    def produce_outside_of_a_transaction(self, producer: Producer, partition: TopicPartition) -> None:
        """A record without its partition in the transaction would hang for ever; brokers ask first (KIP-890)."""
        handle = producer.handle
        if not producer.is_live or partition in handle.added:
            return
        batch = encode_batch(
            [Record(0, self.harness.core.brokers()[0].runtime.now_ms(), None, b"stray")],
            producer_id=handle.producer_id,
            producer_epoch=handle.producer_epoch,
            base_sequence=handle.sequences.get(partition, 0),
            transactional=True,
        )
        refused = self.client.append(partition, batch, handle.transactional_id)
        assert refused is not None
        assert refused.error_code == ErrorCode.INVALID_TXN_STATE

    @rule(partition=st.sampled_from(PARTITIONS))
    def produce_plain(self, partition: TopicPartition) -> None:
        (value,) = self.values(1)
        assert self.client.produce(None, partition, [value]) is ErrorCode.NONE
        self.logs[partition].entries.append((value, None))

    @rule(producer=producers, commit=st.booleans())
    def end(self, producer: Producer, commit: bool) -> None:
        before = producer.handle.producer_id, producer.handle.producer_epoch
        error = self.client.end(producer.handle, commit=commit)
        if producer.timed_out and self.implicit and not commit:
            # The abort has already happened; repeating it returns the epoch to continue with (KIP-890).
            assert error is ErrorCode.NONE, error
            producer.is_live, producer.timed_out = True, False
        elif not producer.is_live:
            assert error in LOST, error
        elif producer.transaction is not None:
            assert error is ErrorCode.NONE, error
            producer.transaction.outcome = "committed" if commit else "aborted"
            producer.transaction = None
            bumped = before[0], before[1] + int(self.implicit)
            assert (producer.handle.producer_id, producer.handle.producer_epoch) == bumped
        # Without a transaction the answer depends on the version and on what ended last; it must change nothing.

    @rule()
    def time_out(self) -> None:
        """Let every open transaction time out; its producer cannot continue."""
        self.harness.advance(TIMEOUT_MS + 1000)
        for producers in self.instances.values():
            for producer in producers:
                if producer.transaction is not None:
                    producer.transaction.outcome = "aborted"
                    producer.transaction = None
                    producer.is_live, producer.timed_out = False, True

    @precondition(lambda self: self.crash_count < MAX_CRASHES)
    @rule()
    def crash_and_recover(self) -> None:
        self.crash_count += 1
        self.harness.kill(1)
        self.harness.restart(1)
        for producer in (producer for producers in self.instances.values() for producer in producers):
            for sent in producer.handle.batches.values():
                del sent[:-1]  # a producer snapshot remembers the last batch alone

    @invariant()
    def readers_see_what_was_committed(self) -> None:
        if not self.harness.core.broker(1).metadata.partition_count("orders"):
            return
        self.harness.advance(1)
        for partition, log in self.logs.items():
            assert self.client.read(partition) == log.visible()
            assert self.client.read(partition, committed=False) == [value for value, _ in log.entries]


class ExactlyOnceOn39(ExactlyOnce):
    release = "3.9"
    transaction_version = None


class ExactlyOnceImplicit(ExactlyOnce):
    """transaction.version 2: partitions are added by the broker, every end bumps the epoch."""

    transaction_version = 2
    implicit = True


@pytest.mark.parametrize(("machine", "count"), [(ExactlyOnce, 20), (ExactlyOnceOn39, 12), (ExactlyOnceImplicit, 18)])
def test_the_core_is_exactly_once(machine: type[ExactlyOnce], count: int) -> None:
    """A planted bug takes 9 examples at most (test_planted_bugs)."""
    run_state_machine_as_test(machine, settings=examples(count))
