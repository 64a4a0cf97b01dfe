"""What is exported parses, keeps what it promises to keep, and names nothing that does not exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from eosctl.knowledge.metrics import load_metrics
from eosctl.model.metric import MetricKind
from eosctl.monitoring.alerts import load_alerts, load_recordings, rules_document
from eosctl.monitoring.cluster_gauges import ENDED, HELP
from eosctl.monitoring.dashboard import ROWS
from eosctl.monitoring.exports import jmx_exporter_document
from tests.commands.conftest import eosctl
from tests.monitoring.promtool import check_rules, requires_promtool, selectors

EXPRESSIONS = [
    *(rule.expression for rule in load_recordings()),
    *(alert.expression for alert in load_alerts()),
    *(panel.expression for panels in ROWS.values() for panel in panels),
]


def exported() -> dict[str, set[str]]:
    """Return the series of the catalog and of the exporter: names with the values of their label ``name``."""
    found: dict[str, set[str]] = {}
    for metric in load_metrics():
        for text in metric.prometheus:
            found.setdefault(text.partition("{")[0], set()).add(metric.name if metric.is_yammer else "")
    return found | {name: {""} for name in (*HELP, ENDED)}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_alerts_and_panels_use_series_that_exist(expression: str) -> None:
    known, records = exported(), {rule.name for rule in load_recordings()}
    for series, pattern in selectors(expression):
        assert series in known
        names = [name for name in known[series] if not pattern or re.fullmatch(pattern, name)]
        assert len(names) >= len(pattern.split("|"))
    assert set(re.findall(r"eosctl:[\w:]+", expression)) <= records


@requires_promtool
def test_every_panel_is_promql(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(EXPRESSIONS)]
    done = check_rules({"groups": [{"name": "panels", "rules": rules}]}, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def matches(pattern: str, bean: str) -> bool:
    """Return whether a JMX pattern without free keys matches a bean, in any order of keys."""
    wanted, given = (
        {"": domain} | dict(pair.split("=", 1) for pair in rest.split(","))
        for domain, _, rest in (text.partition(":") for text in (pattern, bean))
    )
    return wanted.keys() == given.keys() and all(value in ("*", given[key]) for key, value in wanted.items())


def test_the_exporter_keeps_exactly_the_catalogued_metrics() -> None:
    kept = jmx_exporter_document()["includeObjectNames"]
    assert len(kept) == len(set(kept))
    for metric in load_metrics():
        if metric.kind is not MetricKind.TEXT:
            assert any(matches(pattern, metric.bean) for pattern in kept)
    assert not any(
        matches(pattern, "kafka.server:type=BrokerTopicMetrics,name=ReassignmentBytesInPerSec") for pattern in kept
    )


def test_strimzi_gets_the_same_rules_and_exporter() -> None:
    done = eosctl("metrics", "export", "strimzi")
    assert done.code == 0
    documents: dict[str, Any] = {one["kind"]: one for one in yaml.safe_load_all(done.out)}
    assert documents.keys() == {"ConfigMap", "PodMonitor", "PrometheusRule"}
    assert documents["PrometheusRule"]["spec"] == rules_document()
    (text,) = documents["ConfigMap"]["data"].values()
    assert yaml.safe_load(text) == jmx_exporter_document()


def test_the_dashboard_has_no_panel_upon_another() -> None:
    document = json.loads(eosctl("metrics", "export", "grafana").out)
    panels = document["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        grid = panel["gridPos"]
        cells = {
            (x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])
        }
        assert not cells & taken
        assert grid["x"] + grid["w"] <= 24
        taken |= cells
    variables = {variable["name"] for variable in document["templating"]["list"]}
    assert set(re.findall(r"\$\{(\w+)\}", json.dumps(document))) == variables


def test_the_collector_scrapes_the_configured_targets(tmp_path: Path) -> None:
    path = tmp_path / "otel.yaml"
    done = eosctl("metrics", "export", "otel", "--target", "b1:9404", "--target", "b2:9404", "--output-file", path)
    assert done.code == 0
    document = yaml.safe_load(path.read_text("utf-8"))
    (scrape,) = document["receivers"]["prometheus"]["config"]["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": ["b1:9404", "b2:9404"]}]
    for pipeline in document["service"]["pipelines"].values():
        for part in ("receivers", "processors", "exporters"):
            assert set(pipeline[part]) <= document[part].keys()


@pytest.mark.parametrize(
    "arguments",
    [
        ("otel",),
        ("otel", "--target", "http://b1:9404/metrics"),
        ("otel", "--target", "user:secret@b1:9404"),
        ("otel", "--target", "b1"),
        ("otel", "--target", "b1:70000"),
        ("rules", "--target", "b1:9404"),
        ("zabbix",),
    ],
)
def test_mistakes_are_reported(arguments: tuple[str, ...]) -> None:
    done = eosctl("metrics", "export", *arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "secret" not in done.err
    assert done.out == ""
