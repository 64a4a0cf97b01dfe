"""Clients of other libraries: recognized by what they call things, and never judged by the defaults of Java."""

from __future__ import annotations

import json

import pytest

from eosctl.analysis.read_as import read_as
from eosctl.checks.judge import judge
from eosctl.findings.diagnosis import CheckStatus
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Deployment, Role
from eosctl.model.read_as import sentence
from eosctl.settings.deployment.deployment_files import read_components
from tests.settings.test_deployment_files import findings

KAFKAJS = {
    "kafka": {"clientId": "orders", "brokers": ["k:9092"], "sasl": {"mechanism": "plain", "username": "u"}},
    "producer": {"transactionalId": "orders-1", "idempotent": True, "transactionTimeout": 60000},
    "consumer": {"groupId": "orders", "readUncommitted": False},
}
KAFKAJS_JSON = json.dumps(KAFKAJS, indent=1)
SARAMA = "kafka:\n  client: sarama\n  producer:\n    idempotent: true\n    required_acks: %s\n"
KAFKA_GO = "kafka:\n  reader:\n    groupID: payments\n    topic: a\n  writer:\n    requiredAcks: all\n    topic: b\n"
FRANZ_GO = "kafka:\n  seed_brokers: ['k:9092']\n  transactional_id: a-1\n  fetch_isolation_level: %s\n"


def clients_of(file: str, text: str) -> set[tuple[Role, Client]]:
    return {(one.role, one.client) for one in read_components(file, text)}


@pytest.mark.parametrize(
    ("file", "text", "client", "roles"),
    [
        ("node-kafka.json", KAFKAJS_JSON, Client.KAFKAJS, (Role.PRODUCER, Role.CONSUMER)),
        ("config/default.json", KAFKAJS_JSON, Client.KAFKAJS, (Role.PRODUCER, Role.CONSUMER)),
        ("sarama.yaml", SARAMA % "WaitForAll", Client.SARAMA, (Role.PRODUCER,)),
        ("kafka.yaml", KAFKA_GO, Client.KAFKA_GO, (Role.CONSUMER,)),
        ("kafka.yaml", FRANZ_GO % "read_committed", Client.FRANZ_GO, (Role.PRODUCER, Role.CONSUMER)),
        ("kafka.yaml", "kafka:\n  producer:\n    requiredAcks: all\n", Client.OTHER, (Role.PRODUCER,)),
        ("ruby-kafka.yml", "kafka:\n  producer:\n    required_acks: all\n", Client.RUBY_KAFKA, (Role.PRODUCER,)),
        ("node.json", '{"kafka": {"transactional.id": "a"}}', Client.LIBRDKAFKA, (Role.PRODUCER,)),
        ("node-rdkafka.json", '{"kafka": {"transactionalId": "a"}}', Client.LIBRDKAFKA, (Role.PRODUCER,)),
        ("app.properties", "transactional.id=a\nacks=all\n", Client.JAVA, (Role.PRODUCER,)),
    ],
)
def test_a_client_is_recognized(file: str, text: str, client: Client, roles: tuple[Role, ...]) -> None:
    assert {(role, client) for role in roles} <= clients_of(file, text)


@pytest.mark.parametrize("file", ["node-kafka.json", "node.json", "settings.json"])
def test_a_sound_kafkajs_file_has_no_findings(file: str) -> None:
    assert findings((file, KAFKAJS_JSON)) == []


def test_written_mistakes_are_found_in_every_library() -> None:
    assert findings(("app.yaml", SARAMA % "WaitForLocal")) == ["EOS-CFG-011 app.yaml:5"]
    assert findings(("app.yaml", FRANZ_GO % "read_uncommitted")) == ["EOS-CFG-020 app.yaml:4"]
    uncommitted = {**KAFKAJS, "consumer": {"groupId": "orders", "readUncommitted": True}}
    assert findings(("app.json", json.dumps(uncommitted))) == ["EOS-CFG-020 app.json:1"]


def test_a_rule_that_needs_an_unknown_default_is_skipped_by_name() -> None:
    deployment = Deployment(tuple(read_components("node.json", KAFKAJS_JSON)), load_tables())
    results = {one.check_id: one for one in judge(deployment)}
    auto_commit = results["EOS-CFG-021"]
    assert auto_commit.status is CheckStatus.SKIPPED
    assert auto_commit.reason == "node.json:1: the default of enable.auto.commit in KafkaJS client is not known"
    assert results["EOS-CFG-020"].status is CheckStatus.PASSED  # readUncommitted is written


def test_the_reading_names_the_library_and_no_release_of_kafka() -> None:
    read = read_as(Deployment(tuple(read_components("node.json", KAFKAJS_JSON)), load_tables()))
    assert [sentence(one) for one in read] == [
        "KafkaJS producer (producer.transactionalId), only some defaults known",
        "KafkaJS consumer (consumer.groupId), only some defaults known",
    ]


@pytest.mark.parametrize("name", ["default.json", "config.yaml"])
def test_options_apart_are_joined_within_a_config_map(name: str) -> None:
    text = '{"kafka": {"producer": {"idempotent": true}, "send": {"acks": 1}, "client": {"clientId": "a"}}}'
    resource = f"kind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  {name}: |\n    {text}\n    \n"
    assert findings(("cm.yaml", resource)) == ["EOS-CFG-011 cm.yaml:5"]
