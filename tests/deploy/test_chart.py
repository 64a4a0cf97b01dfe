"""The Helm chart, as helm rendered it: valid for Kubernetes, and equal to the plain manifests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from eosctl import __version__
from scripts.release.chart import CHART, RECORD, VARIANTS, digest_of
from tests.deploy.manifests import EXTENSIONS, Resource, one_of, pods, problems, resources

KEPT = json.loads(RECORD.read_text("utf-8"))
RENDERED: dict[str, list[Resource]] = KEPT["rendered"]
#: What helm adds to distinguish releases.
ADDED = {"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by"}


def test_the_record_is_of_this_chart() -> None:
    assert KEPT["digest"] == digest_of(CHART), "render it again: python -m scripts.release.chart"
    assert RENDERED.keys() == VARIANTS.keys()


@pytest.mark.parametrize("name", VARIANTS)
def test_kubernetes_accepts_every_rendered_resource(name: str) -> None:
    own = [one for one in RENDERED[name] if one["apiVersion"] not in EXTENSIONS]
    assert own
    assert {one["metadata"]["name"]: problems(one) for one in own if problems(one)} == {}


def test_the_defaults_are_the_plain_manifests() -> None:
    rendered = {(one["kind"], one["metadata"]["name"]): plain(one) for one in RENDERED["defaults"]}
    assert rendered == {(one["kind"], one["metadata"]["name"]): plain(one) for one in resources()}


def plain(node: Any) -> Any:
    """Return a resource without what helm adds, and with the volumes in the order of their names."""
    if isinstance(node, list):
        return [plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: plain(value) for key, value in node.items() if key not in ADDED}
    kept.pop("imagePullPolicy", None)
    if kept.get("annotations", {}).keys() == {"checksum/client"}:
        del kept["annotations"]
    return kept


def test_values_reach_their_place() -> None:
    found, alone, doctor = RENDERED["everything"], RENDERED["exporter-alone"], RENDERED["doctor-alone"]
    exporter, job = (next(pods([one_of(found, kind)]))[1] for kind in ("Deployment", "CronJob"))
    assert exporter["containers"][0]["args"][-1] == "--transaction-log"
    assert exporter["containers"][0]["image"] == "eosctl:0.1.0"
    assert job["containers"][0]["args"] == ["doctor", "--fail-on", "warning"]
    assert [one["name"] for one in job["volumes"]] == ["client", "user", "tmp"]
    assert one_of(found, "ServiceMonitor")["metadata"]["labels"]["release"] == "prometheus"
    assert {one["kind"] for one in alone} == {"ConfigMap", "ServiceAccount", "Deployment", "Service"}
    assert [one["name"] for one in next(pods(alone))[1]["volumes"]] == ["client", "tmp"]
    assert {one["kind"] for one in doctor} == {"ConfigMap", "ServiceAccount", "CronJob", "KafkaUser"}


def test_two_releases_do_not_select_each_others_pods() -> None:
    found = RENDERED["defaults"]
    selectors = [
        one_of(found, "Deployment")["spec"]["selector"]["matchLabels"],
        one_of(found, "Service")["spec"]["selector"],
        one_of(found, "ServiceMonitor")["spec"]["selector"]["matchLabels"],
    ]
    assert all(one["app.kubernetes.io/instance"] == "eosctl" for one in selectors)


def test_the_schema_describes_the_values_and_templates_use_them() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    Draft7Validator(schema).validate(values)
    assert schema["properties"].keys() - {"global"} == values.keys()
    used = {
        path
        for file in Path(CHART / "templates").iterdir()
        for path in re.findall(r"\.Values\.([\w.]+)", file.read_text("utf-8"))
    }
    known = {f"{part}.{key}" for part, keys in values.items() for key in keys}
    assert used == known


def test_the_chart_has_the_version_of_the_program() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)
