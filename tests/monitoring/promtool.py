"""Asking promtool: whether rules parse, and which alerts fire at a moment of given series."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from eosctl.monitoring.alerts import load_alerts, load_recordings, rules_document

requires_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is missing (Debian: prometheus)"
)


class Moment(NamedTuple):
    """Series in promtool's notation, and which alerts must be firing when; ``at`` in minutes."""

    series: Mapping[str, str]
    at: float
    firing: frozenset[str]
    interval: str = "15s"


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False)


def check_rules(document: object, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "checked.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    return promtool("check", "rules", path)


def prove_moments(moments: Sequence[Moment], folder: Path) -> subprocess.CompletedProcess[str]:
    """Let promtool evaluate all rules on each moment's series and compare the firing alerts."""
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules_document()), "utf-8")
    tests = [
        {
            "interval": moment.interval,
            "input_series": [{"series": name, "values": values} for name, values in moment.series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count by (alertname) (ALERTS{{alertname="{alert.name}",alertstate="firing"}}) > bool 0',
                    "eval_time": f"{round(moment.at * 60)}s",
                    "exp_samples": [{"labels": f'{{alertname="{alert.name}"}}', "value": 1}]
                    if alert.name in moment.firing
                    else [],
                }
                for alert in load_alerts()
            ],
        }
        for moment in moments
    ]
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "15s", "tests": tests}
    (folder / "tests.yaml").write_text(yaml.safe_dump(document), "utf-8")
    return promtool("test", "rules", folder / "tests.yaml")


def selectors(expression: str) -> list[tuple[str, str]]:
    """Return each scraped series of an expression with the value of its label ``name`` (a pattern), empty without."""
    found = re.findall(r"((?:kafka|eosctl)_\w+)(?:\{([^}]*)\})?", expression)
    return [(name, (re.search(r'\bname=~?"([^"]*)"', labels) or [None, ""])[1] or "") for name, labels in found]


#: The series that the rules ask for.
ASKED = frozenset(name for rule in (*load_recordings(), *load_alerts()) for name, _ in selectors(rule.expression))
