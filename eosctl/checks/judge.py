"""Run the checks of configurations over a deployment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from eosctl.checks.declaration import Case, Check
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.checks.runner import run_check
from eosctl.checks.undecided import undecided_settings
from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.model.deployment import Deployment, Variation
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.unjudged import Undecided
from eosctl.model.verdict import Confidence

_NO_CLUSTER: Final = ClusterSnapshot(captured_at_ms=0, cluster_id="")


def judge(deployment: Deployment, checks: Iterable[Check] = CONFIGURATION_CHECKS) -> tuple[CheckResult, ...]:
    """Return the result of each check, with what differs where a condition of a template does not hold."""
    given = tuple(checks)
    results = _judge(deployment, given)
    for one in deployment.variations:
        others = _judge(Deployment(one.components, deployment.tables), given)
        results = tuple(_with_variation(*pair, one) for pair in zip(results, others, strict=True))
    return results


def _judge(deployment: Deployment, checks: Iterable[Check]) -> tuple[CheckResult, ...]:
    case = Case(_NO_CLUSTER, deployment=deployment)
    return tuple(_each_once(_without_doubles(run_check(check, case))) for check in checks)


def _with_variation(result: CheckResult, other: CheckResult, variation: Variation) -> CheckResult:
    """Return a result with the findings of a variation; what only one of the two finds says so."""
    if not result.findings and not other.findings:
        return other if other.status is CheckStatus.SKIPPED and result.status is not CheckStatus.SKIPPED else result
    own, others = {_identity(one) for one in result.findings}, {_identity(one) for one in other.findings}
    condition = f"{{% if {variation.condition} %}} ({variation.place})"
    kept = [
        one if _identity(one) in others else _only_if(one, f"This applies only where {condition} holds.")
        for one in result.findings
    ]
    added = [
        _only_if(one, f"This applies only where {condition} does not hold.")
        for one in other.findings
        if _identity(one) not in own
    ]
    return replace(result if result.findings else other, findings=(*kept, *added))


def _identity(finding: Finding) -> tuple[object, ...]:
    facts = dict(finding.facts)
    return facts["file"], facts["line"], str(finding.message)


def _only_if(finding: Finding, condition: str) -> Finding:
    confidence = Confidence.LIKELY if finding.confidence is Confidence.CERTAIN else finding.confidence
    return replace(finding, confidence=confidence, cause=f"{finding.cause} {condition}".strip())


def _each_once(result: CheckResult) -> CheckResult:
    """Return the result with one finding for each line and message: many hosts may have what one template says.

    The longer key of a line stays: a file is read as mappings on its own, and by whole paths below an environment's.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for one in result.findings:
        groups.setdefault((*_identity(one)[:2], _unqualified(one)), []).append(one)
    left_out = {id(one) for found in groups.values() for one in found if any(_is_end_of(one, other) for other in found)}
    kept = {_identity(one): one for one in reversed(result.findings) if id(one) not in left_out}
    return replace(result, findings=tuple(reversed(kept.values()))) if len(kept) < len(result.findings) else result


def _is_end_of(one: Finding, other: Finding) -> bool:
    """Return whether the key of a finding is the end of another one's, as if its file began further down."""
    return str(dict(other.facts)["keys"]).split(",")[0].endswith(f".{str(dict(one.facts)['keys']).split(',')[0]}")


def _unqualified(finding: Finding) -> str:
    """Return a finding's message with the last part of each key alone."""
    message = str(finding.message)
    for key in sorted(str(dict(finding.facts)["keys"]).split(","), key=len, reverse=True):
        message = message.replace(key, key.rpartition(".")[2])
    return message


def _without_doubles(result: CheckResult) -> CheckResult:
    """Merge doubtful findings that agree for every possible setting into one certain finding."""
    doubtful: dict[tuple[object, ...], list[Finding]] = {}
    for finding in result.findings:
        facts = dict(finding.facts)
        if "otherwise" in facts:
            doubtful.setdefault((facts["file"], facts["line"], facts["keys"]), []).append(finding)
    agreed = {key: found for key, found in doubtful.items() if len(found) > 1}
    if not agreed:
        return result
    kept: list[Finding] = []
    for finding in result.findings:
        facts = dict(finding.facts)
        found = agreed.get((facts["file"], facts["line"], facts["keys"]))
        if found is None:
            kept.append(finding)
        elif finding is found[0]:
            kept.append(replace(finding, confidence=Confidence.CERTAIN, cause=""))
    return replace(result, findings=tuple(kept))


def undecided(deployment: Deployment) -> tuple[Undecided, ...]:
    """Return the settings that some check would judge if their values were known, each place once."""
    return undecided_settings(deployment, {name for check in CONFIGURATION_CHECKS for name in check.reads})
