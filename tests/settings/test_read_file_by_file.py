"""What reading every file of public repositories showed: each is a kind, with files made for the test."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.checks.judge import judge
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from eosctl.settings.files.file_texts import is_of_others
from eosctl.settings.formats.yaml_file import YamlError, parse_yaml

TABLE: Final = """CREATE TABLE parcels (id INT) WITH (
  'connector' = 'kafka', 'topic' = 'parcels', 'format' = 'json', {more}
  'properties.bootstrap.servers' = 'k:9092'
);
"""


def roles_of(file: str, text: str) -> list[Role]:
    """Return the roles of what a text configures, the clients inside others aside."""
    return [one.role for one in read_components(file, text) if one.inside is None]


def inside(found: list[Component]) -> list[Role]:
    return [one.role for one in found if one.inside is not None]


class TestYaml:
    def test_an_anchor_is_named_again(self) -> None:
        (document,) = parse_yaml("a: &x 1\nb: *x\nc: &x 2\nd: [*x, '&x']\n")
        assert document == parse_yaml("a: &x 1\nb: *x\nc: &y 2\nd: [*y, '&x']\n")[0]

    def test_a_variable_stands_in_brackets(self) -> None:
        (document,) = parse_yaml('a: [ ${A} ]\nb: ${B:c}-${D}\nc: "${! e }"\n')
        assert document == parse_yaml('a: ["${A}"]\nb: "${B:c}-${D}"\nc: "${! e }"\n')[0]

    @pytest.mark.parametrize("text", ["a: [${A}", "a: *x\nb: &x 1\nc: &x 2", "a: &x 1\nb: &x [\n"])
    def test_a_malformed_text_is_refused(self, text: str) -> None:
        with pytest.raises(YamlError):
            parse_yaml(text)


class TestFlinkSql:
    @pytest.mark.parametrize(
        ("more", "client"),
        [
            ("'properties.group.id' = 'a',", Role.CONSUMER),
            ("", Role.PRODUCER),
            ("'properties.group.id' = 'a', 'sink.parallelism' = '2',", Role.PRODUCER),
        ],
    )
    def test_a_table_is_read_without_options(self, more: str, client: Role) -> None:
        found = read_components("jobs.sql", TABLE.format(more=more))
        assert (found[0].role, inside(found)) == (Role.FLINK, [client])

    def test_a_statement_stands_in_a_resource(self) -> None:
        text = (
            f'resource "aiven_flink_application_version" "a" {{\n  statement = <<EOT\n{TABLE.format(more="")}EOT\n}}\n'
        )
        assert roles_of("main.tf", text) == [Role.FLINK]


class TestKsqlDb:
    def test_a_server_is_a_streams_application(self) -> None:
        text = "listeners=http://0.0.0.0:8088\nbootstrap.servers=k:9092\nksql.service.id=parcels_\n"
        assert roles_of("ksql-server.properties", text) == [Role.STREAMS]


JOB: Final = """apiVersion: batch/v1
kind: Job
metadata: {name: setup}
spec:
  template:
    spec:
      containers:
        - name: setup
          image: acme/topics:1
          env:
            - {name: KAFKA_ZOOKEEPER_CONNECT, value: "z:2181"}
            - {name: KAFKA_BOOTSTRAP_SERVER, value: "k:9092"}
"""
MIGRATION: Final = """apiVersion: platform.confluent.io/v1beta1
kind: KRaftController
metadata: {name: quorum}
spec:
  replicas: 3
  configOverrides: {server: ["zookeeper.connect=z:2181/a"]}
"""
CHART: Final = """kafka:
  controller:
    replicaCount: 1
    extraConfig: |
      offsets.topic.replication.factor=1
      transaction.state.log.replication.factor=1
      transaction.state.log.min.isr=1
  broker:
    replicaCount: NUMBER
    extraConfig: |
      offsets.topic.replication.factor=1
      transaction.state.log.replication.factor=1
      transaction.state.log.min.isr=1
"""
SYNONYMS: Final = """{"data": [{"name": "retention.ms", "value": "6789", "is_default": false, "synonyms": [
  {"name": "retention.ms", "value": "6789", "source": "DYNAMIC_TOPIC_CONFIG"},
  {"name": "log.retention.ms", "value": "1", "source": "DYNAMIC_DEFAULT_BROKER_CONFIG"}]}]}
"""


def failed(file: str, text: str) -> set[str]:
    results = judge(Deployment(tuple(read_components(file, text)), load_tables()))
    return {finding.check_id for result in results for finding in result.findings}


class TestServers:
    def test_a_job_next_to_brokers_is_not_a_broker(self) -> None:
        assert Role.BROKER not in roles_of("setup.yaml", JOB)

    @pytest.mark.parametrize(
        ("image", "role"), [("quay.io/debezium/connect:3", Role.CONNECT_WORKER), ("a:1", Role.CONSUMER)]
    )
    def test_an_image_says_what_its_variables_are(self, image: str, role: Role) -> None:
        text = f"FROM {image}\nENV BOOTSTRAP_SERVERS=k:9092 GROUP_ID=1\nENV CONFIG_STORAGE_TOPIC=a\n"
        assert roles_of("Dockerfile", text) == [role]

    def test_a_controller_may_be_migrating(self) -> None:
        assert "EOS-CFG-108" not in failed("kraft.yaml", MIGRATION)

    @pytest.mark.parametrize(("number", "is_one"), [("0", True), ("2", False)])
    def test_a_chart_may_start_none_of_its_brokers(self, number: str, is_one: bool) -> None:
        assert ("EOS-CFG-032" not in failed("values.yaml", CHART.replace("NUMBER", number))) is is_one

    def test_printed_settings_without_a_value_are_unset(self) -> None:
        names = ("log.flush.interval.ms", "log.retention.ms", "log.roll.ms", "zookeeper.connect")
        text = "node.id=1\nprocess.roles=broker,controller\n" + "".join(f"{name}=null\n" for name in names)
        assert failed("printed.properties", text).isdisjoint({"EOS-CFG-088", "EOS-CFG-108"})


class TestTopics:
    @pytest.mark.parametrize(("policy", "is_found"), [("delete", False), ("compact", True), ("compact,delete", True)])
    def test_only_compaction_removes_markers(self, policy: str, is_found: bool) -> None:
        text = f"delete.retention.ms=100\ncleanup.policy={policy}\n"
        assert ("EOS-CFG-138" in failed("topic.properties", text)) is is_found

    def test_synonyms_are_not_settings_of_a_topic(self) -> None:
        (topic,) = read_components("kafka_topic_config.json", SYNONYMS)
        assert (topic.role, set(topic.given)) == (Role.TOPIC, {"retention.ms"})

    @pytest.mark.parametrize("kind", ["KafkaTopic", "KafkaConnector"])
    def test_a_resource_may_have_a_name_alone(self, kind: str, tmp_path: Path) -> None:
        text = f"apiVersion: kafka.strimzi.io/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{}}\n"
        (tmp_path / "a.yaml").write_text(text, "utf-8")
        assert read_deployment([tmp_path]).not_understood == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"acks": {"const": "1"}}}',
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["kafka-cluster:*"]}]}',
        '{"options": [' + ", ".join('{"name": "acks", "description": "a"}' for _ in range(40)) + "]}",
    ],
)
def test_json_may_describe_something_else(text: str) -> None:
    assert is_of_others("a.json", text)
    assert not is_of_others("a.json", '{"acks": "1", "description": "a", "Statement": "a"}')


def test_variables_of_a_module_are_given_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'variable "copies" {\n  default = "3"\n}\n'
        'resource "kafka_topic" "a" {\n  name = "a"\n  replication_factor = var.copies\n  partitions = 1\n}\n'
    )
    assert [one.word("replication.factor") for one in read_deployment([tmp_path]).deployment.components] == ["3"]
    (tmp_path / "terraform.tfvars").write_text('copies = "1"\n')
    assert [one.word("replication.factor") for one in read_deployment([tmp_path]).deployment.components] == ["1"]


def test_services_that_mount_scripts_do_not_count_them(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(
        "services:\n  a: {image: acme/a, volumes: ['.:/tests']}\n  b: {image: acme/b, volumes: ['.:/tests']}\n"
    )
    (tmp_path / "start.sh").write_text(
        "export KAFKA_BROKER_ID=57\nexport KAFKA_LISTENERS=PLAINTEXT://:9092\nsource start-kafka.sh\n"
    )
    (broker,) = read_deployment([tmp_path]).deployment.of(Role.BROKER)
    assert broker.instances is None


def test_clients_stand_apart_in_mappings_of_their_own_names() -> None:
    text = (
        '[kafka]\n"bootstrap.servers" = "k:9092"\n"group.id" = "a"\n'
        '[kafka_out]\n"bootstrap.servers" = "k:9092"\n"transactional.id" = "a"\n"enable.idempotence" = false\n'
    )
    assert roles_of("clients.toml", text) == [Role.CONSUMER, Role.PRODUCER]
    assert "EOS-CFG-010" in failed("clients.toml", text)


def test_names_with_dashes_are_read_in_an_applications_file() -> None:
    text = (
        'parcels.kafka { producer { acks = "1", idempotence = true }, consumer { group-id = a, auto-commit = false } }'
    )
    found = read_components("reference.conf", text)
    assert [(one.role, one.word("group.id"), one.word("acks")) for one in found] == [
        (Role.PRODUCER, None, "1"),
        (Role.CONSUMER, "a", None),
    ]


def test_a_migrator_of_redpanda_connect_has_two_clients() -> None:
    ends = "{redpanda_migrator: {seed_brokers: [a:9092], topics: [t]}}"
    text = f"input: {ends}\noutput: {ends}\n"
    assert set(roles_of("migrator.yaml", text)) == {Role.PRODUCER, Role.CONSUMER}


class TestTemplatesAndTexts:
    def test_a_template_of_properties_may_begin_with_an_expression(self) -> None:
        text = "{{ ansible_managed | comment }}\nprocess.roles=broker\nnode.id={{ id }}\nlog.dirs=/data\n"
        assert roles_of("server.properties.j2", text) == [Role.BROKER]

    def test_a_template_of_erb_is_not_malformed(self, tmp_path: Path) -> None:
        text = "<% if @kafka -%>\n{ brokers: kafka:9092, <%= @a %>\n<% end -%>\n"
        (tmp_path / "a.yaml.erb").write_text(text, "utf-8")
        read = read_deployment([tmp_path])
        assert (read.unreadable, read.not_understood) == ((), (str(tmp_path / "a.yaml.erb"),))

    @pytest.mark.parametrize("name", ["locale.constant-en_US.json", "app_de.json", "fr.json"])
    def test_texts_by_language_are_not_settings(self, name: str) -> None:
        assert is_of_others(f"ui/assets/locale/{name}", '{"kafka": {"retries": "a"}}')
        assert not is_of_others(f"config/{name}")

    def test_brokers_stand_below_a_clients_mapping(self) -> None:
        text = "kafka:\n  bootstrap: {servers: 'k:9092'}\n  acks: '1'\n  ssl: {enabled: false, ca: a, key: b}\n"
        (producer,) = read_components("default.yml", text)
        assert (producer.role, producer.word("acks")) == (Role.PRODUCER, "1")

    def test_values_of_a_chart_may_have_an_output(self) -> None:
        text = "operator: {a: 1}\nfluentbit: {b: 2}\noutput: {kafka: {enable: false, brokers: 'k:9092'}}\n"
        assert roles_of("values.yaml", text) == []
