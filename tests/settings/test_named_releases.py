"""The release of brokers, where a chart, an operator's resource, or a cloud's template names it."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment_files import read_components

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
