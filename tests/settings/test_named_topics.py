"""Topics under keys of an application's own belong to the clients next to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.model.deployment import Component, Role
from eosctl.settings.deployment.deployment_files import read_components

CLIENTS = (Role.PRODUCER, Role.CONSUMER)


def _topics(components: list[Component]) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {}
    for one in components:
        if one.role in CLIENTS:
            found.setdefault(one.value("client.id").text or one.name, set()).update(value.text for value in one.topics)
    return found


COMPOSE = """services:
  pay:
    image: acme/pay:1
    environment: {KAFKA_CLIENT_ID: pay, KAFKA_TRANSACTIONAL_ID: pay-1, TOPIC_OUT: payments}
  bill:
    image: acme/bill:1
    environment: {KAFKA_CLIENT_ID: bill, KAFKA_TRANSACTIONAL_ID: bill-1, BILLS_TOPIC: bills}
  web:
    image: acme/web:1
    environment: {CLICKS_TOPIC: clicks}
"""

MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: all}
data:
  pay.yml: |
    kafka: {client.id: pay, transactional.id: pay-1}
    topics:
      - payments
      - refunds
  mail.yml: |
    kafka: {client.id: mail, group.id: mail}
    payments-topic: ${PAYMENTS_TOPIC:payments}
"""


def test_services_have_their_own_topics() -> None:
    assert _topics(read_components("compose.yml", COMPOSE)) == {"pay": {"payments"}, "bill": {"bills"}}


def test_blocks_of_a_map_have_their_own_topics() -> None:
    assert _topics(read_components("map.yaml", MAP)) == {"pay": {"payments", "refunds"}, "mail": {"payments"}}


def test_a_declared_topic_is_the_applications_too() -> None:
    text = "kafka: {transactional.id: pay-1}\ntopics: {payments: {name: payments.v1, partitions: 12, replicas: 3}}\n"
    assert _topics(read_components("pay.yml", text)) == {"pay.yml": {"payments.v1"}}


@pytest.mark.parametrize(
    "key",
    [
        *("topics.orders.partitions=3", "topics.orders.cleanup-policy=compact", "topic.retention.ms=1000", "topic=12"),
        *("topics.orders.format=json", "auto-create-topics=true", "topical=orders", "topics.url=http://a/b"),
    ],
)
def test_other_values_name_nothing(key: str) -> None:
    (producer,) = read_components("a.properties", f"transactional.id=pay-1\napp.{key}\n")
    assert producer.topics == ()


@given(st.lists(st.from_regex(r"[a-z]{3,9}(\.[a-z]{3,9})?", fullmatch=True), min_size=1, max_size=4, unique=True))
def test_every_named_topic_is_kept_at_its_line(names: list[str]) -> None:
    lines = [f"app.topics.t{number}={name}" for number, name in enumerate(names)]
    (producer,) = read_components("a.properties", "\n".join(("transactional.id=pay-1", *lines)))
    found = [(value.text, value.place.line) for value in producer.topics if value.place]
    assert [(name, line) for name, line in found] == [
        (name, line)
        for line, name in enumerate(names, 2)
        if name not in ("true", "false", "null", "none", "json", "avro", "string", "auto")
    ]
