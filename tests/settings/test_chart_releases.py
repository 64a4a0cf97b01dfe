"""Values that Argo CD, Flux, helmfile, and commands give a project's own chart make environments of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.settings.test_environments import found

CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: ledger\nversion: 1.0.0\n",
    "chart/values.yaml": "replicaCount: 1\nprefix: ledger-local-\n",
    "chart/templates/deployment.yaml": """apiVersion: apps/v1
kind: Deployment
metadata: {name: ledger}
spec:
  replicas: {{ .Values.replicaCount }}
  template:
    spec:
      containers:
        - name: ledger
          image: registry/ledger:1
          env:
            - name: SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX
              value: {{ .Values.prefix }}
""",
}
VALUES = "replicaCount: 3\nprefix: ledger-prod-\n"
ARGO = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ledger}
spec:
  source:
    path: deploy/../chart
    helm:
"""
INLINE = "      values: |\n        replicaCount: 3\n        prefix: ledger-prod-\n"
FLUX = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ledger}
spec:
  chart: {spec: {chart: ./chart}}
  values:
    replicaCount: 3
    prefix: ledger-prod-
"""


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        (
            "argo.yaml",
            ARGO + "      values: |\n        replicaCount: 3\n        prefix: ledger-prod-\n",
            ("argo.yaml", 10),
        ),
        ("argo.yaml", ARGO + "      valuesObject: {replicaCount: 3, prefix: ledger-prod-}\n", ("argo.yaml", 8)),
        ("argo.yaml", ARGO + "      valueFiles: [../prod/ledger.yaml]\n", ("ledger.yaml", 2)),
        ("flux.yaml", FLUX, ("flux.yaml", 8)),
        ("helmfile.yaml", "releases:\n- chart: ./chart\n  values: [prod/ledger.yaml]\n", ("ledger.yaml", 2)),
        ("deploy.sh", "helm upgrade --install ledger ./chart \\\n  -f prod/ledger.yaml\n", ("ledger.yaml", 2)),
        ("ci/deploy.sh", "helm upgrade ledger chart --values=prod/ledger.yaml\n", ("ledger.yaml", 2)),
        ("deploy.sh", "helm upgrade ledger ./other -f prod/ledger.yaml\n", None),
        ("argo.yaml", ARGO.replace("chart", "other") + "      valueFiles: [../prod/ledger.yaml]\n", None),
        ("deploy.sh", "helm upgrade ledger ./chart -f chart/values.yaml -f prod/none.yaml\n", None),
    ],
)
def test_values_elsewhere_make_an_environment(
    tmp_path: Path, name: str, text: str, place: tuple[str, int] | None
) -> None:
    for folder in ("chart/templates", "prod", "ci"):
        (tmp_path / folder).mkdir(parents=True)
    read = found(tmp_path, {**CHART, "prod/ledger.yaml": VALUES, name: text})
    assert {one[1:] for one in read if one[0] == "EOS-CFG-072"} == ({place} if place else set())


def test_each_environment_has_a_number_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "chart/templates").mkdir(parents=True)
    read = found(tmp_path, {**CHART, "chart/values-prod.yaml": VALUES})
    assert {one for one in read if one[0] == "EOS-CFG-072"} == {("EOS-CFG-072", "values-prod.yaml", 2)}
