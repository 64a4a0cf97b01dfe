"""kafka-python, in pure Python."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from tests.interop.drivers import PATIENCE_S, Fenced, Reader, Writer, gather

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its resources in an old way
    import kafka
    import kafka.codec
    import kafka.errors

KafkaPythonAdmin = kafka.KafkaAdminClient


class KafkaPythonWriter:
    def __init__(self, bootstrap: str, transactional_id: str, compression: str) -> None:
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap.split(","),
            transactional_id=transactional_id,
            compression_type=None if compression == "none" else compression,
        )
        self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, partition: int, value: bytes) -> int:
        try:
            return int(self._producer.send(topic, value, partition=partition).get(PATIENCE_S).offset)
        except (kafka.errors.ProducerFencedError, kafka.errors.InvalidProducerEpochError) as error:
            raise Fenced(error) from error

    def send_offsets(self, positions: Mapping[tuple[str, int], int], reader: Reader) -> None:
        offsets = {
            kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(offset, "", -1)
            for place, offset in positions.items()
        }
        self._producer.send_offsets_to_transaction(offsets, reader.group())

    def commit(self) -> None:
        try:
            self._producer.commit_transaction()
        except (kafka.errors.ProducerFencedError, kafka.errors.InvalidProducerEpochError) as error:
            raise Fenced(error) from error

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(timeout=PATIENCE_S)


class KafkaPythonReader:
    def __init__(self, bootstrap: str, topic: str, group: str, partitions: int | None, committed: bool) -> None:
        self._consumer = kafka.KafkaConsumer(
            bootstrap_servers=bootstrap.split(","),
            group_id=group,
            isolation_level="read_committed" if committed else "read_uncommitted",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=6000,
            heartbeat_interval_ms=200,
            fetch_max_wait_ms=100,
        )
        if partitions is None:
            self._consumer.subscribe([topic])
        else:
            self._consumer.assign([kafka.TopicPartition(topic, index) for index in range(partitions)])
            self._consumer.seek_to_beginning()

    def take(self, count: int) -> list[tuple[int, int, bytes]]:
        def poll() -> list[tuple[int, int, bytes]]:
            # Long enough for a rebalance: 3.0.12 never heartbeats again when a poll ends in the middle of one.
            batches = self._consumer.poll(timeout_ms=5000, max_records=1000).values()
            return [(record.partition, record.offset, record.value) for batch in batches for record in batch]

        return gather(poll, count)

    def commit(self, positions: Mapping[tuple[str, int], int]) -> None:
        self._consumer.commit(
            {
                kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(offset, "", -1)
                for place, offset in positions.items()
            }
        )

    def committed(self, topic: str, partition: int) -> int | None:
        found = self._consumer.committed(kafka.TopicPartition(topic, partition))
        return None if found is None else int(found)

    def group(self) -> Any:
        return self._consumer.group_metadata()

    def close(self) -> None:
        self._consumer.close()


class KafkaPython:
    def writer(self, bootstrap: str, transactional_id: str, compression: str = "none") -> Writer:
        return KafkaPythonWriter(bootstrap, transactional_id, compression)

    def reader(
        self, bootstrap: str, topic: str, *, group: str, partitions: int | None = None, committed: bool = True
    ) -> Reader:
        return KafkaPythonReader(bootstrap, topic, group, partitions, committed)


def kafka_python_knows(codec: str) -> bool:
    """Return whether kafka-python finds the library of a codec; the other clients bundle theirs."""
    return codec == "none" or bool(getattr(kafka.codec, f"has_{codec}")())
