"""A transactional producer of librdkafka above its quota is throttled, and nothing is lost."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from tests.interop.drivers import PATIENCE_S
from tests.sandbox.security.wire_client import WireClient

RECORDS, RECORD_BYTES = 30, 10_000
QUOTA = 25_000.0  # 300 kB within ten windows: a first burst of more than 250 kB is throttled.


@pytest.mark.timeout(300)
def test_a_transaction_above_the_quota_is_throttled() -> None:
    with SandboxThread(brokers=1) as sandbox:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        admin.create_topics([NewTopic("orders", 1)])["orders"].result(PATIENCE_S)
        with WireClient(sandbox.bootstrap) as wire:
            change = RequestEntryData([EntityData("client-id", "loader")], [OpData("producer_byte_rate", QUOTA, False)])
            answer = wire.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, AlterClientQuotasRequest([change]))
            assert answer is not None
            assert [entry.error_code for entry in answer.entries] == [0]
        throttled: list[float] = []
        settings: dict[str, Any] = {
            "bootstrap.servers": sandbox.bootstrap,
            "client.id": "loader",
            "transactional.id": "orders",
            "linger.ms": 0,
            "batch.size": RECORD_BYTES + 1000,
            "throttle_cb": lambda event: throttled.append(event.throttle_time),
        }
        producer = Producer(settings)
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for number in range(RECORDS):
            producer.produce("orders", bytes([number]) * RECORD_BYTES, partition=0)
        assert producer.flush(PATIENCE_S) == 0
        producer.commit_transaction(PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while not throttled and time.monotonic() < deadline:
            producer.poll(0.1)
        assert max(throttled) > 0
        assert read_all(sandbox.bootstrap) == [bytes([number]) * RECORD_BYTES for number in range(RECORDS)]


def read_all(bootstrap: str) -> list[bytes | None]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe(["orders"])
    found: list[bytes | None] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < RECORDS and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            found.append(message.value())
    consumer.close()
    return found
