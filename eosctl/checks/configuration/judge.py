"""Run the rules over a deployment; a rule whose settings are not known is skipped, never passed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.checks.configuration.registry import ALL_RULES
from eosctl.checks.configuration.rule import Rule
from eosctl.checks.declaration import Case
from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.model.deployment import Component, Deployment, Value
from eosctl.model.snapshot import ClusterSnapshot

_NO_CLUSTER: Final = ClusterSnapshot(captured_at_ms=0, cluster_id="")


class Undecided(NamedTuple):
    """A setting whose value lies outside of the files."""

    component: Component
    value: Value

    def __str__(self) -> str:
        return f"{self.value.place}: {self.value.key} refers to something outside of the file ({self.value.text})"


def judge(deployment: Deployment, rules: Iterable[Rule] = ALL_RULES) -> tuple[CheckResult, ...]:
    """Return what became of each rule."""
    case = Case(_NO_CLUSTER, deployment=deployment)
    return tuple(_judge(rule, case) for rule in rules)


def findings_of(results: Iterable[CheckResult]) -> tuple[Finding, ...]:
    """Return the findings by file and line, the worst first on each line."""
    found = [finding for result in results for finding in result.findings]

    def place(finding: Finding) -> tuple[str, int, int, str]:
        facts = dict(finding.facts)
        return str(facts["file"]), int(facts["line"]), finding.severity.rank, finding.check_id

    return tuple(sorted(found, key=place))


def undecided(deployment: Deployment, rules: Iterable[Rule] = ALL_RULES) -> tuple[Undecided, ...]:
    """Return the settings that some rule would judge if their values were known, each place once."""
    names = {name for rule in rules for name in rule.reads}
    found = {
        (value.place, value.key): Undecided(component, value)
        for component in deployment.components
        for name, value in component.given.items()
        if not value.resolved and any(name == read or name.endswith(f".{read}") for read in names)
    }
    return tuple(found.values())


def _judge(rule: Rule, case: Case) -> CheckResult:
    check = rule.check
    reason = check.applies(case) if check.applies is not None else ""
    if reason:
        return _result(rule, CheckStatus.NOT_APPLICABLE, reason=reason)
    findings = tuple(dict.fromkeys(check(case)))
    if findings:
        return _result(rule, CheckStatus.FAILED, findings)
    unknown = undecided(case.deployment, (rule,))
    if unknown:
        return _result(rule, CheckStatus.SKIPPED, reason=str(unknown[0]))
    return _result(rule, CheckStatus.PASSED)


def _result(rule: Rule, status: CheckStatus, findings: tuple[Finding, ...] = (), reason: str = "") -> CheckResult:
    check = rule.check
    return CheckResult(check.id, check.title, check.area.value, status, findings, reason)
