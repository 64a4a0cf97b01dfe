"""What configurations of public repositories relate across files and charts: each is a kind, with files of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.checks.judge import judge
from eosctl.model.deployment import Client, Component, Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from eosctl.settings.files.files_read import FilesRead

SETTINGS: Final = """resource "aws_msk_configuration" "parcels" {
  kafka_versions    = ["3.6.0"]
  server_properties = <<-EOT
    auto.create.topics.enable=false
    MORE
  EOT
}
"""
CLUSTER: Final = """resource "aws_msk_cluster" "parcels" {
  kafka_version          = "3.6.0"
  number_of_broker_nodes = COUNT
  configuration_info { arn = aws_msk_configuration.parcels.arn }
}
"""
BROKERS: Final = 'variable "brokers" {\n  default = 2\n}\n'
FACTOR: Final = "transaction.state.log.replication.factor=3"
CHART: Final = """image: {registry: docker.io, repository: bitnami/kafka, tag: 3.2.0-debian-11-r3}
replicaCount: COUNT
logRetentionBytes: _1073741824
maxMessageBytes: _1000012
numPartitions: 6
offsetsTopicReplicationFactor: 1
transactionStateLogReplicationFactor: 1
transactionStateLogMinIsr: 1
zookeeper: {enabled: true}
"""
REDPANDA: Final = """apiVersion: cluster.redpanda.com/v1alpha2
kind: Redpanda
metadata: {name: parcels}
spec:
  clusterSpec:
    statefulset: {replicas: COUNT}
    config:
      cluster: {default_topic_replications: 1}
"""
OLD: Final = """apiVersion: redpanda.vectorized.io/v1alpha1
kind: Cluster
metadata: {name: parcels}
spec:
  replicas: COUNT
  configuration: {developerMode: true}
  additionalConfiguration: {redpanda.default_topic_replications: "1"}
"""
INVENTORY: Final = """kafka:
  hosts:
    k-1: {ansible_host: 10.0.0.1, broker_id: 1}
    k-2: {ansible_host: 10.0.0.2, broker_id: 2}
  vars:
    num_partitions: 3
"""
SERVER: Final = "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@k:9093\n"


def read(folder: Path, files: dict[str, str]) -> FilesRead:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return read_deployment([folder])


def brokers(found: FilesRead) -> list[Component]:
    return [one for one in found.deployment.components if one.role is Role.BROKER]


def failed(found: FilesRead) -> set[str]:
    return {one.check_id for result in judge(found.deployment) for one in result.findings}


class TestModulesOfMsk:
    @pytest.mark.parametrize(
        ("count", "expected"), [("2", {"EOS-CFG-149"}), ("var.brokers", {"EOS-CFG-149"}), ("3", set())]
    )
    def test_files_of_a_module_are_one_cluster(self, count: str, expected: set[str], tmp_path: Path) -> None:
        files = {"a/settings.tf": SETTINGS.replace("MORE", FACTOR), "a/variables.tf": BROKERS}
        found = read(tmp_path, {**files, "a/cluster.tf": CLUSTER.replace("COUNT", count)})
        (broker,) = brokers(found)
        assert broker.instances is not None
        assert (Path(broker.instances.file).name, failed(found)) == ("cluster.tf", expected)
        assert found.not_understood == ()

    def test_another_folder_is_another_module(self, tmp_path: Path) -> None:
        found = read(tmp_path, {"a/settings.tf": SETTINGS, "b/cluster.tf": CLUSTER.replace("COUNT", "2")})
        assert [one.instances for one in brokers(found)] == [None]

    def test_two_configurations_have_no_number_of_their_own(self, tmp_path: Path) -> None:
        files = {"one.tf": SETTINGS, "two.tf": SETTINGS, "cluster.tf": CLUSTER.replace("COUNT", "2")}
        assert [one.instances for one in brokers(read(tmp_path, files))] == [None, None]

    def test_what_the_cloud_sets_is_not_kafkas_default(self, tmp_path: Path) -> None:
        found = read(tmp_path, {"a.tf": SETTINGS.replace("MORE", ""), "b.tf": CLUSTER.replace("COUNT", "2")})
        assert (failed(found), brokers(found)[0].word("offsets.topic.replication.factor")) == (set(), None)

    def test_a_release_that_another_module_gives_is_not_known(self) -> None:
        text = 'resource "aws_msk_cluster" "a" {\n  kafka_version = var.release\n  number_of_broker_nodes = 2\n}\n'
        (broker,) = read_components("main.tf", text)
        assert (broker.role, broker.release_named) == (Role.BROKER, False)


class TestCharts:
    def test_camel_case_values_of_a_chart_are_a_brokers(self, tmp_path: Path) -> None:
        found = read(tmp_path, {"values.yaml": CHART.replace("COUNT", "3")})
        (broker,) = brokers(found)
        assert (broker.number("message.max.bytes"), broker.release) == (1000012, (3, 2))
        assert {one.role for one in found.deployment.components} == {Role.BROKER}
        assert failed(found) == {"EOS-CFG-032", "EOS-CFG-036"}

    def test_one_broker_of_a_chart_needs_no_more_replicas(self, tmp_path: Path) -> None:
        assert failed(read(tmp_path, {"values.yaml": CHART.replace("COUNT", "1")})) == set()

    @pytest.mark.parametrize("text", [REDPANDA, OLD])
    def test_one_broker_of_redpanda_keeps_one_copy(self, text: str, tmp_path: Path) -> None:
        (one,) = brokers(alone := read(tmp_path / "one", {"cluster.yaml": text.replace("COUNT", "1")}))
        assert (one.client, one.number("default_topic_replications")) == (Client.REDPANDA, 1)
        assert "EOS-CFG-165" not in failed(alone)
        assert "EOS-CFG-165" in failed(read(tmp_path / "three", {"cluster.yaml": text.replace("COUNT", "3")}))

    @pytest.mark.parametrize(("count", "expected"), [(1, set()), (2, {"EOS-CFG-166"})])
    def test_a_container_that_starts_redpanda_is_a_broker(self, count: int, expected: set[str], tmp_path: Path) -> None:
        service = "  r%d:\n    image: redpandadata/redpanda:v24.2.8\n    command: [redpanda, start, --smp 1]\n"
        servers = "".join(service % number for number in range(count))
        made = "  init:\n    image: redpandadata/redpanda:v24.2.8\n    command: rpk topic create parcels -p 3 -r 1\n"
        found = read(tmp_path, {"compose.yaml": f"services:\n{servers}{made}"})
        assert (len(brokers(found)), failed(found)) == (count, expected)


class TestInventories:
    def test_variables_of_hosts_leave_the_rest_open(self) -> None:
        found = read_components("hosts.yml", INVENTORY)
        assert [one.role for one in found] == [Role.BROKER] * 3
        assert all(one.is_unknown("transaction.state.log.replication.factor") for one in found)


class TestDistributions:
    @pytest.mark.parametrize(("folder", "release"), [("kafka_2.13-2.7.0", (2, 7)), ("kafka_2.13-9.9.0", None)])
    def test_its_folder_names_the_release(self, folder: str, release: object, tmp_path: Path) -> None:
        (broker,) = brokers(read(tmp_path, {f"{folder}/config/server.properties": SERVER}))
        assert (broker.release if broker.release_named else None) == release


class TestClasses:
    def test_a_class_that_sets_a_setting_is_named(self, tmp_path: Path) -> None:
        sets = 'class A { Object o = Map.of(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted"); }\n'
        listens = '@KafkaListener(topics = "parcels", properties = "isolation.level=read_uncommitted")\n'
        files = {
            "src/main/java/a/ParcelConsumerConfig.java": sets,
            "src/main/java/a/KafkaParcels.java": listens,
            "src/main/java/a/ParcelProducer.java": 'class B { @KafkaListener(topics = "a") void on(String a) {} }\n',
            "src/test/java/a/KafkaTestConfig.java": sets,
            "src/main/resources/application.properties": "spring.kafka.consumer.group-id=a\n",
        }
        named = [Path(file).name for file in read(tmp_path, files).not_understood]
        assert named == ["KafkaParcels.java", "ParcelConsumerConfig.java"]
