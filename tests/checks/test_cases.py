"""Every check on its YAML cases, and the apparatus around all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eosctl.checks.declaration import Case
from eosctl.checks.manual import SECTIONS, manual_of, parse_manual
from eosctl.checks.registry import ALL_CHECKS, CATALOG, find_check, select_checks
from eosctl.checks.runner import diagnose, run_check
from eosctl.findings.diagnosis import CheckStatus
from eosctl.model.severity import Severity
from scripts.check_pages import catalog_lock
from tests.checks.cases import FIXTURES, CheckCase, all_cases, build, differences

ROOT = Path(__file__).parent.parent.parent
CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: CheckCase) -> None:
    check = find_check(case.check_id)
    assert check is not None
    assert differences(run_check(check, Case(case.snapshot, case.limits)), case) == []


def test_every_check_has_cases_that_pass_fail_and_skip() -> None:
    for check in ALL_CHECKS:
        outcomes = {case.expect for case in CASES if case.check_id == check.id}
        assert {"passed", "failed", "skipped"} <= outcomes, check.id
    assert {path.stem for path in FIXTURES.glob("EOS-*.yaml")} == {check.id for check in ALL_CHECKS}


def test_kafkas_defaults_raise_nothing() -> None:
    diagnosis = diagnose(ALL_CHECKS, Case(build({})))
    assert diagnosis.findings == ()
    assert diagnosis.grade.letter == "A"
    assert diagnosis.count(CheckStatus.SKIPPED) == 0


def test_one_broker_with_its_defaults_raises_no_warning() -> None:
    topics = [
        {
            "name": "__transaction_state",
            "topic_id": "t",
            "internal": True,
            "settings": [{"name": "min.insync.replicas", "value": "1"}, {"name": "cleanup.policy", "value": "compact"}],
            "partitions": [
                {
                    "partition": ["__transaction_state", index],
                    "leader_id": 1,
                    "leader_epoch": 0,
                    "replicas": [1],
                    "isr": [1],
                }
                for index in range(50)
            ],
        }
    ]
    brokers = [
        {
            "node_id": 1,
            "host": "h",
            "port": 9092,
            "settings": [{"name": "transaction.state.log.num.partitions", "value": "50", "source": "default"}],
        }
    ]
    diagnosis = diagnose(ALL_CHECKS, Case(build({"brokers": brokers, "topics": topics})))
    assert [finding for finding in diagnosis.findings if finding.severity.at_least(Severity.WARNING)] == []


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.id)
def test_manual_is_whole(check: Any) -> None:
    summary, sections = parse_manual(check.manual)
    assert summary.endswith(".")
    assert len(summary) < 150
    assert tuple(sections) == SECTIONS
    assert "References:" not in check.manual
    assert check.references


def test_ids_are_well_formed_and_unique() -> None:
    ids = [check.id for check in ALL_CHECKS]
    assert len(ids) == len(set(ids))
    for check in ALL_CHECKS:
        prefix, area, number = check.id.split("-")
        assert (prefix, area) == ("EOS", check.area.value)
        assert len(number) == 3
        assert number.isdigit()


def test_no_id_was_ever_taken_back_or_renamed() -> None:
    lock = (ROOT / "eosctl" / "checks" / "catalog.lock").read_text()
    assert lock == catalog_lock(ALL_CHECKS)


def test_files_are_named_for_what_is_wrong() -> None:
    for check in CATALOG:
        module = check.evaluate.__module__
        assert module.rpartition(".")[2] == check.evaluate.__name__


def test_selection() -> None:
    assert select_checks([]) == ALL_CHECKS
    assert [check.id for check in select_checks(["eos-txn-001"])] == ["EOS-TXN-001"]
    assert {check.area.value for check in select_checks(["TXN", "top"])} == {"TXN", "TOP"}
    assert "EOS-BRK-002" in {check.id for check in select_checks(["hanging"])}
    with pytest.raises(LookupError) as refused:
        select_checks(["TXN", "nonsense"])
    assert refused.value.args == ("nonsense",)


def test_a_manual_ends_with_the_references_of_the_declaration() -> None:
    for check in CATALOG:
        sections = manual_of(check).sections
        assert tuple(sections) == (*SECTIONS, "References")
        assert " ".join(sections["References"].split()) == "; ".join(check.references) + "."
