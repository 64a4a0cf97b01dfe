"""What looks like Kafka's settings in public repositories, and is something else; and the reverse."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment_files import read_components

JMX_RULES = """kind: ConfigMap
apiVersion: v1
metadata: {name: metrics}
data:
  metrics.yml: |
    rules:
      - pattern: kafka.connect<type=task, connector=(.+), task=(.+)><>status
        name: kafka_connect_status
        labels: {clientId: "$1", nodeId: "$2", groupId: "$3"}
"""
PIPELINE = """jobs:
  test:
    env:
      CONNECT_IMAGE_WITH_PLUGIN: ""
      KAFKA_VERSION: latest
"""
WORKER = """services:
  worker:
    image: acme/plugins:1
    environment: {CONNECT_%s}
"""
NETWORK = """Description: Kafka
Resources:
  In:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {GroupId: sg-1}
"""
CAPTURE = """- config.string: |
    input { http { port => 5044 } }
"""
TOOLS = """services:
  kafka:
    image: apache/kafka:4.0.0
    environment: {KAFKA_HEAP_OPTS: -Xmx1g}
"""
BLOCKS = """kind: ConfigMap
apiVersion: v1
metadata: {name: files}
data:
  %s: |
    input { kafka { bootstrap_servers => "k:9092" topics => ["a"] } }
    output { kafka { bootstrap_servers => "k:9092" topic_id => "b" } }
"""
CONNECTOR = '{"name": "users", "config": {"connector.class": "acme.Datagen", "kafka.topic": "users", "tasks.max": "1"}}'


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("metrics.yaml", JMX_RULES),
        ("tests.yaml", PIPELINE),
        ("compose.yaml", WORKER % "TIMEOUT: 5"),
        ("kafka.yaml", NETWORK),
        ("pipelines.yml", CAPTURE),
        ("compose.yaml", TOOLS),
        (".env", "KAFKA_HOST=kafka\nKAFKA_PORT=9092\n"),
        ("kafka-panel.json", '{"kafka": {"excludeByName": {"host_name": true}}}'),
        ("schema-registry.properties", "port=80\nlisteners=http://0.0.0.0:80\nkafkastore.topic=_schemas\n"),
        ("cruisecontrol.properties", "bootstrap.servers=k:9092\nzookeeper.connect=z:2181\n"),
    ],
)
def test_names_of_others_are_not_settings(file: str, text: str) -> None:
    assert read_components(file, text) == []


@pytest.mark.parametrize("setting", ["GROUP_ID: a", "PRODUCER_ACKS: all"])
def test_a_worker_is_known_by_a_setting(setting: str) -> None:
    roles = {one.role for one in read_components("compose.yaml", WORKER % setting)}
    assert Role.CONNECT_WORKER in roles


@pytest.mark.parametrize("file", ["datagen.config", "datagen.cfg", "datagen.json"])
def test_a_connector_is_read_from_files_of_any_ending(file: str) -> None:
    assert [one.role for one in read_components(file, CONNECTOR)] == [Role.SOURCE_CONNECTOR]


@pytest.mark.parametrize("name", ["logstash.conf", "settings"])
def test_a_pipeline_inside_of_another_file_is_that_of_logstash(name: str) -> None:
    found = {(one.role, one.recognized_by) for one in read_components("files.yaml", BLOCKS % name)}
    assert found == {(Role.PRODUCER, "Logstash output kafka"), (Role.CONSUMER, "Logstash input kafka")}


def test_partitions_and_replicas_alone_are_those_of_a_topic() -> None:
    text = '{"activeTopics": {"orders": {"numPartitions": 10, "replicationFactor": 3}}, "bootstrapServers": "k:9092"}'
    assert [one.role for one in read_components("bench.json", text)] == [Role.TOPIC]


def test_a_list_does_not_hide_the_settings_next_to_it() -> None:
    text = "franz:\n  kafka: {seed_brokers: [k:9092], transactional_id: t, transaction_timeout: 30m}\n"
    (producer,) = read_components("app.yaml", text)
    assert (producer.role, producer.number("transaction.timeout.ms")) == (Role.PRODUCER, 1_800_000)


def test_a_connection_alone_is_that_of_any_client() -> None:
    (client,) = read_components("client.properties", "security.protocol=SSL\nssl.client.auth=required\n")
    assert (client.role, client.others) == (Role.PRODUCER, (Role.CONSUMER,))
