"""Kinds of files from a blind trial on public repositories, each with files made for the test."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.analysis.read_as import read_as
from eosctl.findings.linted import Linted
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from eosctl.settings.files.templates import without_templates

MACHINES: Final = """driver: {name: docker}
platforms:
  - name: parcels-1
    image: confluentinc/cp-kafka:7.6.0
    groups: [kafka]
    env:
      KAFKA_NODE_ID: "1"
      KAFKA_PROCESS_ROLES: broker
      KAFKA_CONTROLLER_QUORUM_VOTERS: 9@quorum:9093
provisioner: {name: ansible}
"""
GROUPS: Final = """platforms:
  - name: parcels-1
    groups: [kafka_broker]
provisioner:
  inventory: {group_vars: {all: {ssl_enabled: true}}}
"""
DEFINITION: Final = """---
# Source: parcels/crds/kafka.yaml
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kafkas.example.com}
"""
REGISTRY: Final = """apiVersion: platform.confluent.io/v1beta1
kind: SchemaRegistry
metadata: {name: registry}
spec: {configOverrides: {server: [unclean.leader.election.enable=true, kafkastore.topic=_schemas]}}
"""
MIRROR: Final = """apiVersion: kafka.strimzi.io/v1beta1
kind: KafkaMirrorMaker
metadata: {name: copies}
spec:
  consumer: {bootstrapServers: "a:9092", groupId: copies, config: {isolation.level: read_uncommitted}}
  producer: {bootstrapServers: "b:9092", config: {acks: 1}}
"""
CLUSTER: Final = """kafka:
  applicationName: parcels
  replicas: 3
  config: {minInSyncReplicas: 2, defaultReplicationFactor: 3, offsetsTopicReplicationFactor: 3}
"""
SERVICE: Final = """services:
  kafka:
    image: IMAGE
    environment:
      KAFKA_CFG_NODE_ID: 1
      KAFKA_CFG_PROCESS_ROLES: broker,controller
      KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
"""
CHART: Final = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: parcels}
spec:
  kafka:
    listeners: [{name: tls, port: 9093, type: internal, tls: true}]
    config: {{ if .Values.more }} {{ toYaml .Values.more | nindent 6 }} {{ end }}
      transaction.state.log.min.isr: {{ .Values.least }}
      {{ if .Values.other }} {{ toYaml .Values.other | nindent 6 }} {{ end }}
    resources: {{ if .Values.limited }}
      limits: {cpu: 1}
      {{ else }} {} {{ end }}
    template: {{ if .Values.limited }}
      pod: {}
      {{ else }}
        {}
      {{ end }}
"""
DEFAULTS: Final = """Default configs for brokers in the cluster are:
  default.replication.factor=3 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:default.replication.factor=3}
"""


def lint(folder: Path, files: dict[str, str]) -> Linted:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return lint_configuration(LintRequest((folder,))).linted


def titles(file: str, text: str) -> list[tuple[str, str]]:
    return [(one.role.value, ".".join(map(str, one.release))) for one in read_components(file, text)]


def test_a_machine_of_molecule_has_its_image() -> None:
    assert titles("molecule/default/molecule.yml", MACHINES) == [("broker", "3.6")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("molecule/default/molecule.yml", GROUPS),
        ("crds/kafka.yaml", DEFINITION),
        ("registry.yaml", REGISTRY),
        ("proxy.yaml", "apiVersion: platform.confluent.io/v1beta1\nkind: KafkaRestProxy\nmetadata: {name: rest}\n"),
        ("requirements.yml", "- src: https://example.com/role_kafka\n"),
        ("roles/kafka/meta/main.yml", "galaxy_info: {role_name: kafka, author: parcels}\n"),
    ],
)
def test_files_without_a_setting_are_understood(name: str, text: str, tmp_path: Path) -> None:
    linted = lint(tmp_path, {name: text})
    assert (linted.not_understood, linted.read_as) == ((), ())


def test_a_proxy_with_a_setting_is_not_passed_over(tmp_path: Path) -> None:
    proxy = "apiVersion: platform.confluent.io/v1beta1\nkind: KafkaRestProxy\nspec: {text: 'transactional.id'}\n"
    assert lint(tmp_path, {"proxy.yaml": proxy}).not_understood == (f"{tmp_path}/proxy.yaml",)


def test_the_first_mirror_maker_is_a_producer_and_a_consumer() -> None:
    found = read_components("mirror.yaml", MIRROR)
    assert [(one.role.value, one.word("group.id"), one.word("acks")) for one in found] == [
        ("producer", None, "1"),
        ("consumer", "copies", None),
    ]


def test_the_number_of_brokers_is_not_a_topics_factor() -> None:
    assert [role for role, _ in titles("values.yaml", CLUSTER)] == ["broker"]


def test_a_factor_alone_is_not_a_streams_application() -> None:
    text = "kafka:\n  replicationFactor: 3\n  bootstrapServers: k:9092\n  securityProtocol: SSL\n"
    assert "streams" not in [role for role, _ in titles("values.yaml", text)]


@pytest.mark.parametrize(("image", "expected"), [("acme/kafka:v3.6.1", set()), ("apache/kafka:3.6.1", {"EOS-CFG-149"})])
def test_images_of_others_may_set_factors(image: str, expected: set[str], tmp_path: Path) -> None:
    linted = lint(tmp_path, {"compose.yaml": SERVICE.replace("IMAGE", image).replace("KAFKA_CFG_", "KAFKA_")})
    assert {one.check_id for one in linted.diagnosis.findings} == expected


@pytest.mark.parametrize("quoted", ['"all"', "'all'"])
def test_quotes_around_a_value_of_ini(quoted: str) -> None:
    (producer,) = read_components("app.ini", f"[producer]\nbootstrap.servers = k:9092\nacks = {quoted}\n")
    assert producer.word("acks") == "all"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("broker.id=1\nzookeeper.connect=z:2181\n", "3.9"),
        ("node.id=1\nprocess.roles=broker\nzookeeper.connect=z\nzookeeper.metadata.migration.enable=true\n", "3.9"),
        ("node.id=1\nprocess.roles=broker\nzookeeper.connect=z:2181\n", "4.4"),
    ],
)
def test_brokers_with_zookeeper_are_not_of_4_0(text: str, expected: str) -> None:
    assert titles("server.properties", text) == [("broker", expected)]


def test_two_images_with_other_defaults_do_not_disagree(tmp_path: Path) -> None:
    services = SERVICE.replace("IMAGE", "bitnami/kafka:3.6") + SERVICE.partition("\n")[2].replace(
        "  kafka:", "  other:", 1
    ).replace("IMAGE", "apache/kafka:3.6.1").replace("KAFKA_CFG_NODE_ID: 1", "KAFKA_NODE_ID: 2")
    assert "EOS-CFG-087" not in {one.check_id for one in lint(tmp_path, {"compose.yaml": services}).diagnosis.findings}


def test_printed_defaults_are_not_a_broker(tmp_path: Path) -> None:
    path = tmp_path / "defaults.txt"
    path.write_text(DEFAULTS)
    linted = lint_configuration(LintRequest((path,))).linted
    assert [one.title for one in linted.read_as] == ["defaults of all brokers"]


def test_read_deployment_of_an_empty_document(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("---\n# kafka\n---\n")
    assert read_as(read_deployment((tmp_path,)).deployment) == ()


def test_variables_of_dotnet_in_capitals() -> None:
    text = "KAFKA__PRODUCER__TRANSACTIONALID=web\nKAFKA__PRODUCER__ACKS=Leader\nKAFKA__PRODUCER__BOOTSTRAPSERVERS=k:1\n"
    (producer,) = read_components("web.env", text)
    value = producer.value("transactional.id")
    assert (value.text, value.key, producer.word("acks")) == ("web", "KAFKA__PRODUCER__TRANSACTIONALID", "1")


def test_pm2_reads_a_file_of_its_own_name() -> None:
    text = "module.exports = {apps: [{name: 'a', script: 'a.js', instances: 2, env: {KAFKA_TRANSACTIONAL_ID: 'a'}}]}"
    assert [role for role, _ in titles("pm2.config.js", text)] == ["producer"]


def test_conditions_behind_keys_of_a_template(tmp_path: Path) -> None:
    chart = {"Chart.yaml": "name: kafka\n", "values.yaml": "least: 1\n", "templates/kafka.yaml": CHART}
    linted = lint(tmp_path, chart)
    assert {one.check_id for one in linted.diagnosis.findings} == {"EOS-CFG-032"}
    assert linted.not_understood == ()


def test_a_value_that_a_condition_makes_stays_unknown() -> None:
    text = "a: {{ if .Values.a }} {{ .Values.b }} {{ end }}\nb: 1\n"
    assert without_templates(text) == "a: '{{ if .Values.a }} {{ .Values.b }} {{ end }}'\nb: 1\n"


def test_a_topic_of_confluents_operator_without_configs() -> None:
    text = "apiVersion: platform.confluent.io/v1beta1\nkind: KafkaTopic\nmetadata: {name: parcels}\n"
    (topic,) = read_components(
        "a.yaml", text + "spec: {replicas: 1, partitionCount: 9, kafkaRestClassRef: {name: a}}\n"
    )
    assert (topic.role.value, topic.word("replication.factor"), topic.word("partitions")) == ("topic", "1", "9")


@pytest.mark.parametrize("image", ["example/zookeeper", "confluentinc/cp-zookeeper:7.5.0"])
def test_a_server_of_zookeeper_is_not_a_broker(image: str) -> None:
    text = f"services:\n  zoo:\n    image: {image}\n    environment:\n      KAFKA_ADVERTISED_HOST_NAME: zoo\n"
    assert titles("compose.yaml", text) == []
