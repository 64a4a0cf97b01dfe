"""Files of environments over the one below them: each environment is judged as its framework merges it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.settings.deployment.deployment_files import read_deployment

CHART = {"Chart.yaml": "apiVersion: v2\nname: pay\nversion: 1.0.0\n"}
VALUES = """replicaCount: 1
env:
  KAFKA_BOOTSTRAP_SERVERS: kafka:9092
  KAFKA_TRANSACTIONAL_ID: pay-tx
  KAFKA_ACKS: all
"""


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, int]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    facts = ((one.check_id, dict(one.facts)) for one in findings_of(judge(read_deployment([folder]).deployment)))
    return {(check, Path(str(f["file"])).name, int(str(f["line"]))) for check, f in facts}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("values-prod.yaml", "replicaCount: 4\n", {("EOS-CFG-147", "values.yaml", 4)}),
        ("values.prod.yml", "autoscaling: {enabled: true, maxReplicas: 4}\n", {("EOS-CFG-147", "values.yaml", 4)}),
        ("values-prod.yaml", "env:\n  KAFKA_ACKS: '1'\n", {("EOS-CFG-011", "values-prod.yaml", 2)}),
        ("values-prod.yaml", "replicaCount: 4\nenv:\n  KAFKA_TRANSACTIONAL_ID: null\n", set()),
        ("values-prod.yaml", "replicaCount: 4\nenv:\n  KAFKA_TRANSACTIONAL_ID: pay-$(POD_NAME)\n", set()),
        ("other-prod.yaml", "replicaCount: 4\n", set()),
    ],
)
def test_an_environment_counts_over_the_chart(
    tmp_path: Path, name: str, text: str, expected: set[tuple[str, str, int]]
) -> None:
    assert found(tmp_path, {**CHART, "values.yaml": VALUES, name: text}) == expected


def test_the_values_of_the_chart_are_judged_on_their_own(tmp_path: Path) -> None:
    prod = "env:\n  KAFKA_ACKS: all\n"
    files = {**CHART, "values.yaml": VALUES.replace("KAFKA_ACKS: all", "KAFKA_ACKS: '1'"), "values-prod.yaml": prod}
    assert found(tmp_path, files) == {("EOS-CFG-011", "values.yaml", 5)}


SPRING = """spring:
  kafka:
    producer: {transaction-id-prefix: pay-}
    consumer: {group-id: pay, isolation-level: read_committed}
"""
ON_AWS = "---\nspring.config.activate.on-profile: aws\nspring.kafka.consumer.enable-auto-commit: true\n"
DOTNET = """{"Kafka": {
  "Producer": {"TransactionalId": "pay-tx", "TransactionTimeoutMs": 60000},
  "Consumer": {"GroupId": "pay", "IsolationLevel": "ReadCommitted",
    "EnableAutoCommit": false}}}
"""
UNCOMMITTED = "spring.kafka.consumer.isolation-level=read_uncommitted\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"application.yml": SPRING, "application-prod.yml": "spring.kafka.client-id: pay\n"}, set()),
        (
            {"application.yml": SPRING, "application-prod.properties": UNCOMMITTED},
            {("EOS-CFG-020", "application-prod.properties", 1)},
        ),
        (
            {"application.yml": SPRING + ON_AWS, "application-prod.yml": "spring.kafka.client-id: pay\n"},
            {("EOS-CFG-021", "application.yml", 7)},
        ),
        (
            {"application.properties": UNCOMMITTED, "application-prod.yml": SPRING},
            {("EOS-CFG-020", "application.properties", 1)},
        ),
        ({"appsettings.json": DOTNET, "appsettings.Test.json": '{"Kafka": {"Consumer": {}}}'}, set()),
        (
            {
                "appsettings.json": DOTNET,
                "appsettings.Test.json": '{"Kafka": {"Consumer": {"EnableAutoCommit": true}}}',
            },
            {("EOS-CFG-021", "appsettings.Test.json", 1)},
        ),
        (
            {"package.json": "{}", "config/default.json": DOTNET, "config/prod.yaml": "Kafka: {Producer: {Acks: '1'}}"},
            {("EOS-CFG-011", "prod.yaml", 1)},
        ),
        ({"config/default.json": DOTNET, "config/prod.json": '{"Kafka": {"Consumer": {"GroupId": "b"}}}'}, set()),
    ],
)
def test_an_environment_counts_over_the_file_below_it(
    tmp_path: Path, files: Mapping[str, str], expected: set[tuple[str, str, int]]
) -> None:
    assert {one for one in found(tmp_path, files) if one[0] in SOUGHT} == expected


SOUGHT = ("EOS-CFG-010", "EOS-CFG-011", "EOS-CFG-020", "EOS-CFG-021", "EOS-CFG-151")


def test_the_environment_of_a_verdict_is_named(tmp_path: Path) -> None:
    files = {"application.yml": SPRING, "application-prod.yml": "spring.kafka.client-id: pay\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    names = {one.recognized_by.partition(" ")[2] for one in read_deployment([tmp_path]).deployment.components}
    assert "with application-prod.yml" in names


def test_a_setting_below_an_environment_is_found_once(tmp_path: Path) -> None:
    base = "shop:\n  kafka:\n    client-id: shop\n    producer:\n      retries: 0\n      bootstrap-servers: k:1\n"
    (tmp_path / "application.yml").write_text(base)
    (tmp_path / "application-prod.yml").write_text("shop:\n  kafka:\n    client-id: shop-prod\n")
    found = findings_of(judge(read_deployment([tmp_path]).deployment))
    assert [(one.check_id, dict(one.facts)["keys"]) for one in found] == [
        ("EOS-CFG-012", "shop.kafka.producer.retries")
    ]


OWN_FILE = "spring.kafka.producer: {acks: all, transaction-id-prefix: a-}\n"
PROFILE = "spring.kafka.producer.acks: 1\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"repo/pay.yml": OWN_FILE, "repo/pay-prod.yml": PROFILE}, [("critical", "pay-prod.yml", 1)]),
        ({"repo/pay-eu.yml": OWN_FILE, "repo/pay-eu-prod.yml": PROFILE}, [("critical", "pay-eu-prod.yml", 1)]),
        ({"repo/pay.yml": "pay: {kafka: x}\n", "repo/pay-prod.yml": PROFILE}, [("info", "pay-prod.yml", 1)]),
        ({"repo/pay.yml": OWN_FILE, "other/pay-prod.yml": PROFILE}, [("warning", "pay-prod.yml", 1)]),
        ({"repo/pay.yml": OWN_FILE, "repo/pay-service.yml": PROFILE}, [("warning", "pay-service.yml", 1)]),
    ],
)
def test_a_profile_of_the_configuration_server_lies_over(
    files: Mapping[str, str], expected: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = findings_of(judge(read_deployment([tmp_path]).deployment))
    facts = [(one.severity.value, dict(one.facts)) for one in found if one.check_id == "EOS-CFG-011"]
    assert [(severity, Path(str(own["file"])).name, own["line"]) for severity, own in facts] == expected


STREAMS = "application.id=orders\nprocessing.guarantee=exactly_once_v2\nproducer.transaction.timeout.ms=30000\n"
PROD = "bootstrap.servers=prod:9092\ncommit.interval.ms=60000\n"
WHOLE = "application.id=orders\nbootstrap.servers=prod:9092\ncommit.interval.ms=60000\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"streams-common.properties": STREAMS, "streams-prod.properties": PROD},
            {("EOS-CFG-001", "streams-prod.properties", 2)},
        ),
        (
            {"streams.properties": STREAMS, "streams-prod.properties": PROD},
            {("EOS-CFG-001", "streams-prod.properties", 2)},
        ),
        ({"streams.properties": STREAMS, "streams-prod.properties": WHOLE}, set()),
        (
            {"streams-common.properties": STREAMS, "streams-prod.properties": "commit.interval.ms=60000\n"},
            {("EOS-CFG-001", "streams-prod.properties", 1)},
        ),
        ({"streams-common.properties": STREAMS, "orders-prod.properties": PROD}, set()),
    ],
)
def test_a_common_file_is_below_those_of_environments(
    tmp_path: Path, files: Mapping[str, str], expected: set[tuple[str, str, int]]
) -> None:
    assert {one for one in found(tmp_path, files) if one[0] == "EOS-CFG-001"} == expected


GO = """kafka:
  client_id: tracker
  net: {max_open_requests: 1}
  producer: {required_acks: all, idempotent: true, retry: {max: 10}}
  consumer: {group: tracker, offsets: {initial: oldest, auto_commit: {enable: false}}}
"""
GO_PROD = "kafka:\n  brokers: [k1:9092]\n  net:\n    max_open_requests: 5\n"
GO_MOD = "module m\nrequire github.com/IBM/sarama v1.43.2\n"
TOML = """[kafka.producer]
"transactional.id" = "tracker-1"
"acks" = "all"
"""
TOML_PROD = """[kafka.producer]
"enable.idempotence" = false
"""


@pytest.mark.parametrize(
    ("base", "prod", "expected"),
    [
        ("config.yaml", "config.prod.yaml", {("EOS-CFG-013", "config.prod.yaml", 4)}),
        ("base.yaml", "production.yaml", {("EOS-CFG-013", "production.yaml", 4)}),
        ("tracker.default.yaml", "tracker.live.yaml", {("EOS-CFG-013", "tracker.live.yaml", 4)}),
        ("config.yaml", "other.prod.yaml", set()),
        ("deployment.yaml", "config.prod.yaml", set()),
    ],
)
def test_a_programs_environment_is_over_its_base(
    tmp_path: Path, base: str, prod: str, expected: set[tuple[str, str, int]]
) -> None:
    files = {base: GO, prod: GO_PROD, "go.mod": GO_MOD}
    assert {one for one in found(tmp_path, files) if one[0] == "EOS-CFG-013"} == expected


def test_an_environment_of_toml_is_over_its_base(tmp_path: Path) -> None:
    files = {"settings.toml": TOML, "settings.production.toml": TOML_PROD}
    assert ("EOS-CFG-010", "settings.production.toml", 2) in found(tmp_path, files)


def test_a_manifest_is_not_over_another(tmp_path: Path) -> None:
    topic = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata: {name: NAME}\nspec:\n  replicas: 3\n"
    files = {
        "topic.yaml": topic.replace("NAME", "a") + "  config: {min.insync.replicas: 1}\n",
        "topic-prod.yaml": topic.replace("NAME", "b"),
    }
    assert {file for _, file, _ in found(tmp_path, files)} <= {"topic.yaml"}


def test_the_environment_of_a_developer_is_information(tmp_path: Path) -> None:
    files = {
        "streams-common.properties": STREAMS + "state.dir=/var/lib/orders\n",
        "streams-dev.properties": "bootstrap.servers=localhost:9092\nreplication.factor=1\nstate.dir=/tmp/orders\n",
        "streams-prod.properties": "bootstrap.servers=k:9092\nreplication.factor=1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    problems = findings_of(judge(read_deployment([tmp_path]).deployment))
    severities = {(one.check_id, Path(str(dict(one.facts)["file"])).stem): one.severity.value for one in problems}
    assert severities["EOS-CFG-038", "streams-dev"] == severities["EOS-CFG-047", "streams-dev"] == "info"
    assert severities["EOS-CFG-038", "streams-prod"] == "error"
    assert not any(check == "EOS-CFG-048" for check, _ in severities)


LOCAL = "spring.application.name: rides\nspring.kafka.producer.transaction-id-prefix: rides-local-\n"
LIVE = "spring.kafka.producer.transaction-id-prefix: rides-${HOSTNAME}-\n"
RUNNING = """apiVersion: apps/v1
kind: Deployment
metadata: {name: rides}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - {name: a, image: "acme/rides:1", env: [{name: SPRING_PROFILES_ACTIVE, value: CHOSEN}]}
"""
SHARED = {("EOS-CFG-072", "application.yml", 2)}


@pytest.mark.parametrize(("chosen", "expected"), [("prod", set()), ("'eu,prod'", set()), ("test", SHARED)])
def test_a_workload_reads_the_environment_that_it_names(
    tmp_path: Path, chosen: str, expected: set[tuple[str, str, int]]
) -> None:
    files = {
        "application.yml": LOCAL,
        "application-prod.yml": LIVE,
        "deployment.yaml": RUNNING.replace("CHOSEN", chosen),
    }
    assert {one for one in found(tmp_path, files) if one[0] == "EOS-CFG-072"} == expected
