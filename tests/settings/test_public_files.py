"""What files of public repositories were misread as: each is a kind, with a file made of the same keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment_files import read_components, read_deployment

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
