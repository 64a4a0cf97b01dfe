"""Asking promtool: whether rules parse, and which alerts fire at a moment of given series."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from eosctl.model.metric import SeriesNames
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


#: A run takes a moment: to collect its garbage, on all cores, is a third of its processor time.
FOR_A_MOMENT = {"GOGC": "off", "GOMAXPROCS": "1"}


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["promtool", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | FOR_A_MOMENT, capture_output=True, text=True, check=False)


def check_rules(document: object, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "checked.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    return promtool("check", "rules", path)


@cache
def rules_text(names: SeriesNames = SeriesNames.EOSCTL) -> str:
    """Return the file of all rules."""
    return yaml.safe_dump(rules_document(names=names))


def run_rule_tests(
    tests: Sequence[Mapping[str, object]], folder: Path, names: SeriesNames = SeriesNames.EOSCTL
) -> subprocess.CompletedProcess[str]:
    """Let promtool run unit tests of all rules."""
    (folder / "rules.yaml").write_text(rules_text(names), "utf-8")
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "15s", "tests": tests}
    # JSON is YAML, and takes a tenth of the time to write.
    (folder / "tests.yaml").write_text(json.dumps(document), "utf-8")
    return promtool("test", "rules", folder / "tests.yaml")


def firing_at(at: str, names: Iterable[str]) -> dict[str, object]:
    """Return the expectation that exactly these alerts fire at a time."""
    return {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0',
        "eval_time": at,
        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)],
    }


def prove_moments(moments: Sequence[Moment], folder: Path) -> subprocess.CompletedProcess[str]:
    """Let promtool evaluate all rules on each moment's series and compare the firing alerts.

    Rules are evaluated once for neighbors with the same series.
    """
    tests = [
        {
            "interval": interval,
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [firing_at(f"{round(moment.at * 60)}s", moment.firing) for moment in found],
        }
        for (series, interval), found in groupby(moments, lambda moment: (moment.series, moment.interval))
    ]
    return run_rule_tests(tests, folder)


def selectors(expression: str) -> list[tuple[str, str]]:
    """Return each scraped series of an expression with the value of its label ``name`` (a pattern), empty without."""
    found = re.findall(r"((?:kafka|eosctl)_\w+)(?:\{([^}]*)\})?", expression)
    return [(name, (re.search(r'\bname=~?"([^"]*)"', labels) or [None, ""])[1] or "") for name, labels in found]


#: The series that the rules ask for.
ASKED = frozenset(name for rule in (*load_recordings(), *load_alerts()) for name, _ in selectors(rule.expression))
