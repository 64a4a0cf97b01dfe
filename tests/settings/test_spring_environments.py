"""Spring applications with settings in variables, ConfigMaps, and mounted files: one application each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.model.deployment import Role
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_texts

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: pay}
data:
  SPRING_KAFKA_BOOTSTRAP_SERVERS: k:9092
  SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX: pay-
"""
FILE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: pay}
data:
  application.yml: |
    spring.kafka:
      bootstrap-servers: k:9092
      producer: {transaction-id-prefix: pay-}
"""
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec:
  replicas: 1
  selector: {matchLabels: {app: pay}}
  template:
    spec:
      volumes: [{name: c, configMap: {name: %s}}]
      containers:
        - name: pay
          image: acme/pay:1
          envFrom: [{configMapRef: {name: %s}}]
          env: [{name: SPRING_KAFKA_PRODUCER_ACKS, value: "1"}]
"""
COMPOSE = """\
services:
  pay:
    image: acme/pay:1
    volumes: ["./application.yml:/app/application.yml"]
    environment: {SPRING_KAFKA_PRODUCER_ACKS: "1"}
"""
MOUNTED = "spring.kafka: {bootstrap-servers: 'k:9092', producer: {transaction-id-prefix: pay-}}\n"


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"map.yaml": MAP, "pod.yaml": POD % ("other", "pay")}, ("pod.yaml", 14)),
        ({"all.yaml": f"{MAP}---\n{POD % ('other', 'pay')}"}, ("all.yaml", 21)),
        ({"map.yaml": FILE, "pod.yaml": POD % ("pay", "other")}, ("pod.yaml", 14)),
        ({"compose.yaml": COMPOSE, "application.yml": MOUNTED}, ("compose.yaml", 5)),
    ],
)
def test_variables_are_laid_over_what_a_workload_reads(
    files: Mapping[str, str], place: tuple[str, int], tmp_path: Path
) -> None:
    assert critical(tmp_path, files) == [("EOS-CFG-011", *place)]


@pytest.mark.parametrize(
    "files",
    [
        {"map.yaml": MAP, "pod.yaml": POD % ("other", "another")},
        {"dev/map.yaml": MAP, "prod/pod.yaml": POD % ("other", "pay")},
    ],
)
def test_what_a_workload_does_not_read_is_not_its_own(files: Mapping[str, str], tmp_path: Path) -> None:
    assert critical(tmp_path, files) == []


def critical(folder: Path, files: Mapping[str, str]) -> list[tuple[str, str, int]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = lint_configuration(LintRequest((folder,))).found
    facts = [(one.check_id, dict(one.facts)) for one in found if one.severity.value == "critical"]
    return [(check_id, Path(str(own["file"])).name, int(own["line"])) for check_id, own in facts]


FILE = """spring:
  application: {name: bookkeeper}
  kafka: {producer: {transaction-id-prefix: "b-${HOSTNAME}-", acks: all}}
"""
COMPOSE = """services:
  %s:
    image: reg/%s:1
    environment: [SPRING_KAFKA_PRODUCER_ACKS=1]
"""


@pytest.mark.parametrize(("service", "acks"), [("bookkeeper", "1"), ("other", "all")])
def test_variables_lie_over_the_file_of_their_name(service: str, acks: str) -> None:
    texts = {"src/main/resources/application.yml": FILE, "compose.yml": COMPOSE % (service, service)}
    producers = [one for one in read_texts(texts) if one.role is Role.PRODUCER]
    (own,) = (one for one in producers if one.has("transactional.id"))
    assert own.word("acks") == acks


def test_variables_of_two_environments_lie_over_no_file() -> None:
    texts = {f"{name}/compose.yml": COMPOSE % ("bookkeeper", "bookkeeper") for name in ("dev", "prod")}
    producers = read_texts({"application.yml": FILE, **texts})
    assert [one.word("acks") for one in producers if one.has("transactional.id")] == ["all"]


OWN = """\
spring:
  application: {name: pay}
  kafka:
    bootstrap-servers: k:1
    producer: {acks: all, transaction-id-prefix: "pay-${HOSTNAME}-"}
    consumer: {group-id: pay, isolation-level: read_committed, enable-auto-commit: false}
"""


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("SPRING_KAFKA_CONSUMER_ENABLE_AUTO_COMMIT", "true", {"EOS-CFG-021"}),
        ("SPRING_KAFKA_CONSUMER_ENABLEAUTOCOMMIT", "true", {"EOS-CFG-021"}),
        ("SPRING_KAFKA_CONSUMER_ISOLATION_LEVEL", "read_uncommitted", {"EOS-CFG-020"}),
        ("SPRING_KAFKA_CONSUMER_ENABLE_AUTO_COMMIT", "false", set()),
    ],
)
def test_a_variable_in_any_spelling_lies_over_a_file(name: str, value: str, expected: set[str], tmp_path: Path) -> None:
    pod = POD.replace("SPRING_KAFKA_PRODUCER_ACKS", name).replace('"1"', f'"{value}"') % ("c", "e")
    for file, text in {"src/main/resources/application.yml": OWN, "deploy/deployment.yaml": pod}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    assert {one.check_id for one in lint_configuration(LintRequest((tmp_path,))).found} == expected


def test_a_profile_lies_over_another_spelling_of_a_name(tmp_path: Path) -> None:
    profile = """\
---
spring.config.activate.on-profile: prod
spring.kafka.consumer.enableAutoCommit: true
"""
    (tmp_path / "application.yml").write_text(OWN + profile, "utf-8")
    assert [one.check_id for one in lint_configuration(LintRequest((tmp_path,))).found] == ["EOS-CFG-021"]


BINDER = """\
spring:
  cloud:
    stream:
      bindings: {out-out-0: {destination: t, binder: %s}}
      binders:
        one:
          type: kafka
          environment.spring.cloud.stream.kafka.binder: {transaction.transaction-id-prefix: a-, required-acks: "%s"}
        two:
          type: rabbit
          environment: {spring.rabbitmq.host: r}
"""


@pytest.mark.parametrize(("acks", "expected"), [("1", {"EOS-CFG-011"}), ("all", set())])
def test_the_environment_of_a_binder_is_the_applications(acks: str, expected: set[str], tmp_path: Path) -> None:
    (tmp_path / "application.yml").write_text(BINDER % ("one", acks), "utf-8")
    assert {one.check_id for one in lint_configuration(LintRequest((tmp_path,))).found} == expected
