"""Resources of Strimzi: mirrors in both versions of its API."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, lint_configuration

MIRROR_V1 = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata: {name: dr}
spec:
  version: 4.0.0
  target:
    alias: b
    bootstrapServers: b:9092
    config: {exactly.once.source.support: enabled}
  mirrors:
    - source: {alias: a, bootstrapServers: "a:9092"}
      sourceConnector: {tasksMax: 2%s}
"""


@pytest.mark.parametrize(
    ("config", "expected"),
    [("", [("EOS-CFG-064", 9)]), (", config: {source.consumer.isolation.level: read_committed}", [])],
)
def test_a_mirror_of_the_newer_api_is_judged(config: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "mirror.yaml").write_text(MIRROR_V1 % config)
    result = lint_configuration(LintRequest((tmp_path,)))
    found = [(one.check_id, int(dict(one.facts)["line"])) for one in result.found if one.check_id == "EOS-CFG-064"]
    assert found == expected
    assert {one.release for one in result.linted.read_as} == {"4.0"}


PLATFORM = """\
apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka}
spec:
  replicas: 3
  image: {application: confluentinc/cp-server:7.9.0}
---
apiVersion: platform.confluent.io/v1beta1
kind: Connect
metadata: {name: connect}
spec: {replicas: 2}
"""
OVERRIDDEN = """\
apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka}
spec:
  replicas: 3
  configOverrides: {server: [transaction.state.log.min.isr=1]}
"""


def test_clusters_of_confluents_operator_are_read(tmp_path: Path) -> None:
    (tmp_path / "platform.yaml").write_text(PLATFORM)
    result = lint_configuration(LintRequest((tmp_path,)))
    assert result.found == ()
    assert {(one.role, one.release) for one in result.linted.read_as} == {
        ("broker", "3.9"),
        ("connect-worker", "4.4"),
    }


def test_overrides_of_confluents_operator_are_judged(tmp_path: Path) -> None:
    (tmp_path / "platform.yaml").write_text(OVERRIDDEN)
    found = lint_configuration(LintRequest((tmp_path,))).found
    assert "EOS-CFG-032" in {one.check_id for one in found}


REGION = """\
apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka, annotations: {platform.confluent.io/broker-id-offset: "100"}}
spec:
  replicas: 1
  configOverrides: {server: [transaction.state.log.replication.factor=3, offsets.topic.replication.factor=3]}
"""
POOLS = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: kafka, annotations: {strimzi.io/node-pools: enabled}}
spec: {kafka: {replicas: 1, listeners: [{name: plain, port: 9092, type: internal, tls: false}]}}
"""


@pytest.mark.parametrize("text", [REGION, POOLS])
def test_brokers_counted_elsewhere_are_not_one(text: str, tmp_path: Path) -> None:
    (tmp_path / "kafka.yaml").write_text(text)
    assert lint_configuration(LintRequest((tmp_path,))).found == ()


MIRROR_V1BETA2 = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata: {name: dr}
spec:
  version: 4.0.0
  connectCluster: b
  clusters:
    - {alias: a, bootstrapServers: "a:9092"}
    - {alias: b, bootstrapServers: "b:9092", config: {config.storage.replication.factor: 3}}
  mirrors:
    - sourceCluster: a
      targetCluster: b
      sourceConnector:
        config:
          exactly.once.source.support: enabled
          source.consumer.isolation.level: read_committed
"""


def test_a_mirrors_connector_reads_no_setting_of_workers(tmp_path: Path) -> None:
    (tmp_path / "mirror.yaml").write_text(MIRROR_V1BETA2)
    (found,) = lint_configuration(LintRequest((tmp_path,))).found
    assert (found.check_id, dict(found.facts)["line"]) == ("EOS-CFG-168", 15)
    assert "spec.clusters[b].config.exactly.once.source.support" in str(found)
