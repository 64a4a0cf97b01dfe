"""Judge the settings that running brokers report by the rules for configuration files."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from eosctl.checks.configuration.cluster import broker_components
from eosctl.checks.declaration import Check
from eosctl.checks.judge import judge
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.model.deployment import Deployment
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Resource
from eosctl.text import name_some

_LIVE: Final = frozenset(
    {
        "EOS-CFG-006",
        "EOS-CFG-033",
        "EOS-CFG-040",
        "EOS-CFG-041",
        "EOS-CFG-042",
        "EOS-CFG-044",
        "EOS-CFG-095",
        "EOS-CFG-096",
        "EOS-CFG-110",
        "EOS-CFG-111",
        "EOS-CFG-137",
        "EOS-CFG-138",
        "EOS-CFG-154",
    }
)

LIVE_RULES: Final[tuple[Check, ...]] = tuple(check for check in CONFIGURATION_CHECKS if check.id in _LIVE)
"""Rules about single brokers that no check of clusters judges with more evidence."""


def judge_live_brokers(snapshot: ClusterSnapshot) -> tuple[CheckResult, ...]:
    """Judge what brokers reported of their settings; empty where they were not asked.

    A rule is skipped where a broker did not report its settings, unless another broker's settings break it.
    """
    if EvidenceKind.BROKER_CONFIGS not in snapshot.collected or not snapshot.brokers:
        return ()
    silent = [str(broker.node_id) for broker in snapshot.brokers if not broker.settings]
    reason = f"{EvidenceKind.BROKER_CONFIGS.value}: not reported by {name_some('broker', silent)}" if silent else ""
    components = broker_components(snapshot)
    if not components:
        return tuple(
            CheckResult(rule.id, rule.title, rule.area.value, CheckStatus.SKIPPED, reason=reason) for rule in LIVE_RULES
        )
    return tuple(_shown(result, reason) for result in judge(Deployment(components), LIVE_RULES))


def _shown(result: CheckResult, reason: str) -> CheckResult:
    findings = tuple(_of_broker(finding) for finding in result.findings)
    if not reason or result.status is CheckStatus.NOT_APPLICABLE:
        return replace(result, findings=findings)
    status = CheckStatus.FAILED if findings else CheckStatus.SKIPPED
    return replace(result, findings=findings, status=status, reason=reason, incomplete=True)


def _of_broker(finding: Finding) -> Finding:
    """Return the finding about the broker, not about a file of this name."""
    broker = finding.resource.name
    evidence = tuple(
        replace(fact, source=f"DescribeConfigs {broker}") if fact.source.startswith(broker) else fact
        for fact in finding.evidence
    )
    return replace(finding, resource=Resource("broker", broker.removeprefix("broker ")), evidence=evidence, files=())
