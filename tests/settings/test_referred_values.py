"""Variables that take their values from keys of ConfigMaps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.settings.deployment.deployment_files import read_deployment

APP = """apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec:
  replicas: 3
  selector: {matchLabels: {app: pay}}
  template:
    spec:
      containers:
        - name: pay
          image: acme/pay:1
          env:
            - name: KAFKA_TRANSACTIONAL_ID
              valueFrom: {%s: {name: app, key: %s}}
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n  brokers: kafka:9092\n  %s: %s\n"
SHARED = {("EOS-CFG-147", "map.yaml", 6)}


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, int]]:
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    facts = ((one.check_id, dict(one.facts)) for one in findings_of(judge(read_deployment([folder]).deployment)))
    return {(check, Path(str(f["file"])).name, int(str(f["line"]))) for check, f in facts}


@pytest.mark.parametrize("key", ["tx-id", "KAFKA_TRANSACTIONAL_ID", "transactional.id"])
def test_a_key_of_a_config_map_is_shared_by_all_pods(tmp_path: Path, key: str) -> None:
    files = {"app.yaml": APP % ("configMapKeyRef", key), "map.yaml": MAP % (key, "pay-tx")}
    assert found(tmp_path, files) == SHARED
    assert read_deployment([tmp_path]).not_understood == ()


@pytest.mark.parametrize(
    "files",
    [
        {"app.yaml": APP % ("configMapKeyRef", "tx")},
        {"app.yaml": APP % ("configMapKeyRef", "other"), "map.yaml": MAP % ("tx", "a")},
        {"app.yaml": APP % ("secretKeyRef", "tx")},
        {
            "app.yaml": APP % ("configMapKeyRef", "tx"),
            "dev.yaml": MAP % ("tx", "a"),
            "prod.yaml": MAP % ("tx", "b"),
        },
    ],
)
def test_a_key_that_is_not_known_stays_so(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert found(tmp_path, files) == set()
