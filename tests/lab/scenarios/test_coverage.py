"""Every scenario among the requirements has a file, or a stated reason."""

from __future__ import annotations

import re
from pathlib import Path

from eosctl.checks.registry import ALL_CHECKS
from eosctl.lab.scenarios.load import library

PAGE = Path(__file__).parents[3] / "docs" / "sandbox" / "scenario-coverage.md"
TESTS = Path(__file__).parents[2]


def rows_of_the_page() -> dict[str, str]:
    found = re.findall(r"^\| (S\d-\d{3}) \| [^|]+ \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE)
    return {row: shown.strip() for row, shown in found}


def test_each_row_is_shown_by_what_the_page_says() -> None:
    files = {row: [s.name for s in library().values() if row in s.rows] for s in library().values() for row in s.rows}
    for row, shown in rows_of_the_page().items():
        named = re.findall(r"`([^`]+)`", shown)
        scenarios = [name for name in named if name in library()]
        tests = [name for name in named if "/" in name]
        assert scenarios or tests or shown.startswith("no:"), row
        assert all((TESTS / name.split("::")[0]).exists() for name in tests), row
        assert set(scenarios) <= set(files.get(row, [])), row
    assert set(files) <= set(rows_of_the_page())


def test_scenarios_name_checks_that_exist() -> None:
    known = {check.id for check in ALL_CHECKS}
    for script in library().values():
        assert {*script.findings.fire, *script.findings.silent} <= known, script.name
