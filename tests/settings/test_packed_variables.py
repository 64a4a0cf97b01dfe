"""Settings that stand in JSON within a variable, in paths of .NET, and in templates without quotes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration

JSON = """services:
  pay:
    image: shop/pay
    environment:
      SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX: pay-
      SPRING_APPLICATION_JSON: '{"spring": {"kafka": {"producer": {"acks": "%s", "retries": 5}}}}'
"""
DOTNET = """apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec:
  replicas: 2
  selector: {}
  template:
    spec:
      containers:
        - name: pay
          image: shop/pay
          env:
            - {name: Logging__LogLevel__Default, value: Information}
            - {name: Kafka__ProducerConfig__TransactionalId, value: "pay-$(POD_NAME)"}
            - {name: Kafka__ProducerConfig__EnableIdempotence, value: "%s"}
            - {name: SPRING_PROFILES_ACTIVE, value: a}
"""
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: pay\nversion: 0.1.0\n",
    "values.yaml": "replicas: 3\nkafka: {brokers: 'k:9092', prefix: pay-}\n",
    "templates/deployment.yaml": """apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec:
  replicas: {{ .Values.replicas }}
  selector: {}
  template:
    spec:
      containers:
        - name: pay
          image: shop/pay
          env:
            - name: SPRING_KAFKA_BOOTSTRAP_SERVERS
              value: {{ .Values.kafka.brokers }}
            - name: SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX
              value: {{ .Values.kafka.prefix | quote }}
""",
}
WORKFLOW = """on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services:
      kafka:
        image: apache/kafka:3.9.0
        env:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
          KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
          KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: %s
"""


def lint(folder: Path, files: Mapping[str, str]) -> LintResult:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return lint_configuration(LintRequest((folder,)))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"compose.yaml": JSON % "1"}, [("EOS-CFG-011", 6)]),
        ({"compose.yaml": JSON % "all"}, []),
        ({"compose.yaml": (JSON % "1").replace("}}}}", "}}")}, []),
        ({"pay.yaml": DOTNET % "false"}, [("EOS-CFG-070", 15)]),
        ({"pay.yaml": DOTNET % "true"}, []),
        (CHART, [("EOS-CFG-072", 2)]),
        ({"it.yml": WORKFLOW % "3"}, [("EOS-CFG-149", 13)]),
        ({"it.yml": WORKFLOW % "1"}, []),
    ],
)
def test_what_is_packed_is_judged(files: Mapping[str, str], expected: list[tuple[str, int]], tmp_path: Path) -> None:
    found = [one for one in lint(tmp_path, files).found if one.severity.value != "info"]
    assert [(one.check_id, int(dict(one.facts)["line"])) for one in found] == expected


def test_an_expression_without_quotes_is_named_as_not_judged(tmp_path: Path) -> None:
    text = "kafka:\n  producer:\n    bootstrap.servers: k:9092\n    acks: {{ acks }}\n"
    result = lint(tmp_path, {"client.yml": text})
    assert (result.found, [str(one.value.text) for one in result.linted.undecided]) == ((), ["{{ acks }}"])


def test_values_that_fill_templates_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lint(tmp_path, CHART).linted.not_understood == ()
    monkeypatch.chdir(tmp_path)
    assert lint_configuration(LintRequest((Path(),))).linted.not_understood == ()
