"""Run the checks of configurations over a deployment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.checks.declaration import Case, Check
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.checks.runner import run_check
from eosctl.checks.undecided import Undecided, undecided_settings
from eosctl.findings.diagnosis import CheckResult
from eosctl.findings.finding import Finding
from eosctl.model.deployment import Deployment
from eosctl.model.snapshot import ClusterSnapshot

_NO_CLUSTER: Final = ClusterSnapshot(captured_at_ms=0, cluster_id="")


def judge(deployment: Deployment, checks: Iterable[Check] = CONFIGURATION_CHECKS) -> tuple[CheckResult, ...]:
    """Return the result of each check."""
    case = Case(_NO_CLUSTER, deployment=deployment)
    return tuple(run_check(check, case) for check in checks)


def findings_of(results: Iterable[CheckResult]) -> tuple[Finding, ...]:
    """Return the findings by file and line, the worst first on each line."""
    found = [finding for result in results for finding in result.findings]

    def place(finding: Finding) -> tuple[str, int, int, str]:
        facts = dict(finding.facts)
        return str(facts["file"]), int(facts["line"]), finding.severity.rank, finding.check_id

    return tuple(sorted(found, key=place))


def undecided(deployment: Deployment) -> tuple[Undecided, ...]:
    """Return the settings that some check would judge if their values were known, each place once."""
    return undecided_settings(deployment, {name for check in CONFIGURATION_CHECKS for name in check.reads})
