"""kafka-python as a client from before 0.11, with messages of magic 0 and 1, on a sandbox that behaves as 3.9."""

from __future__ import annotations

import pytest

from eosctl.testing import SandboxThread
from tests.interop.kafka_python_driver import kafka


@pytest.mark.parametrize(("version", "codec"), [((0, 9), "gzip"), ((0, 9), None), ((0, 10, 0), "gzip")])
def test_a_client_of_that_time_reads_what_it_wrote(version: tuple[int, ...], codec: str | None) -> None:
    with SandboxThread(emulate="3.9", fast=False) as sandbox:
        access = {"bootstrap_servers": sandbox.bootstrap, "api_version": version}
        producer = kafka.KafkaProducer(**access, compression_type=codec)
        for number in range(3):
            producer.send("old", b"v%d" % number, b"k").get(30)
        producer.close()
        consumer = kafka.KafkaConsumer(**access, auto_offset_reset="earliest", consumer_timeout_ms=30_000)
        consumer.assign([kafka.TopicPartition("old", 0)])
        found = [next(consumer).value for _ in range(3)]
        consumer.close()
    assert found == [b"v0", b"v1", b"v2"]
