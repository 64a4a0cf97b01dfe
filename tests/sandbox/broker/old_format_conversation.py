"""Produce and Fetch of clients from before 0.11, recorded from a real 3.9.2 broker and played on the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.errors import WireError
from eosctl.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records import legacy
from eosctl.wire.records.batch import decode_header, decode_records, encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.legacy_writer import encode_message, encode_message_set
from eosctl.wire.records.record import Record

BROKER, TIME_MS = 1, 1_790_000_000_000
PLAIN, COMPACT, APPENDED, UNCONVERTED = "old-plain", "old-compact", "old-append-time", "old-unconverted"
TOPICS = {
    PLAIN: {},
    COMPACT: {"cleanup.policy": "compact"},
    APPENDED: {"message.timestamp.type": "LogAppendTime"},
    UNCONVERTED: {"message.downconversion.enable": "false"},
}
Step = dict[str, Any]


class Cluster(Protocol):
    """A real cluster, or the one of the harness."""

    def request(self, broker_id: int, api_key: int, version: int, message: Any) -> Any: ...

    def advance(self, ms: float) -> None: ...

    def run_until(self, stop: Callable[[], bool]) -> None: ...


def records(count: int, first: int = 0, key: bytes | None = b"k") -> list[Record]:
    return [Record(number, TIME_MS + number, key, b"v%d" % number) for number in range(first, first + count)]


def _sets() -> dict[str, bytes]:
    """Return sets of messages as producers sent them, by what they are."""
    single = encode_message(1, 0, TIME_MS, b"k", b"v")
    damaged = single[:-1] + b"w"
    return {
        "one of magic 0": encode_message(0, 0, 0, b"k", b"v"),
        "three of magic 0": encode_message_set(0, records(3), Compression.NONE),
        "one of magic 1": single,
        "three of magic 1": encode_message_set(1, records(3), Compression.NONE),
        "gzip of magic 0": encode_message_set(0, records(3), Compression.GZIP),
        "gzip of magic 1": encode_message_set(1, records(3), Compression.GZIP),
        "snappy of magic 1": encode_message_set(1, records(2), Compression.SNAPPY),
        "lz4 of magic 1": encode_message_set(1, records(2), Compression.LZ4),
        "a batch": encode_batch(records(2)),
        "no key": encode_message(1, 0, TIME_MS, None, b"v"),
        "no value": encode_message(1, 0, TIME_MS, b"k", None),
        "damaged": damaged,
        "damaged after another": single + damaged,
        "both magics": encode_message(0, 0, 0, b"k", b"v") + single,
        "two compressed": 2 * encode_message_set(1, records(2), Compression.GZIP),
        "cut off": single[:-3],
        "cut off after another": single + single[:-3],
        "too short": b"\x00" * 10,
        "nothing": b"",
        "zstd of magic 1": encode_message_set(1, records(2), Compression.ZSTD),
        "far in the future": encode_message(1, 0, TIME_MS + 10**12, b"k", b"v"),
        "no time": encode_message(1, 0, -1, b"k", b"v"),
    }


class Conversation:
    """The requests, one after the other, with their results."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.steps: list[Step] = []

    def run(self) -> list[Step]:
        """Play everything."""
        topics = [
            CreatableTopic(name, 1, 1, (), [CreatableTopicConfig(*item) for item in settings.items()])
            for name, settings in TOPICS.items()
        ]
        self._cluster.request(BROKER, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics, 30_000, False))
        while self._produce(PLAIN, 7, encode_batch(records(1)))[0]:
            self._cluster.advance(50)
        for what, data in _sets().items():
            self._write(PLAIN, 2, what, data)
        for version in (0, 1):
            for what in ("three of magic 0", "gzip of magic 1", "a batch"):
                self._write(PLAIN, version, what, _sets()[what])
        for topic in (COMPACT, APPENDED, UNCONVERTED):
            for what in ("one of magic 0", "gzip of magic 1", "no key", "both magics"):
                self._write(topic, 2, what, _sets()[what])
        self._produce(UNCONVERTED, 7, encode_batch(records(1)))
        self._write_batches()
        for topic in TOPICS:
            self._read(topic)
        return self.steps

    def _write(self, topic: str, version: int, what: str, data: bytes) -> None:
        error, offset = self._produce(topic, version, data)
        step: Step = {"topic": topic, "produce": version, "what": what, "error": error}
        if not error:
            step |= {"offset": offset, "stored": self._stored(topic, offset)}
        self.steps.append(step)

    def _write_batches(self) -> None:
        """Write what later clients write: headers, compression, and a transaction."""
        named = [Record(0, TIME_MS, b"k", b"v", (("h", b"1"),)), *records(2, 1)]
        self._produce(PLAIN, 7, encode_batch(named))
        self._produce(PLAIN, 7, encode_batch(records(3), codec=Compression.GZIP))
        self._produce(APPENDED, 7, encode_batch(records(2)))
        while self._ask(ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest("old", 1)).error_code:
            self._cluster.advance(50)
        made = self._ask(ApiKey.INIT_PRODUCER_ID, 1, InitProducerIdRequest("old", 60_000))
        while made.error_code:
            self._cluster.advance(50)
            made = self._ask(ApiKey.INIT_PRODUCER_ID, 1, InitProducerIdRequest("old", 60_000))
        producer = made.producer_id, made.producer_epoch
        added = AddPartitionsToTxnTopic(PLAIN, [0])
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="old",
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=[added],
        )
        self._ask(ApiKey.ADD_PARTITIONS_TO_TXN, 1, request)
        batch = encode_batch(
            records(2), producer_id=producer[0], producer_epoch=producer[1], base_sequence=0, transactional=True
        )
        self._produce(PLAIN, 7, batch, transactional_id="old")
        self._ask(ApiKey.END_TXN, 1, EndTxnRequest("old", *producer, True))
        self._cluster.advance(500)
        self._produce(PLAIN, 7, encode_batch(records(1)))

    def _read(self, topic: str) -> None:
        for version in (0, 1, 2, 3):
            for offset in (0, 1, 8) if topic == PLAIN else (0,):
                data = self._fetch(topic, version, offset)
                step: Step = {"topic": topic, "fetch": version, "from": offset, "error": int(data.error_code)}
                step["messages"] = _messages(data.records or b"")
                self.steps.append(step)
        if topic == PLAIN:
            self._produce(PLAIN, 9, encode_batch(records(2), codec=Compression.ZSTD))
            for version in (0, 2, 9, 10):
                data = self._fetch(topic, version, 0)
                self.steps.append({"topic": topic, "fetch of zstd": version, "error": int(data.error_code)})

    def _stored(self, topic: str, offset: int) -> list[Any]:
        data = self._fetch(topic, 10, max(0, offset)).records or b""
        if offset < 0 or not data:
            return []
        header = decode_header(data)
        listed = [
            [one.offset, _time(one.timestamp), _text(one.key), _text(one.value)] for one in decode_records(data, header)
        ]
        return [header.magic, header.attributes, header.records_count, listed]

    def _fetch(self, topic: str, version: int, offset: int) -> Any:
        partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1_000_000)
        request = FetchRequest(-1, 0, 0, 50_000_000, 0, 0, -1, [FetchTopic(topic, partitions=[partition])])
        return self._ask(ApiKey.FETCH, version, request).responses[0].partitions[0]

    def _produce(self, topic: str, version: int, data: bytes, transactional_id: str | None = None) -> tuple[int, int]:
        topics = [TopicProduceData(topic, partition_data=[PartitionProduceData(0, data)])]
        answer = self._ask(ApiKey.PRODUCE, version, ProduceRequest(transactional_id, -1, 30_000, topics))
        if answer is None:
            return -1000, -1
        (result,) = answer.responses[0].partition_responses
        return int(result.error_code), result.base_offset

    def _ask(self, api_key: int, version: int, request: Any) -> Any:
        return self._cluster.request(BROKER, api_key, version, request)


def _messages(data: bytes) -> list[Any]:
    """Return the complete messages of a set: magic, attributes, offset of the message, and its records."""
    found: list[Any] = []
    position = 0
    while position < len(data):
        try:
            header = legacy.decode_header(data, position)
            if position + header.size_bytes > len(data):
                break
            inner = legacy.decode_records(data, header, position, max_bytes=1 << 20)
        except (WireError, KeyError):
            break
        listed = [[one.offset, _time(one.timestamp), _text(one.key), _text(one.value)] for one in inner]
        found.append([header.magic, header.attributes, header.base_offset, listed])
        position += header.size_bytes
    return found


def _time(time_ms: int) -> int | str:
    """Return a time that a client chose; those of brokers differ."""
    return time_ms if time_ms == -1 or TIME_MS <= time_ms < TIME_MS + 100 or time_ms > TIME_MS + 10**11 else "now"


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
