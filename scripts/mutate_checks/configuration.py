"""The rules over configuration files and their cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from eosctl.checks.declaration import Check
from eosctl.checks.judge import findings_of, judge
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.knowledge.parameter_tables import load_tables, parse_release
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment_files import read_components
from eosctl.settings.sources import Releases
from scripts.mutate_checks.mutants import ROOT

CASES: Final = ROOT / "tests" / "fixtures" / "checks" / "configuration"


class Expected(NamedTuple):
    """Files, and what a rule says of them; severities are compared where a case names them."""

    deployment: Deployment
    status: str
    places: list[str]
    severities: list[str]


def rules() -> Iterator[tuple[Path, str, Callable[[Check], bool]]]:
    """Yield the file and the name of each rule, with what tells whether a rule meets its cases."""
    for rule in CONFIGURATION_CHECKS:
        path = ROOT / Path(*rule.evaluate.__module__.split(".")).with_suffix(".py")
        yield path, rule.evaluate.__name__, meets(load_cases(rule.id))


def meets(cases: list[Expected]) -> Callable[[Check], bool]:
    """Return what tells whether a rule says what all these cases expect."""
    return lambda rule: all(_is_met(rule, case) for case in cases)


def load_cases(check_id: str) -> list[Expected]:
    """Return the cases of a rule, parsed once."""
    loaded: list[dict[str, Any]] = yaml.safe_load((CASES / f"{check_id}.yaml").read_text("utf-8"))["cases"]
    found = []
    for case in loaded:
        named = (parse_release(case[whose]) if whose in case else None for whose in Releases._fields)
        releases = Releases(*named)
        files = case["files"].items()
        parts = [part for name, text in files for part in read_components(name, text, releases=releases)]
        deployment = Deployment(tuple(parts), load_tables())
        found.append(Expected(deployment, case["expect"], case.get("findings", []), case.get("severities", [])))
    return found


def _is_met(rule: Check, case: Expected) -> bool:
    (result,) = judge(case.deployment, [rule])
    found = findings_of([result])
    places = [f"{facts['file']}:{facts['line']}" for finding in found if (facts := dict(finding.facts))]
    severities = [finding.severity.value for finding in found]
    return (result.status.value, places) == (case.status, case.places) and case.severities in ([], severities)
