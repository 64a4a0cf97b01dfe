"""What looks like Kafka's settings in public repositories, and is something else; and the reverse."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment

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
FLINK = """jobmanager.rpc.address: jm
rest.port: 8081
parallelism.default: 2
"""
PAGE = """services:
  pages:
    image: acme/kafka-connect-pages:1
    environment: {CONNECT_URL: "http://worker:8083"}
"""
CRUISE_CONTROL = """apiVersion: kafka.banzaicloud.io/v1beta1
kind: KafkaCluster
spec:
  cruiseControlConfig:
    topicConfig: {partitions: 6, replicationFactor: 1}
    clusterConfig: |
      {"min.insync.replicas": 1}
"""
EXPECTED = """kind: ConfigMap
apiVersion: v1
metadata: {name: cruise}
data:
  clusterConfigs.json: |
    {"min.insync.replicas": 1,
     "log.retention.ms": 5}
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
        ("compose.yaml", PAGE),
        ("conf/flink-conf.yaml", FLINK),
        ("cluster.yaml", CRUISE_CONTROL),
        ("cruise.yaml", EXPECTED),
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


def test_a_worker_by_its_port_and_its_brokers() -> None:
    worker, *_ = read_components("worker.properties", "bootstrap.servers=k:9092\nrest.port=8083\n")
    assert worker.role is Role.CONNECT_WORKER


def test_a_mapping_with_brokers_is_a_client() -> None:
    text = (
        "queue:\n  kafka:\n    bootstrap.servers: k:9092\n    acks: 1\n    replication_factor: 1\n"
        "    max.request.size: 9\n    ssl: {enabled: true, a: 1, b: 2, c: 3, d: 4}\n    other: {e: 5, f: 6}\n"
    )
    (producer,) = read_components("app.yml", text)
    assert (producer.role, producer.word("acks")) == (Role.PRODUCER, "1")


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


OWN_CLIENTS = """spring:
  kafka: {bootstrap-servers: "k:9092"}
app:
  kafka:
    producer: {transactional.id: a, acks: all}
    streams: {processing.guarantee: exactly_once_v2}
"""


@pytest.mark.parametrize("text", [OWN_CLIENTS, OWN_CLIENTS.partition("\n")[2].partition("\n")[2]])
def test_clients_that_an_application_makes_itself_are_read(text: str) -> None:
    found = read_components("application.yml", text)
    streams = next(one for one in found if one.role is Role.STREAMS)
    assert streams.word("processing.guarantee") == "exactly_once_v2"
    assert any(one.role is Role.PRODUCER and one.inside is not Role.SPRING for one in found)


ALIKE = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  selector: {{}}
  template:
    spec:
      containers:
        - name: app
          image: shop/app
          env: {variables}
"""


def test_containers_of_one_name_are_not_one_application(tmp_path: Path) -> None:
    reader = ALIKE.format(name="a", variables='[{name: KAFKA_ENABLE_AUTO_COMMIT, value: "true"}]')
    writer = ALIKE.format(name="b", variables="[{name: KAFKA_TRANSACTIONAL_ID, value: b}]")
    path = tmp_path / "all.yaml"
    path.write_text(f"{reader}---\n{writer}", "utf-8")
    found = findings_of(judge(read_deployment([path]).deployment))
    assert "EOS-CFG-021" not in {one.check_id for one in found}


@pytest.mark.parametrize("file", ["gradle.properties", "gradle/libs.versions.toml", "Cargo.toml"])
def test_files_of_dependencies_are_not_about_kafka(tmp_path: Path, file: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text('kafka = "3.9.0"\n', "utf-8")
    assert read_deployment([tmp_path]).not_understood == ()


def test_what_hiera_fills_in_is_from_outside(tmp_path: Path) -> None:
    text = "kafka::broker::config:\n  broker.id: '%{facts.kafka_id}'\n  log.dirs: /srv/k\n  min.insync.replicas: 1\n"
    (tmp_path / "kafka.yaml").write_text(text)
    problems = findings_of(judge(read_deployment([tmp_path]).deployment))
    assert {(one.check_id, dict(one.facts)["line"]) for one in problems} == {("EOS-CFG-035", 4)}
