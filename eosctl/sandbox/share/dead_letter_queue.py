"""Writes dead letters of share groups to their topics, which it creates if it may (`ShareGroupDLQStateManager`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.group_settings import DEAD_LETTER_COPY, DEAD_LETTER_TOPIC
from eosctl.sandbox.logging.event_log import ERROR, EventLog
from eosctl.sandbox.ports import BrokerConfig, Channel, MetadataView, Runtime
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import READ_UNCOMMITTED
from eosctl.sandbox.share.dead_letters import DeadLetters, DeadLetterTopic, Origin, Source, encode_round
from eosctl.sandbox.share.reading import read
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import decode_records, iter_headers

AUTO_CREATE: Final = "errors.deadletterqueue.auto.create.topics.enable"
PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
ENABLE: Final = "errors.deadletterqueue.group.enable"
BACKOFF_MS: Final = 1000
MAX_BACKOFF_MS: Final = 30_000
MAX_ATTEMPTS: Final = 5
JITTER: Final = 0.2
TIMEOUT_MS: Final = 30_000
MAX_COPIED_BYTES: Final = 1 << 20
PRODUCE_VERSION: Final = 13
CREATE_TOPICS_VERSION: Final = 7
_ACKS_ALL: Final = -1
_TOPIC_SETTINGS: Final = (
    CreatableTopicConfig(ENABLE, "true"),
    CreatableTopicConfig("message.timestamp.type", "CreateTime"),
)
_LOGGER: Final = "kafka.server.share.SharePartition"

TopicValue = Callable[[str, str], str]
"""Return the effective setting of a topic: its name, and the setting's."""


class DeadLetterQueue:
    """Writes the dead letters of one broker's share-partitions."""

    def __init__(
        self,
        runtime: Runtime,
        config: BrokerConfig,
        metadata: MetadataView,
        channel: Channel,
        topic_value: TopicValue,
        log: Callable[[], EventLog],
    ) -> None:
        self.runtime = runtime
        self.metadata = metadata
        self.channel = channel
        self.topic_value = topic_value
        self._config = config
        self._log = log

    def enqueue(self, group_id: str, partition: Partition, letters: DeadLetters, done: Callable[[], None]) -> None:
        """Write dead letters; `done` is called when they are written, or cannot be."""

        def ended(error: str | None) -> None:
            if error is not None:
                text = "Failed to write to DLQ, proceeding to ARCHIVED regardless."
                self._log().write(_LOGGER, text, level=ERROR, throwable=error)
            done()

        topic = self.topic_of(group_id)
        problem = topic.problem(group_id)
        if problem is not None:
            ended(f"org.apache.kafka.common.config.ConfigException: {problem}")
            return
        origin = Origin(group_id, partition.partition.topic, partition.partition.partition)
        copies = self.metadata.group_settings(group_id).get(DEAD_LETTER_COPY, "").lower() == "true"
        delivery = _Delivery(self, origin, topic.name, letters, partition if copies else None, ended)
        if topic.exists:
            delivery.send()
        else:
            delivery.create()

    def topic_of(self, group_id: str) -> DeadLetterTopic:
        """Return the dead-letter topic of a group."""
        name = self.metadata.group_settings(group_id).get(DEAD_LETTER_TOPIC, "")
        exists = name in self.metadata.topics
        return DeadLetterTopic(
            name=name,
            prefix=self._config.get_str(PREFIX),
            exists=exists,
            is_enabled=exists and self.topic_value(name, ENABLE).lower() == "true",
            is_created=self._config.get_bool(AUTO_CREATE),
        )


class _Delivery:
    """Dead letters on their way to a topic: in rounds of one batch, each repeated after errors that pass."""

    def __init__(
        self,
        queue: DeadLetterQueue,
        origin: Origin,
        topic: str,
        letters: DeadLetters,
        copied: Partition | None,
        done: Callable[[str | None], None],
    ) -> None:
        self._queue = queue
        self._origin = origin
        self._topic = topic
        self._letters = letters
        self._copied = copied
        self._done = done
        self._next = letters.first_offset
        self._attempt = 0

    def create(self) -> None:
        """Create the topic with the brokers' default sizes, and write to it."""
        topic = CreatableTopic(self._topic, -1, -1, (), _TOPIC_SETTINGS)
        request = CreateTopicsRequest([topic], TIMEOUT_MS, False)
        self._queue.channel.send_to_controller(ApiKey.CREATE_TOPICS, CREATE_TOPICS_VERSION, request, self._created)

    def _created(self, response: Any | None) -> None:
        error = ErrorCode.NETWORK_EXCEPTION if response is None else ErrorCode(response.topics[0].error_code)
        if error in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            self._attempt = 0
            self.send()
        else:
            self._failed(error, self.create, "Exhausted max retries to create DLQ topic without success.")

    def send(self) -> None:
        """Write the next round."""
        queue, count = self._queue, self._queue.metadata.partition_count(self._topic)
        topic_id = queue.metadata.topic_id(self._topic)
        index = self._origin.partition % max(1, count)
        leadership = queue.metadata.leadership(TopicPartition(self._topic, index))
        if topic_id is None or leadership is None or leadership.leader_id < 0:
            text = "Exhausted max retries while populating DLQ topic without success."
            self._failed(ErrorCode.LEADER_NOT_AVAILABLE, self.send, text)
            return
        max_bytes = int(queue.topic_value(self._topic, "max.message.bytes"))
        sources = {} if self._copied is None else _read_sources(self._copied, self._next, self._letters.last_offset)
        found = encode_round(self._origin, self._letters, self._next, sources, queue.runtime.now_ms(), max_bytes)
        data = TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(index, found.batch)])
        request = ProduceRequest(None, _ACKS_ALL, TIMEOUT_MS, [data])
        sent = partial(self._sent, found.last_offset)
        queue.channel.send(leadership.leader_id, ApiKey.PRODUCE, PRODUCE_VERSION, request, sent)

    def _sent(self, last_offset: int, response: Any | None) -> None:
        error = ErrorCode.NETWORK_EXCEPTION
        if response is not None:
            error = ErrorCode(response.responses[0].partition_responses[0].error_code)
        if error is not ErrorCode.NONE:
            self._failed(error, self.send, "Exhausted max retries to produce to DLQ topic without success.")
        elif last_offset < self._letters.last_offset:
            self._next, self._attempt = last_offset + 1, 0
            self.send()
        else:
            self._done(None)

    def _failed(self, error: ErrorCode, again: Callable[[], None], exhausted: str) -> None:
        self._attempt += 1
        if not error.retriable:
            self._done(f"org.apache.kafka.common.errors.{_exception(error)}: {kafka_text(error)}")
        elif self._attempt >= MAX_ATTEMPTS:
            self._done(f"java.lang.Exception: {exhausted}")
        else:
            runtime = self._queue.runtime
            delay_ms = min(BACKOFF_MS * 2 ** (self._attempt - 1), MAX_BACKOFF_MS)
            runtime.call_later(delay_ms * runtime.random.uniform(1 - JITTER, 1 + JITTER), again)


def _exception(error: ErrorCode) -> str:
    return "".join(word.capitalize() for word in error.name.split("_")) + "Exception"


def _read_sources(partition: Partition, first_offset: int, last_offset: int) -> Mapping[int, Source]:
    """Return the original records that one read finds; control records count as Kafka counts them, as records."""
    found = read(partition, first_offset, READ_UNCOMMITTED, MAX_COPIED_BYTES, True)
    return {
        record.offset: Source(record.key, record.value)
        for position, header in iter_headers(found.records)
        for record in decode_records(found.records[position : position + header.size_bytes], header)
        if first_offset <= record.offset <= last_offset
    }
