"""What follows from a fault is a part of its incident, and names from a log's beginning are in its subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

STARTED = "2026-04-02 10:00:03,412 INFO ocr.consumer subscribed to ['scan-jobs'] group=ocr-gpu\n"
LEFT = (
    "%4|1775124373.118|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval (300000ms) exceeded "
    "by 255ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"
)
REFUSED = (
    "2026-04-02 10:14:41,003 ERROR ocr.consumer commit failed: KafkaError{code=UNKNOWN_MEMBER_ID,val=25,"
    'str="Commit failed: Broker: Unknown member"}\n'
)
SILENT = (
    "2026-02-24 03:36:02,118 WARNING kafka.coordinator Heartbeat session expired, marking coordinator dead\n"
    "2026-02-24 03:36:02,301 ERROR kafka.coordinator.consumer OffsetCommit failed for group costs due to group error "
    "([Error 25] UnknownMemberIdError: costs), will rejoin\n"
    "2026-02-24 03:36:30,008 WARNING kafka.coordinator.consumer Auto offset commit failed: [Error 25] "
    "UnknownMemberIdError: costs\n"
)
DENIED = (
    "[2026-01-01 10:00:00,000] INFO [Producer clientId=p, transactionalId=t-1] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.TransactionalIdAuthorizationException: Transactional Id authorization failed. "
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
TEST = "Gradle Test Run :core:test > Gradle Test Executor 4 > FooTest > bar() {}\n"


def test_a_refused_commit_is_an_effect_of_a_slow_poll(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": STARTED + LEFT + REFUSED})
    assert (found.kind, found.subject["group"]) == ("poll_interval_exceeded", "ocr-gpu")
    assert "Effect (member_fenced)" in found.explanation and len(found.evidence) == 2


def test_offsets_are_refused_only_if_a_commit_failed(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": STARTED + LEFT})
    assert "refused" not in found.explanation


def test_a_client_that_reports_its_expired_session_was_removed(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": SILENT})
    assert (found.kind, found.root_cause) == ("member_evicted", "heartbeats-missed")
    assert "it had not rejoined" in found.explanation


@pytest.mark.parametrize(("result", "kind"), [("PASSED", "test_run"), ("FAILED", "transactional_id_authorization")])
def test_only_tests_that_passed_have_expected_errors(result: str, kind: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"console.log": TEST.format("STARTED") + DENIED + TEST.format(result)})
    assert found.kind == kind


def test_a_test_does_not_cover_the_errors_of_other_hours(tmp_path: Path) -> None:
    ran = "[2026-01-01 {}:00:00,000] INFO Tests run: 3, Failures: 0, Errors: 0 (selftest)\n"
    (found,) = judge(tmp_path, {"app.log": ran.format("08") + DENIED + ran.format("12")})
    assert found.kind == "transactional_id_authorization"
