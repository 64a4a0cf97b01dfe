"""Scenarios name checks that exist."""

from __future__ import annotations

from eosctl.checks.registry import ALL_CHECKS
from eosctl.lab.scenarios.load import library


def test_scenarios_name_checks_that_exist() -> None:
    known = {check.id for check in ALL_CHECKS}
    for script in library().values():
        assert {*script.findings.fire, *script.findings.silent} <= known, script.name
