"""A chart's further values files: each environment is judged as Helm merges it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.settings.deployment_files import read_deployment

CHART = {"Chart.yaml": "apiVersion: v2\nname: pay\nversion: 1.0.0\n"}
VALUES = """replicaCount: 1
env:
  KAFKA_BOOTSTRAP_SERVERS: kafka:9092
  KAFKA_TRANSACTIONAL_ID: pay-tx
  KAFKA_ACKS: all
"""


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, int]]:
    for name, text in files.items():
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
