"""Mistakes on a running cluster of one broker, made through clients and settings as people make them."""

from __future__ import annotations

import time
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

#: The checks that name these mistakes.
FOUND = {
    "EOS-BRK-008",
    "EOS-BRK-010",
    "EOS-GRP-002",
    "EOS-GRP-003",
    "EOS-GRP-004",
    "EOS-SEC-001",
    "EOS-SEC-002",
    "EOS-SEC-003",
    "EOS-SEC-005",
    "EOS-TOP-006",
    "EOS-TOP-011",
    "EOS-UPG-002",
}
SETTINGS: Final = {
    "transaction.max.timeout.ms": "30000",
    "offsets.retention.minutes": "60",
    "log.cleaner.enable": "false",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}
LITERAL, PREFIXED = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
RULES: Final = (
    (ResourceType.TRANSACTIONAL_ID, "app-*", LITERAL, "User:app", AclOperation.WRITE),
    (ResourceType.TOPIC, "__transaction_state", LITERAL, "User:app", AclOperation.DELETE),
    (ResourceType.TRANSACTIONAL_ID, "*", LITERAL, "User:*", AclOperation.WRITE),
    (ResourceType.TOPIC, "orders", LITERAL, "User:app", AclOperation.ALL),
)


def commit_once_coordinated(consumer: Consumer, offset: TopicPartition) -> None:
    """Commit for the first group of a cluster: its coordinator may have to be made and to load first."""
    for tries_left in reversed(range(600)):  # a minute: the broker may share its machine with other brokers
        try:
            consumer.commit(offsets=[offset], asynchronous=False)
        except KafkaException as error:
            if not (error.args[0].retriable() or error.args[0].code() == KafkaError.NOT_COORDINATOR) or not tries_left:
                raise
            time.sleep(0.1)
        else:
            return


def make_mistakes(bootstrap: str) -> None:
    """Make topics, groups, ids and access rules that checks must find."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [
        NewTopic("short", 1, 1, config={"cleanup.policy": "compact", "delete.retention.ms": "1000"}),
        NewTopic("few", 1, 1, config={"min.insync.replicas": "2"}),
        NewTopic("orders", 1, 1),
    ]
    for created in admin.create_topics(topics).values():
        created.result(30)
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "t", "transaction.timeout.ms": 20_000})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(10):
        producer.produce("orders", str(number).encode())
    producer.commit_transaction(30)
    for group, offset in (("late", 0), ("ahead", 99)):
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
        commit_once_coordinated(consumer, TopicPartition("orders", 0, offset))
        consumer.close()
    for cut in admin.delete_records([TopicPartition("orders", 0, 5)]).values():
        cut.result(30)
    bindings = [
        AclBinding(kind, name, pattern, principal, "*", operation, AclPermissionType.ALLOW)
        for kind, name, pattern, principal, operation in RULES
    ]
    for bound in admin.create_acls(bindings).values():
        bound.result(30)
