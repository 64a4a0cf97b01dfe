"""Files that a component uses: its variables, the number of its processes, and what only names an image of Kafka's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.findings.linted import Linted
from eosctl.services.lint_configuration import LintRequest, lint_configuration

POD: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: stock}
spec:
  replicas: 2
  selector: {matchLabels: {app: stock}}
  template:
    spec:
      containers:
        - name: stock
          image: registry.example/stock:1
          envFrom: [{configMapRef: {name: stock-env}}]
          env: [{name: SPRING_KAFKA_PRODUCER_ACKS, value: all}]
"""
KUSTOMIZATION: Final = """\
resources: [deployment.yaml]
configMapGenerator: [{name: stock-env, envs: [kafka.env]}]
"""
VARIABLES: Final = "SPRING_KAFKA_BOOTSTRAP_SERVERS=k:9092\nSPRING_KAFKA_CONSUMER_GROUP_ID=stock\n"
KAFKA: Final = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: dev, annotations: {strimzi.io/node-pools: enabled}}
spec:
  kafka:
    version: 4.0.0
    listeners: [{name: plain, port: 9092, type: internal, tls: false}]
    config: {min.insync.replicas: 2, default.replication.factor: 3}
"""
POOL: Final = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: broker, labels: {strimzi.io/cluster: dev}}
spec: {replicas: 3, roles: [broker], storage: {type: persistent-claim, size: 1Gi}}
"""
MIRROR: Final = """\
clusters = a, b
a.bootstrap.servers = a:9092
b.bootstrap.servers = b:9092
a->b.enabled = true
a->b.topics = orders
"""
STARTED: Final = """\
services:
  mirror:
    image: apache/kafka:3.9.1
    command: /opt/kafka/bin/connect-mirror-maker.sh /etc/mm2.properties
    volumes: ["./mm2.properties:/etc/mm2.properties"]
    scale: 2
"""


def _lint(folder: Path, files: dict[str, str]) -> Linted:
    for name, text in files.items():
        (folder / name).write_text(text)
    return lint_configuration(LintRequest(paths=(folder,))).linted


@pytest.mark.parametrize(
    ("files", "used"),
    [
        ({"deployment.yaml": POD, "kustomization.yaml": KUSTOMIZATION, "kafka.env": VARIABLES}, "kafka.env"),
        ({"kafka.yaml": KAFKA, "pool.yaml": POOL}, "pool.yaml"),
        ({"mm2.properties": MIRROR, "compose.yaml": STARTED}, "compose.yaml"),
    ],
)
def test_a_file_that_a_component_uses_is_named(tmp_path: Path, files: dict[str, str], used: str) -> None:
    linted = _lint(tmp_path, files)
    assert str(tmp_path / used) in {file for one in linted.read_as for file in one.used}
    assert str(tmp_path / used) not in linted.without_settings


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("image: {repository: redpandadata/connect, tag: 4.1.0}\ndeployment: {replicas: 2}\n", False),
        ("image: provectuslabs/kafka-ui:v0.7.2\nservice: {port: 80}\n", False),
        ("app: {image: {registry: kafka.example.com, repository: orders, tag: 1}}\n", False),
        ("image: {repository: redpandadata/redpanda, tag: v25.1.1}\nstatefulset: {replicas: 3}\n", True),
        ("worker: {image: confluentinc/cp-kafka-connect:7.6.0, replicas: 3}\n", True),
        ("image: acme/kafka-orders:1\nkafkaPrefix: orders\n", True),
    ],
)
def test_values_that_name_an_image_alone_are_understood(tmp_path: Path, text: str, is_named: bool) -> None:
    linted = _lint(tmp_path, {"mm2.properties": MIRROR, "helmfile-values.yaml": text})
    assert (str(tmp_path / "helmfile-values.yaml") in linted.not_understood) is is_named


def test_options_of_kafkajs_join_over_a_base_file(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    base = '{"kafka": {"consumer": {"groupId": "a", "readUncommitted": false}, "run": {"autoCommit": false}}}'
    files = {"config/default.json": base, "config/production.json": '{"kafka": {"consumer": {"maxBytes": 5}}}'}
    assert {one.software for one in _lint(tmp_path, files).read_as} == {"KafkaJS"}
