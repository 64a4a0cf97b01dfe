"""Clusters of clouds: the release and the number of their brokers."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components
from tests.settings.test_deployment_files import findings

STREAMS = "application.id=scales\nbootstrap.servers=b-1.roads:9092\nprocessing.guarantee=exactly_once_v2\n"
MSK = """resource "aws_msk_cluster" "roads" {
  cluster_name           = "roads"
  kafka_version          = "%s"
  number_of_broker_nodes = 3
%s}
"""
STACK = """Resources:
  C:
    Type: AWS::MSK::Cluster
    Properties:
      ClusterName: roads
      KafkaVersion: %s
      NumberOfBrokerNodes: 3
"""
AIVEN = """resource "aiven_kafka" "roads" {
  service_name = "roads"
  kafka_user_config {
    kafka_version = "%s"
  }
}
"""
OPERATOR = """apiVersion: kafka.services.k8s.aws/v1alpha1
kind: Cluster
metadata: {name: roads}
spec:
  kafkaVersion: %s
  numberOfBrokerNodes: 3
"""


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("msk.tf", MSK.replace("\n%s}", "\n}")),
        ("msk.tf", MSK.replace("\n%s}", "\n}").replace('resource "aws_msk_cluster" "roads"', 'module "msk"')),
        ("stack.yaml", STACK),
        ("aiven.tf", AIVEN),
        ("cluster.yaml", OPERATOR),
    ],
)
def test_the_release_of_a_cluster_is_that_of_its_brokers(file: str, text: str) -> None:
    for release, expected in (("2.4.1", ["EOS-CFG-050 streams.properties:3"]), ("3.6.0", [])):
        assert findings(("streams.properties", STREAMS), (file, text % release)) == expected


def test_a_cluster_has_its_number_of_brokers() -> None:
    (broker,) = read_components("stack.yaml", STACK % "3.6.0")
    assert broker.role is Role.BROKER
    assert broker.instances is not None
    assert broker.instances.number == 3


def test_settings_next_to_a_cluster_are_its_own() -> None:
    own = "  configuration_info {\n    arn = aws_msk_configuration.c.arn\n  }\n"
    assert read_components("msk.tf", MSK % ("2.4.1", own)) == []


SETTINGS = """resource "aws_msk_configuration" "roads" {
  kafka_versions    = ["3.6.0"]
  server_properties = <<-EOT
    transaction.state.log.replication.factor=3
  EOT
}
resource "aws_msk_cluster" "roads" {
  kafka_version          = "3.6.0"
  number_of_broker_nodes = %s
  configuration_info { arn = aws_msk_configuration.roads.arn }
}
"""


@pytest.mark.parametrize(("count", "expected"), [("2", ["EOS-CFG-149 msk.tf:4"]), ("3", []), ("var.count", [])])
def test_settings_are_those_of_the_clusters_brokers(count: str, expected: list[str]) -> None:
    assert findings(("msk.tf", SETTINGS % count)) == expected
