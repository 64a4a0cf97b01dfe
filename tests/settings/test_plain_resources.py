"""Resources without a place for a setting of Kafka, and files of monitoring."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.settings.deployment.deployment_files import read_deployment

FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec:\n  path: ./kafka\n"
ARGO = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    path: kafka\n"


@pytest.mark.parametrize(
    ("name", "text", "is_named"),
    [
        ("a.yaml", FLUX, False),
        ("a.yaml", FLUX + "  patches:\n    - patch: 'x: kafka'\n", True),
        ("a.yaml", ARGO, False),
        ("a.yaml", ARGO + "    helm: {values: 'kafka: {a: 1}'}\n", True),
        ("a.yaml", "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: kafka}\n", False),
        ("rules.yml", "groups:\n- name: kafka\n  rules:\n  - alert: Lag\n    expr: kafka_lag > 1\n", False),
        ("groups.yml", "groups:\n- name: kafka\n  topics: [a]\n", True),
        ("groups.yml", "groups:\n- name: kafka\n", False),
        ("release.yaml", "builds: [{main: ./cmd/kafka, flags: [-s]}]\n", False),
        ("users.json", '{"kafka": "k", "kafka_client": "k"}', True),
        ("app.toml", '[server]\nupstream = "kafka-0:9092"\n', True),
        ("pod.yaml", "containers: [{image: 'acme/kafka:1'}]\n", True),
        ("app.yaml", "names: [kafka]\nextra: |\n  a broker of kafka\n  runs\n", True),
        ("KafkaCluster.properties", "rootLogger.level=INFO\nlogger.kafka.name=org.apache.kafka\n", False),
        ("jmx.yml", "lowercaseOutputName: true\nrules:\n- pattern: kafka.server<type=(.+)>\n", False),
        ("Chart.yaml", "name: kafka-writer\ndependencies: [{name: kafka}]\n", False),
        ("reflect-config.json", '[{"name": "io.confluent.kafka.serializers.KafkaAvroSerializer"}]', False),
        ("micronaut-cli.yml", "features: [kafka, yaml]\n", False),
        ("chaos.yaml", "apiVersion: chaos-mesh.org/v1alpha1\nkind: PodChaos\nmetadata: {name: kafka}\n", False),
        ("user.yaml", "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata: {name: a}\n", False),
        ("c3.yaml", "apiVersion: platform.confluent.io/v1beta1\nkind: ControlCenter\nmetadata: {name: kafka}\n", False),
        ("dns.tf", 'resource "aws_route53_record" "kafka" {\n  name = "kafka"\n}\n', False),
        ("node.tf", 'resource "aws_instance" "kafka" {\n  user_data = "kafka"\n}\n', True),
        ("zk.properties", "dataDir=/kafka/zookeeper\nclientPort=2181\n", False),
        ("stream.yaml", "input: {resource: from_kafka}\noutput: {drop: {}}\n", False),
        ("stream.yaml", "input: {kafka_balanced: {topics: [a]}}\noutput: {drop: {}}\n", True),
        ("renovate.json", '{"packageRules": [{"matchPackageNames": ["kafkajs"]}]}', False),
    ],
)
def test_only_what_may_hold_settings_is_named(name: str, text: str, is_named: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert bool(read_deployment([tmp_path]).not_understood) is is_named


@pytest.mark.parametrize(("literal", "is_named"), [("LOG_LEVEL=info", False), ("KAFKA_OWN_THING=1", True)])
def test_literals_about_kafka_alone_make_a_kustomization_named(literal: str, is_named: bool, tmp_path: Path) -> None:
    text = f"namespace: kafka\nconfigMapGenerator:\n- name: a\n  literals: [{literal}]\n"
    (tmp_path / "kustomization.yaml").write_text(text, "utf-8")
    assert bool(read_deployment([tmp_path]).not_understood) is is_named
