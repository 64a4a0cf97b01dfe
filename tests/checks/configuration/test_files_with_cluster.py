"""Files with a running cluster: each rule runs once, and the cluster's own settings are left to its checks."""

from __future__ import annotations

from collections import Counter

import pytest

from eosctl.checks.declaration import Case, Check
from eosctl.checks.files_with_cluster import judge_files
from eosctl.checks.runner import run_check
from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_components
from tests.checks.cases import build
from tests.checks.configuration.test_rule_cases import CASES, RuleCase

SLOW_BROKERS = {
    "brokers": [
        {
            "node_id": 1,
            "host": "h",
            "port": 1,
            "settings": [{"name": "broker.session.timeout.ms", "value": "10000", "source": "static-broker"}],
        }
    ]
}


def deployment(**files: str) -> Deployment:
    parts = (part for name, text in files.items() for part in read_components(f"{name}.properties", text))
    return Deployment(tuple(parts), load_tables())


def test_every_rule_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: Counter[str] = Counter()

    def counted(check: Check, case: Case) -> CheckResult:
        runs[check.id] += 1
        return run_check(check, case)

    monkeypatch.setattr("eosctl.checks.judge.run_check", counted)
    judge_files(deployment(app="application.id=a\nprocessing.guarantee=exactly_once_v2\n"), build(SLOW_BROKERS))
    assert set(runs.values()) == {1}


def test_a_broker_is_judged_with_an_applications_default() -> None:
    streams = deployment(app="application.id=a\nprocessing.guarantee=exactly_once_v2\n")
    results = {result.check_id: result for result in judge_files(streams, build(SLOW_BROKERS))}
    (finding,) = results["EOS-CFG-095"].findings
    assert finding.files == ("broker 1", "app.properties")


def test_cluster_problems_without_files_are_left_to_its_checks() -> None:
    slow = build({"brokers": [{**SLOW_BROKERS["brokers"][0], "settings": [
        {"name": "unclean.leader.election.enable", "value": "true", "source": "static-broker"},
        {"name": "broker.session.timeout.ms", "value": "90000", "source": "static-broker"}]}]})  # fmt: skip
    results = {result.check_id: result for result in judge_files(deployment(c="group.id=g\n"), slow)}
    assert results["EOS-CFG-037"].status is CheckStatus.NOT_APPLICABLE
    assert "checks of clusters" in results["EOS-CFG-037"].reason
    # No check of clusters judges this one.
    assert results["EOS-CFG-095"].status is CheckStatus.FAILED


FAILED = [case for case in CASES if case.expect == "failed"]


@pytest.mark.parametrize("check_id", sorted({case.check_id for case in FAILED}))
def test_findings_name_the_files_that_they_judge(check_id: str) -> None:
    for case in (case for case in FAILED if case.check_id == check_id):
        hold_to_own_files(case)


def hold_to_own_files(case: RuleCase) -> None:
    names = set(case.files)
    for result in judge_files(case.deployment(), None):
        for finding in result.findings:
            assert finding.files
            assert set(finding.files) <= names
