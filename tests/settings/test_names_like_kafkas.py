"""Names in public files that are called like what they are not: each is a kind, with files of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment

QUERIES: Final = """SET 'auto.offset.reset' = 'earliest';
SET 'ksql.streams.processing.guarantee' = 'exactly_once';
CREATE STREAM parcels (id VARCHAR KEY) WITH (KAFKA_TOPIC='parcels', VALUE_FORMAT='JSON');
CREATE SINK CONNECTOR ports WITH ('connector.class' = 'a.PortsSinkConnector', 'topics' = 'parcels');
CREATE TABLE heavy AS SELECT id, COUNT(*) AS n FROM parcels GROUP BY id EMIT CHANGES;
"""
TABLES: Final = """SET 'execution.checkpointing.interval' = '10 s';
CREATE TABLE parcels (id INT) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'k:9092');
"""
CREATED: Final = "kafka-topics --create --bootstrap-server k:9092 --replication-factor 1 --partitions 3 --topic NAME\n"
WORKLOAD: Final = """apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: NAME
          image: acme/NAME:1
          env: [{name: KAFKA_SECURITY_PROTOCOL, value: SASL_SSL}, {name: KAFKA_SASL_MECHANISM, value: PLAIN}]
"""
MIRROR: Final = "clusters=a,b\na.bootstrap.servers=a:1\nb.bootstrap.servers=b:1\na->b.enabled=true\n"
SERVICE: Final = """services:
  mirror:
    image: apache/kafka:3.9.0
    command: /opt/kafka/bin/connect-mirror-maker.sh /tmp/mm2.properties
    environment: {KAFKA_ADVERTISED_HOST_NAME: mirror}
    volumes:
      - SOURCE:/tmp/mm2.properties
      - ./connect-log4j.properties:/tmp/connect-log4j.properties
"""
OWN_WORDS: Final = """services:
  k:
    image: acme/kafka:v3.5.1
    environment:
      KAFKA_CFG_PROCESS_ROLES: broker,controller
      KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 0@k:9090
      KAFKA_NODE_ID: fromPodName
"""
TAIL: Final = """[INPUT]
    Name tail
    Tag  kafka_consumer
    Path /var/log/kafka.log
[OUTPUT]
    Name  es
    Match kafka_consumer
"""


def roles_of(file: str, text: str) -> list[Role]:
    return [one.role for one in read_components(file, text) if one.inside is None]


class TestKsqlDb:
    @pytest.mark.parametrize("file", ["queries.ksql", "queries.sql"])
    def test_what_is_set_is_for_applications_of_streams(self, file: str) -> None:
        assert roles_of(file, QUERIES) == [Role.SINK_CONNECTOR, Role.STREAMS]
        streams = next(one for one in read_components(file, QUERIES) if one.role is Role.STREAMS)
        given = {name: value.key for name, value in streams.given.items()}
        assert given == {
            "auto.offset.reset": "auto.offset.reset",
            "processing.guarantee": "ksql.streams.processing.guarantee",
        }

    def test_a_file_of_its_own_ending_needs_no_query(self, tmp_path: Path) -> None:
        (tmp_path / "settings.ksql").write_text("SET 'auto.offset.reset' = 'earliest';\n")
        (tmp_path / "queries.ksql").write_text("SELECT * FROM parcels EMIT CHANGES;\n")
        found = read_deployment([tmp_path])
        streams = [one for one in found.deployment.components if one.inside is None]
        assert [one.role for one in streams] == [Role.STREAMS]
        assert (len(found.read), found.not_understood) == (2, ())

    def test_what_is_set_in_flink_holds_for_its_tables(self) -> None:
        (table, *_) = read_components("job.sql", TABLES)
        assert (table.role, table.word("execution.checkpointing.interval")) == (Role.FLINK, "10 s")


class TestTopics:
    @pytest.mark.parametrize("name", ["spring.kafka.parcels", "spring.cloud.stream.parcels", "parcels"])
    def test_a_topic_is_called_like_a_setting(self, name: str) -> None:
        (topic,) = read_components("topics.sh", CREATED.replace("NAME", name))
        assert (topic.role, topic.number("replication.factor")) == (Role.TOPIC, 1)
        assert name in topic.name


class TestWorkloads:
    @pytest.mark.parametrize(
        ("name", "is_streams"),
        [("spark-streamer", False), ("streaming-job", False), ("upstream", False), ("parcel-streams", True)],
    )
    def test_a_streamer_is_not_kafka_streams(self, name: str, is_streams: bool) -> None:
        assert (Role.STREAMS in roles_of("deploy.yaml", WORKLOAD.replace("NAME", name))) is is_streams

    @pytest.mark.parametrize("source", ["./mm2.properties", "$PWD/mm2.properties", "${PWD:-.}/mm2.properties"])
    def test_a_mirror_in_an_image_of_brokers_reads_its_file(self, source: str, tmp_path: Path) -> None:
        (tmp_path / "mm2.properties").write_text(MIRROR)
        (tmp_path / "compose.yaml").write_text(SERVICE.replace("SOURCE", source))
        found = read_deployment([tmp_path])
        (mirror,) = (one for one in found.deployment.components if one.inside is None)
        assert (mirror.role, mirror.release, found.unseen) == (Role.MIRROR_MAKER, (3, 9), ())

    def test_a_file_that_is_not_there_is_missing(self, tmp_path: Path) -> None:
        (tmp_path / "compose.yaml").write_text(SERVICE.replace("SOURCE", "$PWD/mm2.properties"))
        assert {one.reads for one in read_deployment([tmp_path]).unseen} == {"/tmp/mm2.properties"}

    def test_words_of_an_images_own_script_are_not_settings(self) -> None:
        (broker,) = read_components("compose.yaml", OWN_WORDS)
        assert sorted(broker.given) == ["controller.quorum.voters", "process.roles"]


class TestPipelines:
    def test_a_tag_is_called_like_kafka(self, tmp_path: Path) -> None:
        (tmp_path / "tail.conf").write_text(TAIL)
        assert read_deployment([tmp_path]).not_understood == ()

    def test_another_plugin_for_kafka_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "tail.conf").write_text(f"{TAIL}[OUTPUT]\n    Name kafka-rest\n    Host kafka\n")
        assert [Path(file).name for file in read_deployment([tmp_path]).not_understood] == ["tail.conf"]

    @pytest.mark.parametrize(("receiver", "named"), [("kafkametrics", []), ("kafka/2: a\n  otlp", ["otel.yaml"])])
    def test_a_collector_that_reads_metrics_has_no_client(
        self, receiver: str, named: list[str], tmp_path: Path
    ) -> None:
        head = f"receivers:\n  {receiver}: {{brokers: ['k:9092']}}\n"
        text = f"{head}exporters: {{debug: {{}}}}\nservice: {{pipelines: {{}}}}\n"
        (tmp_path / "otel.yaml").write_text(text)
        assert [Path(file).name for file in read_deployment([tmp_path]).not_understood] == named


SECRET: Final = "apiVersion: v1\nkind: Secret\nmetadata: {name: kafka-login}\nstringData: {KEY: a}\n"
RULES: Final = """apiVersion: v1
kind: ConfigMap
metadata: {name: kafka-metrics}
data:
  metrics.yml: |
    lowercaseOutputName: true
    rules:
      - pattern: kafka.server<type=(.+), name=(.+)><>Value
"""
PROFILE: Final = "name: parcels\nkafka_api: {brokers: ['k:9092']}\nadmin_api: {addresses: ['k:9644']}\n"
PLUGIN: Final = '{"name": "kafka-connect-parcels", "owner": {"name": "acme"}, "component_types": ["sink"]}\n'


class TestOthers:
    @pytest.mark.parametrize(
        ("name", "text", "is_named"),
        [
            ("secret.yaml", SECRET.replace("KEY", "kafka-password"), False),
            ("secret.yaml", SECRET.replace("KEY", "ca.crt"), False),
            ("secret.yaml", SECRET.replace("KEY", "kafka.conf"), True),
            ("secret.yaml", SECRET.replace("KEY", "KAFKA_URL"), True),
            ("metrics.yaml", RULES, False),
            ("metrics.yaml", RULES + "  kafka: 'k:9092'\n", True),
            ("profile.yaml", PROFILE, False),
            ("profile.yaml", PROFILE.replace("admin_api", "other"), True),
            ("manifest.json", PLUGIN, False),
            ("trogdor.conf", '{"kafka": {"hostname": "k"}}\n', False),
            ("hosts.yml", "all:\nkafka_brokers:\n  hosts:\n    k-1.acme:\n", False),
        ],
    )
    def test_what_has_no_place_for_a_setting_is_understood(
        self, name: str, text: str, is_named: bool, tmp_path: Path
    ) -> None:
        (tmp_path / name).write_text(text)
        found = read_deployment([tmp_path])
        assert (found.deployment.components, len(found.not_understood)) == ((), is_named)


class TestPrograms:
    @pytest.mark.parametrize(("key", "roles"), [("parcel", []), ("kafka_producer", [Role.PRODUCER])])
    def test_an_id_of_a_payment_is_not_a_producers(self, key: str, roles: list[Role]) -> None:
        text = f'{key} = {{"transaction_id": "a", "payload": "b"}}\n'
        assert roles_of("kafka_config.py", text) == roles
