"""Ids of eosctl's own tests: what these provoke on purpose is information, and a hanging transaction is not."""

from __future__ import annotations

import msgspec
import pytest

from eosctl.checks.declaration import Case
from eosctl.checks.registry import find_check
from eosctl.checks.runner import run_check
from eosctl.findings.finding import Finding
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from tests.checks.cases import CheckCase, all_cases

PROVOKED = ("EOS-TXN-004", "EOS-TXN-006", "EOS-TXN-015", "EOS-TXN-019")
FAILED = tuple(case for case in all_cases() if case.check_id in PROVOKED and case.expect == "failed")


def renamed(snapshot: ClusterSnapshot, prefix: str) -> ClusterSnapshot:
    """Return a snapshot whose transactional ids have a prefix."""
    text = msgspec.json.encode(snapshot).decode()
    ids = {entry.transactional_id for entry in snapshot.transaction_history}
    ids |= {one.transactional_id for look in snapshot.looks for one in look.transactions}
    for one in ids:
        text = text.replace(f'"{one}"', f'"{prefix}{one}"')
    return msgspec.json.decode(text, type=ClusterSnapshot)


def found(case: CheckCase, prefix: str, check_id: str = "") -> tuple[Finding, ...]:
    check = find_check(check_id or case.check_id)
    assert check is not None
    return run_check(check, Case(renamed(case.snapshot, prefix), case.limits)).findings


@pytest.mark.parametrize("prefix", ["eosctl-verify-1796047405714-", "eosctl-calibrate-tv1-"])
@pytest.mark.parametrize("case", FAILED, ids=str)
def test_what_a_test_provokes_is_information(case: CheckCase, prefix: str) -> None:
    findings = found(case, prefix)
    assert findings
    for one in findings:
        assert one.severity is Severity.INFO
        assert "on purpose" in one.cause
        assert one.remedy == ("Nothing is to be done: the ids of a test expire on their own.",)


@pytest.mark.parametrize("case", FAILED, ids=str)
def test_ids_of_applications_keep_their_severity(case: CheckCase) -> None:
    before, after = found(case, ""), found(case, "eosctl-verifying-")
    assert [one.severity for one in before] == [one.severity for one in after]


def test_a_hanging_transaction_of_a_test_stays_critical() -> None:
    case = next(case for case in all_cases() if case.check_id == "EOS-TXN-001" and case.expect == "failed")
    assert {one.severity for one in found(case, "eosctl-verify-1-")} == {one.severity for one in found(case, "")}
