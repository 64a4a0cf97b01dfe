"""The rules that ``check acl`` prints are the smallest: with them an application runs, with one less it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import Acl, PatternType, Permission, ResourceType
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl, own_home
from tests.sandbox.security.authorization_cases import replace_acls
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.test_clients import librdkafka
from tests.sandbox.security.wire_client import WireClient

__all__ = ["own_home"]
SETTINGS = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}
TYPES = {"Topic": ResourceType.TOPIC, "Group": ResourceType.GROUP, "TransactionalId": ResourceType.TRANSACTIONAL_ID}
PATIENCE_S = 120

WHO = ("--principal", "User:alice")
PROCESSOR = ("processor", *WHO, "--transactional-id", "app-*", "--group", "app", "--read", "in", "--write", "out")
PRODUCER = ("producer", *WHO, "--transactional-id", "app-1", "--write", "out")
CONSUMER = ("consumer", *WHO, "--group", "app", "--read", "in")
IDEMPOTENT = ("idempotent-producer", *WHO, "--write", "out")


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS) as running:
        admin = AdminClient(librdkafka(running))
        for future in admin.create_topics([NewTopic(name, 1, 1) for name in ("in", "out")]).values():
            future.result(PATIENCE_S)
        producer = Producer(librdkafka(running))
        producer.produce("in", b"order")
        assert producer.flush(PATIENCE_S) == 0
        yield running


def grant(sandbox: SandboxThread, items: Sequence[dict[str, Any]]) -> None:
    """Let the cluster have these rules and no others."""
    entries = [
        Acl(
            TYPES[item["resource_type"]],
            item["name"],
            PatternType[item["pattern_type"].upper()],
            item["principal"],
            "*",
            AclOperation[item["operation"].upper()],
            Permission.ALLOW,
        )
        for item in items
    ]
    with WireClient(sandbox.bootstrap) as client:
        client.log_in("admin", password_of(sandbox))
        replace_acls(client.ask, entries)


def consume(sandbox: SandboxThread, commit: Callable[[Consumer], None]) -> None:
    """Read one record as alice and commit its offset."""
    consumer = Consumer(
        librdkafka(
            sandbox,
            "alice",
            **{"group.id": "app", "auto.offset.reset": "earliest", "enable.auto.commit": False},
        )
    )
    try:
        consumer.subscribe(["in"])
        deadline = time.monotonic() + PATIENCE_S
        while (message := consumer.poll(1)) is None:
            assert time.monotonic() < deadline, "no record, and no error"
        if message.error():
            raise KafkaException(message.error())
        commit(consumer)
    finally:
        consumer.close()


def transact(sandbox: SandboxThread, work: Callable[[Producer], None] = lambda _: None) -> None:
    """Commit one transaction as alice."""
    settings = {"transactional.id": "app-1", "message.timeout.ms": 60_000}
    producer = Producer(librdkafka(sandbox, "alice", **settings))
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    refused: list[KafkaError] = []
    producer.produce("out", b"v", on_delivery=lambda error, _: refused.append(error) if error else None)
    producer.flush(PATIENCE_S)
    if refused:
        raise KafkaException(refused[0])
    work(producer)
    producer.commit_transaction(PATIENCE_S)


def run_producer(sandbox: SandboxThread) -> None:
    transact(sandbox)


def run_processor(sandbox: SandboxThread) -> None:
    def commit(consumer: Consumer) -> None:
        offsets = [TopicPartition("in", 0, 0)]
        metadata = consumer.consumer_group_metadata()
        transact(sandbox, lambda producer: producer.send_offsets_to_transaction(offsets, metadata, PATIENCE_S))

    consume(sandbox, commit)


def run_consumer(sandbox: SandboxThread) -> None:
    consume(sandbox, lambda consumer: consumer.commit(offsets=[TopicPartition("in", 0, 0)], asynchronous=False))


def run_idempotent(sandbox: SandboxThread) -> None:
    producer = Producer(librdkafka(sandbox, "alice", **{"enable.idempotence": True, "message.timeout.ms": 60_000}))
    refused: list[KafkaError] = []
    producer.produce("out", b"v", on_delivery=lambda error, _: refused.append(error) if error else None)
    assert producer.flush(PATIENCE_S) == 0
    if refused:
        raise KafkaException(refused[0])


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        (PROCESSOR, run_processor),
        (PRODUCER, run_producer),
        (CONSUMER, run_consumer),
        (IDEMPOTENT, run_idempotent),
    ],
    ids=["processor", "producer", "consumer", "idempotent-producer"],
)
def test_with_all_it_runs_and_with_one_less_it_fails_as_printed(
    arguments: tuple[str, ...], run: Callable[[SandboxThread], None], guarded: SandboxThread
) -> None:
    items = eosctl("check", "acl", *arguments, "-o", "json").json["items"]
    grant(guarded, items)
    run(guarded)
    for left_out in items:
        grant(guarded, [item for item in items if item is not left_out])
        with pytest.raises(KafkaException) as refused:
            run(guarded)
        assert refused.value.args[0].name().lstrip("_") == left_out["without_it"], left_out


def test_what_the_cluster_has_is_compared(guarded: SandboxThread) -> None:
    cluster = ("--command-config", str(guarded.client_properties("admin")))
    items = eosctl("check", "acl", *PROCESSOR, "-o", "json").json["items"]
    grant(guarded, items)
    assert eosctl("check", "acl", *PROCESSOR, *cluster).code == 0
    grant(guarded, items[1:])
    done = eosctl("check", "acl", *PROCESSOR, *cluster)
    assert done.code == 3
    assert done.out.count("kafka-acls.sh") == 1
    assert "--transactional-id app- --resource-pattern-type prefixed" in done.out


def test_rules_that_may_not_be_read_are_no_verdict(guarded: SandboxThread) -> None:
    grant(guarded, [])
    done = eosctl("check", "acl", *PRODUCER, "--command-config", str(guarded.client_properties("alice")))
    assert done.code == 4
    assert "CLUSTER_AUTHORIZATION_FAILED" in done.out
