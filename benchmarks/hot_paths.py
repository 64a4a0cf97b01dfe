"""Count the executed bytecodes of the hottest paths, independent of the machine's load.

    python -m benchmarks.hot_paths           the counts with their limits
    python -m benchmarks.hot_paths --lock    make today's counts the limits (benchmarks/hot_paths.toml)

tests/architecture/test_hot_paths.py compares them: a path that grew by more than 2 % fails. Work in C (checksums,
compression, struct) is not seen; that is what the other benchmarks are for. Counted on Python 3.11, the oldest that is
supported; its successors execute fewer bytecodes.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.storage.scan import scan_log
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import FrameSplitter
from eosctl.wire.internal import offsets, transaction_log
from eosctl.wire.internal.transaction_log import TransactionKey, TransactionPartitions, TransactionValue
from eosctl.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey, OffsetCommitValue
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import decode_header, decode_records, encode_batch, iter_headers, with_offset
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.sandbox.harness import Harness

LIMITS = Path(__file__).with_name("hot_paths.toml")
TOLERANCE = 1.02
NOW_MS = 1_790_000_000_000
TOPIC = "hot"

Operation = Callable[[], object]


def bytecodes(operation: Operation) -> int:
    """Count the executed bytecodes of an operation; restore an existing tracer."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "opcode":
            count += 1
        else:
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        operation()
    finally:
        sys.settrace(before)
    return count


class Transactions:
    """A producer of one-record transactions on in-memory brokers with full replication."""

    def __init__(self, directory: Path, *, implicit: bool, brokers: int = 1) -> None:
        self._harness = Harness(directory, ClusterShape(brokers))
        self._implicit = implicit
        self._sequence = 0
        self._coordinator = 1
        topic = CreatableTopic(TOPIC, 1, brokers, (), [])
        self._ask(ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([topic], 1000))
        while (found := self._ask(ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("id", 1))).error_code:
            self._harness.advance(20)
        self._coordinator = found.node_id
        while (given := self._ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("id", 60_000))).error_code:
            self._harness.advance(20)
        self._producer_id, self._epoch = given.producer_id, given.producer_epoch
        leadership = self._harness.core.broker(1).metadata.leadership(TopicPartition(TOPIC, 0))
        self._leader = 1 if leadership is None else leadership.leader_id

    def _ask(self, api_key: int, version: int, message: Any) -> Any:
        return self._harness.request(self._coordinator, api_key, version, message)

    def _ask_leader(self, api_key: int, version: int, message: Any) -> Any:
        return self._harness.request(self._leader, api_key, version, message)

    def commit(self) -> None:
        """Write one record and commit it, including its markers."""
        if not self._implicit:
            topics = [AddPartitionsToTxnTopic(TOPIC, [0])]
            added = self._ask(
                ApiKey.ADD_PARTITIONS_TO_TXN,
                3,
                AddPartitionsToTxnRequest("id", self._producer_id, self._epoch, topics),
            )
            expect(added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)
        batch = encode_batch(
            [Record(0, NOW_MS, None, bytes(100))],
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=self._sequence,
            transactional=True,
        )
        data = [TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch)])]
        produced = self._ask_leader(ApiKey.PRODUCE, 12 if self._implicit else 9, ProduceRequest("id", -1, 1000, data))
        expect(produced.responses[0].partition_responses[0].error_code)
        self._sequence += 1
        request = EndTxnRequest("id", self._producer_id, self._epoch, True)
        ended = self._ask(ApiKey.END_TXN, 5 if self._implicit else 3, request)
        expect(ended.error_code)
        self._harness.advance(0)  # Markers and completion follow the response.
        if self._implicit:
            self._producer_id, self._epoch, self._sequence = ended.producer_id, ended.producer_epoch, 0

    def fetch(self) -> None:
        """Fetch the topic as a read_committed consumer."""
        asked = FetchPartition(0, -1, 0, partition_max_bytes=1 << 20)
        topics = [FetchTopic(TOPIC, partitions=[asked])]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=1, topics=topics)
        data = self._ask_leader(ApiKey.FETCH, 11, request).responses[0].partitions[0]
        if not data.records:
            raise RuntimeError(f"nothing was read: {data}")

    def close(self) -> None:
        """Stop the broker."""
        self._harness.close()


def expect(error_code: int) -> None:
    """Raise an error for a failed operation, which must not be counted."""
    if error_code:
        raise RuntimeError(f"the operation to be counted failed with error {error_code}")


def records_of(count: int) -> list[Record]:
    """Return small records with keys."""
    return [Record(n, NOW_MS + n, b"key-%d" % n, bytes(100)) for n in range(count)]


def value_of(number: int) -> bytes:
    """Return a value of the transaction log."""
    partitions = (TransactionPartitions("payments", (0, 1, 2)),)
    return transaction_log.encode_value(TransactionValue(number, 1, 60_000, 1, partitions, NOW_MS, NOW_MS), 1)


def decode_internal(states: list[tuple[bytes, bytes]], commits: list[tuple[bytes, bytes]]) -> None:
    """Decode keys and values of the transaction log and of committed offsets."""
    for key, value in states:
        transaction_log.decode_key(key)
        transaction_log.decode_value(value)
    for key, value in commits:
        offsets.decode_value(offsets.decode_key(key), value)


@contextmanager
def hot_paths() -> Iterator[dict[str, Operation]]:
    """Return the paths by name, each as a repeatable operation."""
    with tempfile.TemporaryDirectory(prefix="eosctl-hot-") as name:
        directory = Path(name)
        first = Transactions(directory / "first", implicit=False)
        second = Transactions(directory / "second", implicit=True)
        third = Transactions(directory / "third", implicit=True, brokers=3)
        hundred = records_of(100)
        batch = encode_batch(hundred)
        header = decode_header(batch)
        small = encode_batch(hundred, codec=Compression.LZ4)
        small_header = decode_header(small)
        many = b"".join(with_offset(batch, n * 100, 0) for n in range(100))
        log = directory / "00000000000000000000.log"
        log.write_bytes(many)
        frames = b"".join(struct.pack(">i", 100) + bytes(100) for _ in range(100))
        states = [(transaction_log.encode_key(TransactionKey(f"id-{n}")), value_of(n)) for n in range(10)]
        commits = [
            (
                offsets.encode_key(OffsetCommitKey("group", "payments", n)),
                offsets.encode_value(OffsetCommitValue(100, 3, "", NOW_MS), 3),
            )
            for n in range(10)
        ]
        yield {
            "a transaction below TV2": first.commit,
            "a transaction at TV2": second.commit,
            "a transaction at TV2, three replicas": third.commit,
            "a read_committed fetch": first.fetch,
            "encode 100 records": lambda: encode_batch(hundred),
            "decode 100 records": lambda: decode_records(batch, header),
            "decode 100 records, lz4": lambda: decode_records(small, small_header),
            "headers of 100 batches": lambda: list(iter_headers(many)),
            "scan a log of 100 batches": lambda: list(scan_log(log)),
            "split 100 frames": lambda: FrameSplitter().feed(frames),
            "decode 20 records of internal topics": lambda: decode_internal(states, commits),
        }
        first.close()
        second.close()
        third.close()


def count_all() -> dict[str, int]:
    """Count every path, after warm-up rounds for lazy imports."""
    with hot_paths() as paths:
        counts = {}
        for name, operation in paths.items():
            for _ in range(3):
                operation()
            counts[name] = bytecodes(operation)
        return counts


def read_limits() -> dict[str, int]:
    """Return the last accepted counts."""
    return dict(tomllib.loads(LIMITS.read_text(encoding="utf-8"))["bytecodes"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lock", action="store_true", help="make today's counts the limits")
    counts = count_all()
    if parser.parse_args().lock:
        lines = [f'"{name}" = {count}' for name, count in counts.items()]
        LIMITS.write_text("[bytecodes]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    limits = read_limits()
    print(f"| Path | Bytecodes on Python {sys.version_info.major}.{sys.version_info.minor} | Accepted |\n|---|---|---|")
    for name, count in counts.items():
        print(f"| {name} | {count:,} | {limits.get(name, 0):,} |")


if __name__ == "__main__":
    main()
