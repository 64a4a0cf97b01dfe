"""The release of brokers, where a chart, an operator's resource, or a cloud's template names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Place, Role
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from eosctl.settings.releases.named_releases import release_in_text

CONFLUENT = """apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka}
spec:
  replicas: 3
  image: {application: "confluentinc/cp-server:7.6.0", init: "confluentinc/confluent-init-container:2.8.0"}
  configOverrides:
    server: [default.replication.factor=3, min.insync.replicas=2]
"""
CHART = """%s
controller: {replicaCount: 3}
overrideConfiguration: {default.replication.factor: 3, min.insync.replicas: 2}
"""
STACK = """Resources:
  Settings:
    Type: AWS::MSK::Configuration
    Properties:
      KafkaVersionsList: ["3.6.0"]
      ServerProperties: |
        min.insync.replicas=2
        default.replication.factor=3
  Cluster:
    Type: AWS::MSK::Cluster
    Properties: {KafkaVersion: "%s", NumberOfBrokerNodes: 3}
"""
TERRAFORM = """resource "aws_msk_configuration" "c" {
  name              = "c"
  kafka_versions    = ["3.7.x"]
  server_properties = <<EOT
min.insync.replicas=2
default.replication.factor=3
EOT
}
"""
AIVEN = """resource "aiven_kafka" "main" {
  plan = "business-4"
  kafka_user_config {
    kafka_version = "3.8"
    kafka {
      default_replication_factor = 3
      min_insync_replicas        = 2
    }
  }
}
"""


@pytest.mark.parametrize(
    ("file", "text", "release"),
    [
        ("kafka.yaml", CONFLUENT, (3, 6)),
        ("values.yaml", CHART % 'image: {tag: "3.8.0-debian-12-r5"}', (3, 8)),
        ("values.yaml", CHART % 'image: {repository: bitnami/kafka, tag: "3.9.0"}', (3, 9)),
        ("values.yaml", CHART % 'image: {repository: bitnami/redis, tag: "3.8.0-debian-12-r5"}', None),
        ("values.yaml", CHART % 'image: {tag: "3.8.0"}', None),
        ("stack.yaml", STACK % "3.6.0", (3, 6)),
        ("stack.yaml", STACK % "3.7.x", None),
        ("main.tf", TERRAFORM, (3, 7)),
        ("aiven.tf", AIVEN, (3, 8)),
    ],
)
def test_brokers_have_the_one_release_that_is_named(file: str, text: str, release: tuple[int, int] | None) -> None:
    brokers = [one for one in read_components(file, text) if one.role is Role.BROKER]
    assert brokers
    assert {one.release if one.release_named else None for one in brokers} == {release}


SERVER = "broker.id=1\nzookeeper.connect=zk:2181\nlog.dirs=/data\n"


@pytest.mark.parametrize(
    ("file", "text", "release"),
    [
        ("Dockerfile", "FROM confluentinc/cp-kafka:5.4.1\nCOPY server.properties /etc/kafka/\n", (2, 4)),
        ("Dockerfile", "FROM temurin:11\nARG KAFKA_VERSION=2.7.0\nRUN curl kafka_2.13-${KAFKA_VERSION}.tgz\n", (2, 7)),
        ("Dockerfile", "ARG V=3.7.0\nFROM temurin:17 AS build\nFROM apache/kafka:${V}\n", (3, 7)),
        (
            "kafka.service",
            "[Service]\nExecStart=/opt/kafka_2.13-3.3.1/bin/kafka-server-start.sh s.properties\n",
            (3, 3),
        ),
        ("versions.txt", "3.4.0 (Commit:2e1947d240607d53)\n", (3, 4)),
        ("f.txt", "Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: 3.5-IV2\t\n", (3, 5)),
        ("vars.yml", "kafka:\n  version: 3.2.3\n  scala: 2.13\n", (3, 2)),
        ("install.sh", "curl -O kafka_2.13-3.3.1.tgz\ncurl -O kafka_2.13-3.4.0.tgz\n", (3, 9)),
        ("Dockerfile", "FROM eclipse-temurin:17\n", (3, 9)),
    ],
)
def test_texts_of_a_project_name_the_release(tmp_path: Path, file: str, text: str, release: tuple[int, int]) -> None:
    (tmp_path / "server.properties").write_text(SERVER)
    (tmp_path / file).write_text(text)
    (name,) = {
        one.release for one in lint_configuration(LintRequest((tmp_path,))).linted.read_as if one.role == "broker"
    }
    assert name == ".".join(map(str, release))


def test_flink_properties_of_an_image_are_a_cluster() -> None:
    text = """services:
  jobmanager:
    image: flink:1.19
    environment:
      FLINK_PROPERTIES: |
        jobmanager.rpc.address: jobmanager
        execution.checkpointing.interval: 20 min
"""
    (cluster,) = read_components("compose.yml", text)
    interval = cluster.value("execution.checkpointing.interval")
    assert (cluster.role, interval.text, interval.place) == (Role.FLINK, "20 min", Place("compose.yml", 7))


def test_a_resource_of_confluents_operator_has_its_image() -> None:
    text = """apiVersion: platform.confluent.io/v1beta1
kind: KsqlDB
metadata: {name: k}
spec:
  image: {application: "confluentinc/cp-ksqldb-server:7.5.0"}
  configOverrides: {server: [ksql.streams.processing.guarantee=exactly_once_v2]}
"""
    assert {one.release for one in read_components("ksqldb.yaml", text)} == {(3, 5)}


@pytest.mark.parametrize(
    ("chart", "release"),
    [
        ("name: kafka\nversion: 1.0.0\nappVersion: 2.8.1\n", "2.8"),
        ('name: acme-kafka\nappVersion: "3.6.0"\n', "3.6"),
        ("name: kafka-ui\nappVersion: 0.7.2\n", ""),
        ("name: cp-kafka\nappVersion: 3.3.1\n", ""),
        ("name: pay\nappVersion: 2.8.1\n", ""),
    ],
)
def test_a_chart_of_kafka_names_the_release(chart: str, release: str) -> None:
    assert release_in_text("charts/kafka/Chart.yaml", f"apiVersion: v2\n{chart}") == release


MIRROR = "clusters=a,b\na.bootstrap.servers=a:1\nb.bootstrap.servers=b:1\na->b.enabled=true\n"
STARTED = "connect-mirror-maker.sh /etc/kafka/mm2.properties\n"
POD = """kind: Deployment
apiVersion: apps/v1
metadata: {name: mirror}
spec:
  template:
    spec:
      containers:
        - {name: m, image: "apache/kafka:3.7.1", volumeMounts: [{name: c, mountPath: /etc/kafka}],
           command: [connect-mirror-maker.sh, /etc/kafka/mm2.properties]}
      volumes: [{name: c, configMap: {name: mirror}}]
---
kind: ConfigMap
apiVersion: v1
metadata: {name: mirror}
data:
  mm2.properties: |
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mm2.service", f"[Service]\nExecStart=/opt/kafka_2.13-3.7.1/bin/{STARTED}"),
        ("inventory.ini", "[mirrors]\nm1\nm2\n[mirrors:vars]\nkafka_version=3.7.1\n"),
        ("pod.yaml", POD + "".join(f"    {line}\n" for line in MIRROR.splitlines())),
    ],
)
def test_a_mirror_has_the_release_that_starts_it(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    if name != "pod.yaml":
        (tmp_path / "mm2.properties").write_text(MIRROR)
    read = read_deployment([tmp_path])
    assert {one.release for one in read.deployment.of(Role.MIRROR_MAKER)} == {(3, 7)}
    assert read.not_understood == ()
