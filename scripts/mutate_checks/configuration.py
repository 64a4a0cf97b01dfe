"""The rules for configuration files, and their cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from eosctl.checks.declaration import Check
from eosctl.checks.judge import judge
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables, parse_release
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_texts
from eosctl.settings.values.sources import Releases
from scripts.mutate_checks.mutants import ROOT

CASES: Final = ROOT / "tests" / "fixtures" / "checks" / "configuration"


class Expected(NamedTuple):
    """Files with the expected results of a rule; severities, parts of remedies, and impacts are compared if given."""

    deployment: Deployment
    status: str
    places: list[str]
    severities: list[str]
    remedies: list[str]
    impacts: list[str]


def rules() -> Iterator[tuple[Path, str, Callable[[Check], bool]]]:
    """Yield file and name of each rule, with a predicate for its cases."""
    for rule in CONFIGURATION_CHECKS:
        path = ROOT / Path(*rule.evaluate.__module__.split(".")).with_suffix(".py")
        yield path, rule.evaluate.__name__, meets(load_cases(rule.id))


def meets(cases: list[Expected]) -> Callable[[Check], bool]:
    """Return a predicate: whether a rule gives the expected results of these cases."""
    return lambda rule: all(_is_met(rule, case) for case in cases)


def load_cases(check_id: str) -> list[Expected]:
    """Return the cases of a rule, cached."""
    loaded: list[dict[str, Any]] = yaml.safe_load((CASES / f"{check_id}.yaml").read_text("utf-8"))["cases"]
    found = []
    for case in loaded:
        named = (parse_release(case[whose]) if whose in case else None for whose in Releases._fields)
        releases = Releases(*named)
        deployment = Deployment(tuple(read_texts(case["files"], releases)), load_tables())
        parts = (case.get(name, []) for name in ("findings", "severities", "remedies", "impacts"))
        found.append(Expected(deployment, case["expect"], *parts))
    return found


def _is_met(rule: Check, case: Expected) -> bool:
    (result,) = judge(case.deployment, [rule])
    found = findings_of([result])
    places = [f"{facts['file']}:{facts['line']}" for finding in found if (facts := dict(finding.facts))]
    severities = [finding.severity.value for finding in found]
    remedies = zip(case.remedies, (" ".join(finding.remedy) for finding in found), strict=False)
    impacts = zip(case.impacts, (finding.impact for finding in found), strict=False)
    is_reported = all(part in text for part, text in (*remedies, *impacts)) and case.severities in ([], severities)
    return is_reported and (result.status.value, places) == (case.status, case.places)
