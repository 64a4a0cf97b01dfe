"""Posted reports with the right answers of the corpus: what is right stays right, what is wrong is known."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.posted_reports import Answer, PostedReport, differences, find_incidents, with_reason
from tests.logs.posted_reports import read_posted_reports as read_reports

REPORTS = {report.name: report for report in read_reports()}
TIMED_OUT = Incident(
    kind="transaction_timeout",
    root_cause="transaction-longer-than-its-timeout",
    severity=Severity.ERROR,
    confidence=0.9,
    subject={"transactional.id": "orders-1", "brokers": ("3", "4")},
    t_start_ms=1_700_000_000_000,
    t_end_ms=1_700_000_001_000,
    evidence=(),
    explanation="The coordinator rolled the transaction back. A new producer was initialized.",
    next_step="Make the transactions shorter.",
)
RIGHT = Answer(
    title="A transaction is open for longer than its timeout",
    kind="^transaction_timeout: transaction-longer",
    subject=("orders-1", "3"),
    start=("2023-11-14T22:13:25Z", "2023-11-14T09:00:00Z"),
    severity=(Severity.ERROR, Severity.WARNING),
    most=1,
    says=("rolled", "shorter"),
    never=("duplicate-transactional-id",),
    recovered="new producer was",
)


def expectation(report: PostedReport) -> list[pytest.MarkDecorator]:
    """Mark a report that is wrong today: its test fails as soon as it is right, and its line must go."""
    reason = report.answer.wrong_today
    return [] if reason is None else [pytest.mark.xfail(raises=AssertionError, strict=True, reason=reason)]


@pytest.mark.parametrize("report", [pytest.param(one, id=one.name, marks=expectation(one)) for one in REPORTS.values()])
def test_a_posted_report_is_judged_right(report: PostedReport, tmp_path: Path) -> None:
    assert differences(report.answer, find_incidents(report, tmp_path)) == []


def test_a_right_answer_has_no_difference() -> None:
    assert differences(RIGHT, [TIMED_OUT]) == []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"kind": "producer_fenced"}, "error transaction_timeout: transaction-longer-than-its-timeout instead of"),
        ({"kind": None, "severity": (Severity.INFO,)}, "nothing is wrong, but reports error transaction_timeout"),
        ({"subject": ("orders",)}, None),
        ({"subject": ("order",)}, "the subject lacks 'order'"),
        ({"subject": ("5",)}, "the subject lacks '5'"),
        ({"start": "2023-11-14T22:13:26Z"}, "begins at 2023-11-14T22:13:20.000+00:00 instead of"),
        ({"start": "22:13:26"}, "begins at 2023-11-14T22:13:20.000+00:00 instead of 22:13:26"),
        ({"start": "22:13:25"}, None),
        ({"severity": (Severity.CRITICAL,)}, "severity error instead of critical"),
        ({"most": 0}, "1 incidents of severity error or critical instead of 0"),
        ({"says": ("timeout.ms",)}, "lacks 'timeout.ms'"),
        ({"never": ("^kind: transaction_timeout",)}, "claims"),
        ({"recovered": "shorter"}, "does not report the recovery 'shorter'"),
    ],
)
def test_each_expectation_is_compared(change: dict[str, object], difference: str | None) -> None:
    found = differences(msgspec.structs.replace(RIGHT, **change), [TIMED_OUT])
    assert [one.startswith(difference) for one in found] == [True] if difference else not found


def test_the_first_incident_must_be_the_right_one() -> None:
    other = TIMED_OUT._replace(kind="producer_fenced", root_cause="unexplained")
    answer = msgspec.structs.replace(RIGHT, most=2)
    assert differences(answer, [TIMED_OUT, other]) == []
    assert differences(answer, [other, TIMED_OUT]) != []
    assert differences(RIGHT, []) == ["no incident instead of '^transaction_timeout: transaction-longer'"]


def test_a_false_claim_of_any_incident_counts() -> None:
    other = TIMED_OUT._replace(root_cause="duplicate-transactional-id", severity=Severity.INFO)
    assert differences(RIGHT, [TIMED_OUT, other]) == ["claims 'duplicate-transactional-id'"]


def test_an_update_keeps_the_rest_of_an_answer() -> None:
    reason = "claims \"x\\d\"; lacks 'é'"
    for report in REPORTS.values():
        text = (report.folder / "answer.toml").read_text("utf-8")
        changed = with_reason(text, reason)
        answer = msgspec.toml.decode(changed, type=Answer)
        assert answer == msgspec.structs.replace(report.answer, wrong_today=reason)
        assert with_reason(changed, report.answer.wrong_today) == text
