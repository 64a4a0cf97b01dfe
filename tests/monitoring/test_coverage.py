"""The page that answers every quoted metric names tests, alerts and metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path

from eosctl.checks.registry import ALL_CHECKS
from eosctl.monitoring.alerts import load_alerts
from eosctl.monitoring.derived import DERIVED
from tests.house.test_coverage_page import NODE_ID, missing_tests

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "metrics" / "coverage.md").read_text("utf-8")
ROW = re.compile(r"^\| (S\d-\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def test_every_row_is_answered_and_shown() -> None:
    rows = ROW.findall(PAGE)
    assert len({ident for ident, *_ in rows}) == len(rows) == 59
    assert [ident for ident, _, answer, shown in rows if not answer.strip() or not NODE_ID.search(shown)] == []


def test_every_test_exists() -> None:
    assert missing_tests(PAGE, ROOT / "tests") == []


def test_every_name_of_ours_exists() -> None:
    assert set(re.findall(r"\bEos[A-Z]\w+", PAGE)) <= {alert.name for alert in load_alerts()}
    assert set(re.findall(r"\bEOS-[A-Z]{3}-\d{3}", PAGE)) <= {check.id for check in ALL_CHECKS}
    derived = {metric.name for metric in DERIVED}
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", PAGE))
    assert named
    assert named <= derived
