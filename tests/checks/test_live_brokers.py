"""Settings of running brokers are judged by the rules for files; what was not reported is never passed."""

from __future__ import annotations

import pytest

from eosctl.checks.live_brokers import LIVE_RULES, judge_live_brokers
from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.model.evidence import EvidenceKind
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Broker, ClusterSnapshot

ASKED = frozenset({EvidenceKind.BROKER_CONFIGS})


def broker(node_id: int, source: SettingSource = SettingSource.STATIC_BROKER, **settings: str) -> Broker:
    told = {"log_dirs": "/data"} | settings
    named = (Setting(name.replace("_", "."), value, source) for name, value in told.items())
    return Broker(node_id, "h", 9092, settings=tuple(named))


def judged(*brokers: Broker, collected: frozenset[EvidenceKind] = ASKED) -> dict[str, CheckResult]:
    results = judge_live_brokers(ClusterSnapshot(0, "c", brokers=brokers, collected=collected))
    return {result.check_id: result for result in results}


def test_an_expiry_below_the_timeout_is_an_error_per_broker() -> None:
    found = judged(broker(1), broker(2, transactional_id_expiration_ms="20000"))["EOS-CFG-041"]
    (finding,) = found.findings
    assert (found.status, finding.severity) == (CheckStatus.FAILED, Severity.ERROR)
    assert (finding.resource.kind, finding.resource.name) == ("broker", "2")


def test_defaults_are_not_findings() -> None:
    expiry = broker(1, SettingSource.DEFAULT, transactional_id_expiration_ms="20000")
    assert judged(expiry)["EOS-CFG-041"].status is CheckStatus.PASSED


@pytest.mark.parametrize("loud", [(), (broker(1),)])
def test_brokers_without_settings_leave_every_rule_skipped(loud: tuple[Broker, ...]) -> None:
    results = judged(*loud, Broker(2, "h", 9092))
    assert len(results) == len(LIVE_RULES)
    assert {result.status for result in results.values()} <= {CheckStatus.SKIPPED, CheckStatus.NOT_APPLICABLE}
    assert "broker 2" in results["EOS-CFG-041"].reason


def test_what_was_not_asked_is_not_reported() -> None:
    assert judged(broker(1), collected=frozenset()) == {}
