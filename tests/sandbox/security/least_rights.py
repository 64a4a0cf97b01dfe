"""Applications of librdkafka with as few rights as can be, and the rules that ``check acl`` prints for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import Acl, PatternType, Permission, ResourceType
from tests.commands.conftest import eosctl
from tests.sandbox.security.authorization_cases import replace_acls
from tests.sandbox.security.wire_client import WireClient

Settings = Mapping[str, Any]
TYPES: Final = {
    "Topic": ResourceType.TOPIC,
    "Group": ResourceType.GROUP,
    "TransactionalId": ResourceType.TRANSACTIONAL_ID,
}
PATIENCE_S: Final = 120
WHO: Final = ("--principal", "User:alice")


def grant(bootstrap: str, password: str, items: Sequence[dict[str, Any]]) -> None:
    """Set exactly these ACLs in the cluster."""
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
    with WireClient(bootstrap) as client:
        client.log_in("admin", password)
        replace_acls(client.ask, entries)


def consume(settings: Settings, commit: Callable[[Consumer], None]) -> None:
    """Read one record and commit its offset."""
    consumer = Consumer({**settings, "group.id": "app", "auto.offset.reset": "earliest", "enable.auto.commit": False})
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


def transact(settings: Settings, work: Callable[[Producer], None] = lambda _: None) -> None:
    """Commit one transaction."""
    more = {"transactional.id": "app-1", "message.timeout.ms": 60_000}
    producer = Producer({**settings, **more})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    refused: list[KafkaError] = []
    producer.produce("out", b"v", on_delivery=lambda error, _: refused.append(error) if error else None)
    producer.flush(PATIENCE_S)
    if refused:
        raise KafkaException(refused[0])
    work(producer)
    producer.commit_transaction(PATIENCE_S)


def run_producer(settings: Settings) -> None:
    transact(settings)


def run_processor(settings: Settings) -> None:
    def commit(consumer: Consumer) -> None:
        offsets = [TopicPartition("in", 0, 0)]
        metadata = consumer.consumer_group_metadata()
        transact(settings, lambda producer: producer.send_offsets_to_transaction(offsets, metadata, PATIENCE_S))

    consume(settings, commit)


def run_consumer(settings: Settings) -> None:
    consume(settings, lambda consumer: consumer.commit(offsets=[TopicPartition("in", 0, 0)], asynchronous=False))


def run_idempotent(settings: Settings) -> None:
    producer = Producer({**settings, "enable.idempotence": True, "message.timeout.ms": 60_000})
    refused: list[KafkaError] = []
    producer.produce("out", b"v", on_delivery=lambda error, _: refused.append(error) if error else None)
    assert producer.flush(PATIENCE_S) == 0
    if refused:
        raise KafkaException(refused[0])


class Kind(NamedTuple):
    """A type of application: its arguments of `check acl`, its workload, and an error that may come first."""

    arguments: tuple[str, ...]
    run: Callable[[Settings], None]
    sooner: str = ""


KINDS: Final = {
    "processor": Kind(
        ("--transactional-id", "app-*", "--group", "app", "--read", "in", "--write", "out"), run_processor
    ),
    "producer": Kind(("--transactional-id", "app-1", "--write", "out"), run_producer),
    "consumer": Kind(("--group", "app", "--read", "in"), run_consumer),
    # Needs Metadata too, and a producer id, which only principals with Write on some topic get.
    "idempotent-producer": Kind(("--write", "out"), run_idempotent, "CLUSTER_AUTHORIZATION_FAILED"),
}


def needed_rules(kind: str) -> list[dict[str, Any]]:
    """Return what ``check acl`` prints."""
    items: list[dict[str, Any]] = eosctl("check", "acl", kind, *WHO, *KINDS[kind].arguments, "-o", "json").json["items"]
    return items


def prepare(admin: Settings) -> None:
    """Make the topics, with a record to read."""
    client = AdminClient(dict(admin))  # keep a reference, because a collected client drops its requests
    for future in client.create_topics([NewTopic(name, 1, 1) for name in ("in", "out")]).values():
        future.result(PATIENCE_S)
    producer = Producer(dict(admin))
    producer.produce("in", b"order")
    assert producer.flush(PATIENCE_S) == 0


def prove(kind: str, alice: Settings, grant: Callable[[Sequence[dict[str, Any]]], None]) -> None:
    """Show that the application runs with all rules, and fails as printed with any one less."""
    items = needed_rules(kind)
    grant(items)
    KINDS[kind].run(alice)
    for left_out in items:
        grant([item for item in items if item is not left_out])
        with pytest.raises(KafkaException) as refused:
            KINDS[kind].run(alice)
        assert refused.value.args[0].name().lstrip("_") in (left_out["without_it"], KINDS[kind].sooner), left_out
