"""Settings inside files about anything: resources of Pulumi, values as text, and clients of Alpakka."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, lint_configuration

PULUMI = """\
name: topics
runtime: yaml
resources:
  ledger:
    type: kafka:Topic
    properties:
      name: ledger
      partitions: 6
      replicationFactor: %d
      config: {min.insync.replicas: 2, cleanup.policy: delete}
"""
ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ledger}
spec:
  source:
    helm:
      values: |
        replicaCount: %d
        env:
          SPRING_KAFKA_BOOTSTRAP_SERVERS: kafka:9092
          SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX: ledger-
"""
ALPAKKA = """\
pekko.kafka.producer {
  eos-commit-interval = 100ms
  kafka-clients {
    bootstrap.servers = "kafka:9092"
    acks = "%s"
  }
}
"""


@pytest.mark.parametrize(
    ("name", "text", "wrong", "right", "expected"),
    [
        ("Pulumi.yaml", PULUMI, 2, 3, ("EOS-CFG-033", 10, "warning")),
        ("application.yaml", ARGO, 3, 1, ("EOS-CFG-072", 11, "error")),
        ("application.conf", ALPAKKA, 1, "all", ("EOS-CFG-011", 5, "critical")),
    ],
)
def test_settings_in_other_files_are_judged(
    name: str, text: str, wrong: object, right: object, expected: tuple[str, int, str], tmp_path: Path
) -> None:
    def found(value: object) -> list[tuple[str, int, str]]:
        (tmp_path / name).write_text(text % value)
        results = lint_configuration(LintRequest((tmp_path,))).found
        return [(one.check_id, int(dict(one.facts)["line"]), one.severity.value) for one in results]

    assert (found(wrong), found(right)) == ([expected], [])
