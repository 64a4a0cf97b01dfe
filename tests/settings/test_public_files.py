"""What files of public repositories were misread as: each is a kind, with a file made of the same keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment

TYPES = """variable "topics" {
  type = list(object({
    name             = string
    partitions_count = number
    cleanup_policy   = string
  }))
  description = "kafka topics"
}
"""
PROXY = """listeners=http://0.0.0.0:80
bootstrap.servers=PLAINTEXT://kafka:9092
schema.registry.url=http://avro:80
access.control.allow.methods=GET,POST
access.control.allow.origin=*
"""
REGISTRY = "listeners=http://0.0.0.0:80\nkafkastore.bootstrap.servers=k:9092\naccess.control.allow.origin=*\n"
UI = """kafka:
  clusters:
    - name: main
      bootstrapServers: kafka:9092
      defaultKeySerde: String
      defaultValueSerde: SchemaRegistry
"""
VALE = "StylesPath = styles\nVocab = kafka\n[*.adoc]\nBasedOnStyles = Own\n"
MQTT = """mp.messaging.connector.smallrye-mqtt.acks=1
mp.messaging.outgoing.a.connector=smallrye-mqtt
mp.messaging.outgoing.a.topic=prices
"""
ROOTED = "bootstrap.servers = k:9092\ntransactional.id = a\n[other]\nx = 1\n"


@pytest.mark.parametrize(
    ("file", "text", "roles"),
    [
        ("application.properties", "kafka-streams.producer.linger.ms=0\nquarkus.http.test-port=0\n", {Role.STREAMS}),
        ("application.properties", "quarkus.kafka-streams.topics=a,b\nkafka-streams.linger.ms=0\n", {Role.STREAMS}),
        ("variables.tf", TYPES, set()),
        ("kafka-rest.properties", PROXY, set()),
        ("schema-registry.properties", REGISTRY, set()),
        (".vale.ini", VALE, set()),
        ("kafka-ui-values.yaml", UI, set()),
        ("client.ini", ROOTED, {Role.PRODUCER}),
        ("login.env", "CONNECT_CLIENT_ID=connect\nCONNECT_CLIENT_SECRET=x\n", set()),
        ("app.env", "CONNECT_CLIENT_ID=a\nCONNECT_GROUP_ID=g\nCONNECT_OFFSET_STORAGE_TOPIC=o\n", {Role.CONNECT_WORKER}),
        ("values.yaml", "streams-app:\n  kafka:\n    bootstrapServers: k:1\n", set()),
        ("application.properties", MQTT, set()),
        ("application.properties", MQTT + "mp.messaging.incoming.b.connector=smallrye-kafka\n", {Role.CONSUMER}),
    ],
)
def test_a_file_is_read_as_what_it_is(file: str, text: str, roles: set[Role]) -> None:
    assert {one.role for one in read_components(file, text) if one.inside is None} == roles


def test_a_dashboard_is_not_a_connector(tmp_path: Path) -> None:
    renamed = '{"options": {"renameByName": {"connector_class": "Class"}}}'
    text = f'{{"title": "Kafka Connect", "schemaVersion": 39, "panels": [{{"transformations": [{renamed}]}}]}}'
    (tmp_path / "kafka-connect.json").write_text(text, "utf-8")
    (tmp_path / "server.properties").write_text("process.roles=broker\nnode.id=1\n", "utf-8")
    read = read_deployment([tmp_path])
    assert {one.role for one in read.deployment.components} == {Role.BROKER}
    assert read.not_understood == ()


OVERRIDING = """services:
  kafka:
    image: apache/kafka:4.1.0
    command: bin/kafka-server-start.sh config/server.properties --override num.partitions=3
    environment: {KAFKA_ADVERTISED_LISTENERS: "PLAINTEXT://HOST:9092"}
"""


def test_variants_of_a_compose_file_have_a_broker_each(tmp_path: Path) -> None:
    for name, host in (("docker-compose.yaml", "kafka"), ("docker-compose-local.yaml", "localhost")):
        (tmp_path / name).write_text(OVERRIDING.replace("HOST", host), "utf-8")
    brokers = read_deployment([tmp_path]).deployment.of(Role.BROKER)
    assert [one.word("num.partitions") for one in brokers] == ["3", "3"]
    assert {one.word("advertised.listeners") for one in brokers} == {
        "PLAINTEXT://kafka:9092",
        "PLAINTEXT://localhost:9092",
    }


def test_a_traceback_never_shows_the_text_of_a_setting() -> None:
    (producer,) = read_components("p.properties", 'transactional.id=a\nsasl.jaas.config=x password="hunter2";\n')
    assert producer.given["sasl.jaas.config"].word is not None
    assert "hunter2" not in repr(producer)
    assert "sasl.jaas.config" in repr(producer)
