"""What the configuration files of public repositories showed: each is a kind, with files made for the test."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.checks.judge import judge
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment

OWN: Final = """{path}
  properties:
    acks: all
    application.id: parcels
    bootstrap.servers: k:9092
    num.stream.threads: 2
"""
CONNECTORS: Final = """{"name": "parcels", "config": {"connector.class": "PostgresSource", "kafka.topic": "a"}}

{
  "name": "ports",
  "config": {"connector.class": "io.confluent.connect.s3.S3SinkConnector", "topics": "a", "errors.tolerance": "all"}
}
"""
PIECE: Final = '"connector.class": "PostgresSource",\n"kafka.topic": "a",\n'
PROFILES: Final = """spring:
  kafka:
    producer: {{acks: all}}
    consumer: {{group-id: parcels}}
---
spring:
  {key}: exact
  kafka:
    consumer: {{isolation-level: read_committed, enable-auto-commit: false}}
    producer: {{transaction-id-prefix: parcel-}}
"""
CONFLUENT: Final = """apiVersion: platform.confluent.io/v1beta1
kind: KRaftController
metadata: {name: quorum}
spec:
  replicas: 1
  configOverrides: {server: [offsets.topic.replication.factor=1]}
---
apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: parcels}
spec:
  replicas: REPLICAS
  configOverrides: {server: [offsets.topic.replication.factor=1, transaction.state.log.replication.factor=1]}
"""
TEMPLATE: Final = """broker.id={number}
zookeeper.connect={host}:{port}/{path}
num.partitions=<< FILL IN >>
listeners={protocol}://{host}:9092
"""
QUERIES: Final = """SET 'auto.offset.reset' = 'earliest';
CREATE SOURCE CONNECTOR parcels WITH ('connector.class' = 'PostgresSource', 'kafka.topic' = 'a');
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'k:9092');
"""
GRANTED: Final = """resource "confluent_kafka_acl" "parcels" {
  resource_type = "TOPIC"
  resource_name = NAME
  pattern_type  = "PREFIXED"
  principal     = "User:a"
  operation     = "ALL"
  permission    = "ALLOW"
}
"""
SHARED: Final = """bootstrap.servers=k:9092
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
enable.auto.commit=true
"""
ROLL: Final = """services:
  old:
    image: apache/kafka:3.5.2
    environment: {KAFKA_BROKER_ID: 1, KAFKA_ZOOKEEPER_CONNECT: "z:2181"}
  new:
    image: apache/kafka:3.6.1
    environment: {KAFKA_BROKER_ID: 2, KAFKA_ZOOKEEPER_CONNECT: "QUORUM"}
"""
HELD: Final = """apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data:
  group.id: NAME
  isolation.level: {{ .Values.isolation }}
"""


def failed(file: str, text: str) -> set[str]:
    results = judge(Deployment(tuple(read_components(file, text)), load_tables()))
    return {finding.check_id for result in results for finding in result.findings}


@pytest.mark.parametrize("path", ["kafka:", "shop-kafka:\n  topic: a", "kafka:\n  bootstrap-servers: k:9092"])
def test_a_mapping_of_properties_holds_settings(path: str) -> None:
    streams = [one for one in read_components("application.yml", OWN.format(path=path)) if one.inside is None]
    assert [(one.role, one.word("num.stream.threads")) for one in streams] == [(Role.STREAMS, "2")]


def test_properties_of_a_table_of_flink_keep_their_prefix() -> None:
    table = "sink: {connector: kafka, topic: a, properties: {bootstrap.servers: 'k:9092', acks: all}}"
    assert {one.role for one in read_components("job.yml", table)}.isdisjoint({Role.STREAMS, Role.CONSUMER})


def test_objects_one_after_another_are_read_each() -> None:
    source, sink = read_components("connectors.json", CONNECTORS)
    assert (source.role, sink.role) == (Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR)
    tolerance = sink.value("errors.tolerance")
    assert tolerance.place is not None
    assert tolerance.place.line == 5


def test_pieces_of_json_are_named_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "piece.json").write_text(PIECE, "utf-8")
    (tmp_path / ".env.patch").write_text("--- .env\n+KAFKA_BROKERS=k:9092\n", "utf-8")
    read = read_deployment([tmp_path])
    assert (read.unreadable, read.not_understood) == ((), (str(tmp_path / "piece.json"),))
    assert [one.file for one in read_deployment([tmp_path / "piece.json"]).unreadable] == [str(tmp_path / "piece.json")]


def test_a_broken_object_stays_an_error(tmp_path: Path) -> None:
    (tmp_path / "connector.json").write_text('{"connector.class": "PostgresSource"', "utf-8")
    assert len(read_deployment([tmp_path]).unreadable) == 1


@pytest.mark.parametrize("key", ["config.activate.on-profile", "profiles"])
def test_a_profile_is_apart_from_the_other_documents(key: str) -> None:
    text = PROFILES.format(key=key)
    assert failed("application.yml", text) == set()
    assert "EOS-CFG-020" in failed("application.yml", text.replace("isolation-level: read_committed, ", ""))


def test_the_operator_of_confluent_sets_what_is_not_given() -> None:
    assert failed("kafka.yaml", CONFLUENT.replace("REPLICAS", "1")) == set()
    assert failed("kafka.yaml", CONFLUENT.replace("REPLICAS", "3")) == {"EOS-CFG-032", "EOS-CFG-036"}


def test_a_name_in_braces_is_not_a_value() -> None:
    assert failed("server.properties", TEMPLATE) == set()
    assert failed("server.properties", TEMPLATE.replace("{number}", "one")) == {"EOS-CFG-088"}


def test_a_connector_of_ksqldb_has_no_part_in_set() -> None:
    connector, *tables = read_components("queries.sql", QUERIES)
    assert (connector.role, connector.unread, tuple(connector.given)) == (
        Role.SOURCE_CONNECTOR,
        (),
        ("connector.class", "kafka.topic"),
    )
    assert tables


def test_a_reference_is_not_a_prefix_of_internal_topics() -> None:
    assert failed("main.tf", GRANTED.replace("NAME", "other_resource.main.prefix")) == set()
    assert failed("main.tf", GRANTED.replace("NAME", '"__"')) == {"EOS-CFG-031"}


def test_what_producers_share_is_not_a_whole_consumer() -> None:
    assert failed("consumer.properties", SHARED) == {"EOS-CFG-140"}
    assert failed("consumer.properties", SHARED + "key.serializer=a.b.C\n") == set()


def test_a_roll_is_within_one_cluster() -> None:
    assert "EOS-CFG-055" in failed("compose.yaml", ROLL.replace("QUORUM", "z:2181"))
    assert "EOS-CFG-055" not in failed("compose.yaml", ROLL.replace("QUORUM", "other:2181"))


def test_templates_of_a_chart_read_its_values(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "values.yaml").write_text("isolation: read_uncommitted\n", "utf-8")
    for name in ("a", "b"):
        (tmp_path / "templates" / f"{name}.yaml").write_text(HELD.replace("NAME", name), "utf-8")
    read = read_deployment([tmp_path]).deployment.of(Role.CONSUMER)
    assert [one.word("isolation.level") for one in read] == ["read_uncommitted"] * 2
    (tmp_path / "values.yaml").write_text("isolation: read_committed\n", "utf-8")
    read = read_deployment([tmp_path]).deployment.of(Role.CONSUMER)
    assert [one.word("isolation.level") for one in read] == ["read_committed"] * 2


DECLARED: Final = """variable "kafka_id" {
  type = string
}
output "brokers" {
  value = confluent_kafka_cluster.main.bootstrap_endpoint
}
"""
LOGIN: Final = """KafkaServer {
  org.apache.kafka.common.security.plain.PlainLoginModule required
  username="a"
  password="b";
};
"""
TASKS: Final = """- name: Wait for Kafka
  wait_for: {port: 9092}
- name: Show what is said
  shell: echo SAID
"""
STEPS: Final = "jobs:\n  test:\n    steps:\n      - run: ./run.sh kafka SAID\n"
STREAMS: Final = "CREATE STREAM a WITH (KAFKA_TOPIC='a', VALUE_FORMAT='AVRO');\nSAID\n"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("variables.tf", DECLARED, 'locals {\n  settings = { "transactional.id" = 1 }\n}\n'),
        ("roles/kafka/tasks/main.yml", TASKS, "transactional.id"),
        (".github/workflows/test.yml", STEPS, "isolation.level"),
        ("streams.sql", STREAMS, "x = 'transactional.id'"),
    ],
)
def test_what_has_no_place_for_a_setting_is_understood(tmp_path: Path, file: str, text: str, said: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text.replace("SAID", ""), "utf-8")
    assert read_deployment([tmp_path]).not_understood == ()
    (tmp_path / file).write_text(text.replace("SAID", said) if "SAID" in text else text + said, "utf-8")
    read = read_deployment([tmp_path])
    assert read.not_understood or read.deployment.components


def test_logins_are_understood(tmp_path: Path) -> None:
    (tmp_path / "kafka_jaas.conf").write_text(LOGIN, "utf-8")
    (tmp_path / "kafka.conf").write_text("KafkaServer {\n  brokers kafka:9092\n}\n", "utf-8")
    assert read_deployment([tmp_path]).not_understood == (str(tmp_path / "kafka.conf"),)


def test_a_variable_with_a_mapping_may_hold_settings(tmp_path: Path) -> None:
    text = 'variable "kafka" {\n  default = { "transactonal.id" = "a" }\n}\n'
    (tmp_path / "variables.tf").write_text(text, "utf-8")
    assert read_deployment([tmp_path]).not_understood == (str(tmp_path / "variables.tf"),)


@pytest.mark.parametrize(
    ("kind", "roles"), [("KafkaBridge", ["producer", "consumer"]), ("KafkaConnect", ["connect-worker"])]
)
def test_a_resource_without_settings_has_defaults(kind: str, roles: list[str]) -> None:
    head = f"apiVersion: kafka.strimzi.io/v1\nkind: {kind}\nmetadata: {{name: a}}\n"
    text = f"{head}spec: {{bootstrapServers: 'k:9092'}}\n"
    assert [one.role.value for one in read_components("a.yaml", text) if one.inside is None] == roles


ONE: Final = (
    "{KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: 'broker,controller', KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1,"
    " KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1, KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1}"
)


def test_a_service_without_image_changes_another_file() -> None:
    variables = "{KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: 'broker,controller'}"
    text = f"services:\n  kafka:\n    image: apache/kafka:4.1.0\n    environment: {variables}\n"
    assert "EOS-CFG-149" in failed("compose.yaml", text)
    part = text.replace("    image: apache/kafka:4.1.0\n", "")
    assert failed("compose.tls.yaml", part) == set()
    assert failed("compose.tls.yaml", part.replace(variables, ONE)) == set()


def test_records_in_lines_are_not_connectors(tmp_path: Path) -> None:
    (tmp_path / "records.json").write_text('{"topic": "kafka"}\n' * 101, "utf-8")
    read = read_deployment([tmp_path])
    assert (read.unreadable, read.not_understood) == ((), (str(tmp_path / "records.json"),))


def test_options_of_sarama_may_stand_alone() -> None:
    text = 'kafka:\n  "": {}\n  net: {maxOpenRequests: 5}\n  consumer: {retry: 1}\n'
    assert failed("a.yaml", text) == set()


@pytest.mark.parametrize("count", ["%d", "%1$s", "__TASKS__", "#TASKS#"])
def test_what_a_program_or_a_script_replaces_is_unknown(count: str) -> None:
    text = '{"name": "a", "config": {"connector.class": "PostgresSource", "tasks.max": "%s"}}'
    assert failed("a.json", text % count) == set()
    assert "EOS-CFG-088" in failed("a.json", text % "two")


@pytest.mark.parametrize("key", ["node.id", "broker.id"])
def test_the_start_script_of_an_image_numbers_brokers(key: str) -> None:
    text = f"{key}=KAFKA_NODE_ID\nlog.dirs=/var/lib/kafka\n"
    assert "EOS-CFG-088" not in failed("server.properties", text)
    assert "EOS-CFG-088" in failed("server.properties", text.replace("KAFKA_NODE_ID", "one"))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("ui/messages/en.json", '{"topics": {"min_insync_replicas": "Minimum of replicas", "topic": "Topic"}}'),
        ("locales/pt-BR/topics.yaml", "topics:\n  retention.ms: Retention\n  cleanup.policy: Policy\n"),
        ("api.yaml", "openapi: 3.0.0\ncomponents: {topic: {cleanup.policy: words, retention.ms: words}}\n"),
        ("api.json", '{"swagger": "2.0", "topic": {"cleanup.policy": "words", "retention.ms": "words"}}'),
    ],
)
def test_texts_and_interfaces_are_not_settings(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    read = read_deployment([tmp_path])
    assert (read.deployment.components, read.not_understood) == ((), ())
    assert read_deployment([tmp_path]).without_settings == (str(path),)


@pytest.mark.parametrize(("code", "is_refused"), [("3", False), ("9", True)])
def test_sarama_numbers_codecs(code: str, is_refused: bool) -> None:
    text = f"kafka_consumer:\n  group_id: a\n  brokers: [b:9092]\n  compression_codec: {code}\n"
    assert ("EOS-CFG-088" in failed("values.yaml", text)) is is_refused


@pytest.mark.parametrize(
    "text", ["kafka.rest.extension.classes=a.B\n", "client.security.protocol=SSL\naccess.control.allow.methods=GET\n"]
)
def test_the_rest_proxy_is_not_a_worker(text: str) -> None:
    assert read_components("proxy.properties", text) == []


def test_the_largest_message_of_a_client_is_not_a_brokers() -> None:
    text = "relay:\n  replicas: 1\n  processing:\n    kafkaConfig: {messageMaxBytes: 50000000}\n"
    assert Role.BROKER not in {one.role for one in read_components("values.yaml", text)}
    assert Role.BROKER in {one.role for one in read_components("values.yaml", "broker:\n  message.max.bytes: 9\n")}


def test_connectors_of_a_chart_have_a_class_and_a_configuration() -> None:
    head = "connect:\n  connectors:\n    - name: parcels\n      class: a.b.ParcelsSinkConnector\n      tasksMax: two\n"
    text = head + "      config: {topics: parcels, errors.tolerance: all}\n"
    (found,) = (one for one in read_components("values.yaml", text) if one.inside is None)
    assert (found.role, found.name) == (Role.SINK_CONNECTOR, "values.yaml (parcels)")
    assert {"EOS-CFG-088", "EOS-CFG-093"} <= failed("values.yaml", text)


def test_settings_of_servers_about_lag_make_none_of_clients() -> None:
    text = "telemetry:\n  properties:\n    confluent.consumer.lag.emitter.enabled: true\n    ssl.protocol: TLSv1.3\n"
    assert Role.CONSUMER not in {one.role for one in read_components("kafka.yml", text)}


@pytest.mark.parametrize(("server", "roles"), [("kafka_controller", []), ("kafka_rest", [Role.CONSUMER])])
def test_a_server_of_a_playbook_is_not_a_client(server: str, roles: list[Role]) -> None:
    text = f"all:\n  hosts:\n    a:\n      {server}_custom_properties:\n        group.id: parcels\n"
    assert [one.role for one in read_components("inventory.yml", text)] == roles
