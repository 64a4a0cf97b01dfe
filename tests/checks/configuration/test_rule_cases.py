"""Every rule over configurations on its YAML cases: files with a mistake at a known line, and their near-misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eosctl.checks.judge import judge
from eosctl.checks.manual import SECTIONS, parse_manual
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables, parse_release
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_texts
from eosctl.settings.values.sources import Releases
from tests.checks.cases import read_yaml

FIXTURES = Path(__file__).parents[2] / "fixtures" / "checks" / "configuration"
BY_ID = {rule.id: rule for rule in CONFIGURATION_CHECKS}


class RuleCase(NamedTuple):
    """Files that are given together, and what one rule says about them."""

    check_id: str
    number: int
    expect: str
    files: dict[str, str]
    releases: Releases
    findings: list[str]
    severities: list[str]
    remedies: list[str]
    impacts: list[str]

    def __str__(self) -> str:
        return f"{self.check_id}-{self.number}-{self.expect}"

    def deployment(self) -> Deployment:
        return Deployment(tuple(read_texts(self.files, self.releases)), load_tables())


def cases_of(path: Path) -> list[RuleCase]:
    loaded: list[dict[str, Any]] = read_yaml(path)["cases"]
    return [
        RuleCase(
            path.stem,
            number,
            case["expect"],
            case["files"],
            Releases(*(parse_release(case[whose]) if whose in case else None for whose in Releases._fields)),
            case.get("findings", []),
            case.get("severities", []),
            case.get("remedies", []),
            case.get("impacts", []),
        )
        for number, case in enumerate(loaded)
    ]


CASES = [case for path in sorted(FIXTURES.glob("EOS-CFG-*.yaml")) for case in cases_of(path)]


@pytest.mark.parametrize("check_id", sorted({case.check_id for case in CASES}))
def test_every_case_of_a_rule_is_judged_as_expected(check_id: str) -> None:
    judged = {str(case): (outcome_of(case), case) for case in CASES if case.check_id == check_id}
    wanted = {name: (case.expect, case.findings, case.severities, []) for name, (_, case) in judged.items()}
    assert {name: outcome for name, (outcome, _) in judged.items()} == wanted


def outcome_of(case: RuleCase) -> tuple[str, list[str], list[str], list[str]]:
    """Return the status, the places, the severities if the case names them, and missing remedies and impacts."""
    (result,) = judge(case.deployment(), [BY_ID[case.check_id]])
    found = findings_of([result])
    places = [f"{facts['file']}:{facts['line']}" for one in found if (facts := dict(one.facts))]
    severities = [one.severity.value for one in found] if case.severities else []
    missing = [part for part, one in zip(case.remedies, found, strict=False) if part not in " ".join(one.remedy)]
    missing += [part for part, one in zip(case.impacts, found, strict=False) if part not in one.impact]
    return result.status.value, places, severities, missing


def test_every_rule_has_failing_passing_and_skipped_cases() -> None:
    for rule in CONFIGURATION_CHECKS:
        outcomes = [case.expect for case in CASES if case.check_id == rule.id]
        assert outcomes.count("failed") >= 2, rule.id
        assert "passed" in outcomes, rule.id
        assert "skipped" in outcomes or not rule.reads, rule.id


@pytest.mark.parametrize("check", CONFIGURATION_CHECKS, ids=lambda check: check.id)
def test_the_manual_is_whole(check: Any) -> None:
    summary, sections = parse_manual(check.manual)
    assert summary.endswith(".")
    assert tuple(sections) == SECTIONS
    assert check.references
    assert "References:" not in check.manual


def test_without_files_nothing_passes() -> None:
    assert {result.status for result in judge(Deployment())} == {CheckStatus.NOT_APPLICABLE}


def test_what_the_input_lacks_is_named_in_words() -> None:
    reasons = {result.check_id: result.reason for result in judge(Deployment())}
    assert reasons["EOS-CFG-001"] == "no Streams configuration in the input"
    assert reasons["EOS-CFG-100"] == "no access rules in the input"
    assert reasons["EOS-CFG-088"] == "no configuration in the input"
    assert reasons["EOS-CFG-060"] == "no source connector or Connect worker configuration in the input"


def test_ids_are_issued_once() -> None:
    assert len(BY_ID) == len(CONFIGURATION_CHECKS)
