"""Settings of one client that a file keeps in several mappings, and clients of one library in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Client, Role
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.detection import sources_of
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.formats.tree import Branch
from eosctl.settings.frameworks.client_parts import with_parts
from eosctl.settings.values.sources import Source

RDKAFKA = """producer:
  global: {transactional.id: audit, transaction.timeout.ms: 30000}
  topic: {message.timeout.ms: 120000}
consumer:
  globalConfig: {group.id: audit, enable.auto.commit: false}
  topicConfig: {auto.offset.reset: earliest}
"""
WRAPPER = """kafkaProducer:
  type: basic
  bootstrapServers: ["kafka-0:9092"]
  name: claims
  keySerializer: {type: string}
  acks: "1"
  additionalProperties: {transactional.id: claims-1}
"""
HELIDON = """mp.messaging:
  incoming.orders: {connector: helidon-kafka, topic: orders, group.id: shop}
  outgoing.mqtt: {connector: helidon-jms, acks: "1"}
  connector.helidon-kafka: {bootstrap.servers: "kafka:9092"}
"""
SARAMA = """sarama:
  brokers: [b:9092]
  producer:
    transaction: {id: booking-tx, timeout: 1m}
    idempotent: false
    requiredAcks: WaitForAll
  net: {maxOpenRequests: 1}
"""
PEKKO = """pekko.kafka.consumer.kafka-clients { group.id = settle, isolation.level = read_committed }
"""
BEATS = """output.kafka:
  hosts: ["kafka1:9092"]
  topic: audit
  required_acks: -1
"""


def read(text: str, file: str = "app.yaml") -> list[Source]:
    (document,) = parse_documents(file, text)
    return sources_of(document, file)


def names(source: Source) -> set[str]:
    return set(source.values)


def test_the_halves_of_node_rdkafka_are_one_client() -> None:
    producer, consumer = read(RDKAFKA)
    assert (producer.role, consumer.role) == (Role.PRODUCER, Role.CONSUMER)
    assert names(producer) == {"transactional.id", "transaction.timeout.ms", "message.timeout.ms"}
    assert names(consumer) == {"group.id", "enable.auto.commit", "auto.offset.reset"}


def test_settings_that_a_wrapper_hands_on_belong_to_its_client() -> None:
    (producer,) = read(WRAPPER)
    assert {"acks", "transactional.id"} <= names(producer)


@pytest.mark.parametrize(
    "text",
    [
        "kafka: {replicas: 3, topic: {partitions: 3}}\n",
        "app: {name: shop, additionalProperties: {transactional.id: a}}\n",
        "app: {acks: all, additionalProperties: {colour: red, transactional.id: a}}\n",
    ],
)
def test_other_mappings_stay_apart(text: str) -> None:
    (document,) = parse_documents("app.yaml", text)
    assert isinstance(document, Branch)
    inner = document.entries[0][1]
    assert isinstance(inner, Branch)
    assert with_parts(inner) == inner


def test_channels_of_other_connectors_are_left_out() -> None:
    (consumer,) = read(HELIDON)
    assert (consumer.role, consumer.label) == (Role.CONSUMER, "orders")
    assert consumer.values["bootstrap.servers"].text == "kafka:9092"
    assert consumer.framework == {"enable.auto.commit": None}  # Helidon's default is not that of SmallRye


@pytest.mark.parametrize("text", [BEATS, BEATS.replace("output.kafka", "output: {}\noutput.kafka")])
def test_the_output_of_beats_is_a_producer_of_sarama(text: str) -> None:
    (producer,) = read(text, "filebeat.yml")
    assert (producer.client, producer.values["acks"].text) == (Client.SARAMA, "all")


def test_clients_in_one_file_are_of_one_library() -> None:
    text = (
        '{"producerConfig": {"idempotent": true, "maxInFlightRequests": 1},'
        ' "consumerConfig": {"groupId": "cart", "sessionTimeout": 30000}}'
    )
    assert [one.client for one in read(text, "kafka.json")] == [Client.KAFKAJS, Client.KAFKAJS]


def test_the_name_of_a_library_is_about_kafka() -> None:
    (producer,) = read(SARAMA, "config.yaml")
    assert {"transactional.id", "enable.idempotence", "acks"} <= names(producer)


def test_consumers_of_pekko_commit_nothing_by_themselves() -> None:
    (consumer,) = read(PEKKO, "application.conf")
    assert consumer.framework == {"enable.auto.commit": "false"}


def test_a_programs_own_level_of_logs_is_none_of_a_client(tmp_path: Path) -> None:
    own = "kafka:\n  common: {bootstrap.servers: a:1}\n  producer: {transactional.id: fares-1}\n"
    clients = "  consumer: {group.id: fares, enable.auto.commit: false, isolation.level: read_committed}\n"
    (tmp_path / "production.yaml").write_text(f"log_level: INFO\n{own}{clients}")
    (tmp_path / "requirements.txt").write_text("confluent-kafka==2.5.3\n")
    assert lint_configuration(LintRequest((tmp_path,))).found == ()
    (tmp_path / "production.yaml").write_text(own.replace("{trans", "{log_level: INFO, trans"))
    assert [one.check_id for one in lint_configuration(LintRequest((tmp_path,))).found] == ["EOS-CFG-088"]
