"""The vetted configurations together, in brokers and clients that run: what was committed is read, nothing else."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.settings.filled_profiles import filled

PATIENCE_S = 120
RECORDS = 20


def produce(bootstrap: str) -> None:
    """Commit, abort, and write outside of transactions, each to its end."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic("orders", 1, -1)]).values():
        created.result(PATIENCE_S)
    transactional = filled("librdkafka-transactional", TRANSACTIONAL_ID="orders-0")
    producer = Producer({"bootstrap.servers": bootstrap, **transactional})
    producer.init_transactions(PATIENCE_S)
    for end, value in ((producer.abort_transaction, b"aborted"), (producer.commit_transaction, b"committed")):
        producer.begin_transaction()
        for _ in range(RECORDS):
            producer.produce("orders", value)
        producer.flush(PATIENCE_S)
        end(PATIENCE_S)
    plain = Producer({"bootstrap.servers": bootstrap, **filled("producer-idempotent-only")})
    plain.produce("orders", b"plain")
    assert plain.flush(PATIENCE_S) == 0


def read(bootstrap: str) -> list[bytes | None]:
    """Read until the record that was written last."""
    consumer = Consumer({"bootstrap.servers": bootstrap, **filled("consumer-read-committed", GROUP_ID="readers")})
    try:
        consumer.subscribe(["orders"])
        seen: list[bytes | None] = []
        while b"plain" not in seen:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, seen
            assert message.error() is None
            seen.append(message.value())
        return seen
    finally:
        consumer.close()


@pytest.mark.parametrize(("brokers", "profile"), [(3, "broker-eos-production"), (1, "broker-eos-development")])
def test_vetted_profiles_work_together(brokers: int, profile: str) -> None:
    with SandboxThread(brokers=brokers, config=filled(profile)) as cluster:
        produce(cluster.bootstrap)
        assert read(cluster.bootstrap) == [b"committed"] * RECORDS + [b"plain"]
