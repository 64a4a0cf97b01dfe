"""Judge configuration files for a diagnosis: together with the running cluster where there is one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from eosctl.checks.configuration.cluster import broker_components, topic_components
from eosctl.checks.declaration import Check
from eosctl.checks.judge import judge
from eosctl.checks.live_brokers import LIVE_RULES
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grade import grade
from eosctl.findings.summary import summarize
from eosctl.model.deployment import Deployment
from eosctl.model.redaction import setting_text
from eosctl.model.snapshot import ClusterSnapshot

_LIVE_IDS: Final = frozenset(rule.id for rule in LIVE_RULES)


def judge_files(
    deployment: Deployment, snapshot: ClusterSnapshot | None, checks: Iterable[Check] = CONFIGURATION_CHECKS
) -> tuple[CheckResult, ...]:
    """Judge files, with the brokers and internal topics of a cluster as their counterparts.

    Findings about the cluster's own settings alone are left to the checks of clusters where these judge the same, so
    that nothing is reported twice. Values of secret settings are masked.
    """
    running = () if snapshot is None else (*broker_components(snapshot), *topic_components(snapshot))
    places = frozenset(component.place.file for component in running)
    together = judge(deployment.joined_by(running), checks)
    return tuple(masked(_of_files(result, places)) for result in together)


def joined(cluster: Diagnosis, files: Iterable[CheckResult]) -> Diagnosis:
    """Return one diagnosis of both, graded as one."""
    results = (*cluster.results, *files)
    return replace(cluster, results=results, grade=grade(results), summary=summarize(results, cluster.gaps))


def _of_files(result: CheckResult, running: frozenset[str]) -> CheckResult:
    if result.check_id in _LIVE_IDS:
        return result
    left = tuple(finding for finding in result.findings if not running.issuperset(finding.files))
    if len(left) == len(result.findings):
        return result
    if left:
        return replace(result, findings=left)
    reason = "only the cluster's own settings are concerned, which the checks of clusters judge"
    return replace(result, findings=(), status=CheckStatus.NOT_APPLICABLE, reason=reason)


def masked(result: CheckResult) -> CheckResult:
    """Return the result with the values of secret settings masked."""
    return replace(result, findings=tuple(_masked_finding(finding) for finding in result.findings))


def _masked_finding(finding: Finding) -> Finding:
    facts = dict(finding.facts)
    key = str(facts["keys"]).split(",")[0]
    return replace(
        finding,
        facts=tuple(
            (name, setting_text(key, str(value)) if name == "value" else value) for name, value in finding.facts
        ),
        evidence=tuple(replace(fact, value=setting_text(fact.name, fact.value)) for fact in finding.evidence),
    )
