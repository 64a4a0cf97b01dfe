"""Causes of late or undecided transactions; each cause is next to a case that differs in one fact."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangCause, HangStatus
from eosctl.model.setting import Setting, SettingSource
from tests.analysis.scenes import NOW_MS, gap, only, producer, snapshot, state_topic, transaction, two_reads

MINUTE_MS = 60_000


@pytest.mark.parametrize(
    ("last_timestamp_ms", "cause"),
    [
        (NOW_MS - 5_000, HangCause.WITHIN_TIMEOUT),
        (NOW_MS - 14 * MINUTE_MS, HangCause.WITHIN_TIMEOUT),
        (NOW_MS - 16 * MINUTE_MS, HangCause.CLIENT_CLOCK_SKEWED),
        (NOW_MS + 16 * MINUTE_MS, HangCause.CLIENT_CLOCK_SKEWED),
        (-1, HangCause.WITHIN_TIMEOUT),
    ],
)
def test_timestamps_of_records_mislead_and_never_decide(last_timestamp_ms: int, cause: HangCause) -> None:
    verdict = only(two_reads([producer(last_timestamp_ms=last_timestamp_ms)], [transaction()]))
    assert (verdict.status, verdict.cause) == (HangStatus.OPEN, cause)


@pytest.mark.parametrize(
    ("timeout_ms", "cause"), [(900_000, HangCause.WITHIN_TIMEOUT), (900_001, HangCause.TIMEOUT_RAISED)]
)
def test_a_timeout_beyond_the_default_maximum_is_named(timeout_ms: int, cause: HangCause) -> None:
    old = transaction(timeout_ms=timeout_ms, start_time_ms=NOW_MS - 10 * MINUTE_MS)
    verdict = only(two_reads([producer()], [old]))
    assert (verdict.status, verdict.cause) == (HangStatus.LONG_RUNNING, cause)
    assert verdict.coordinator_acts_at_ms == NOW_MS - 10 * MINUTE_MS + timeout_ms + 10_000


def test_a_coordinator_that_loads_or_has_no_leader_is_named() -> None:
    loading = gap(EvidenceKind.TRANSACTIONS, "broker 1", "COORDINATOR_LOAD_IN_PROGRESS")
    verdict = only(two_reads([producer()], gaps=(loading,)))
    assert (verdict.status, verdict.cause) == (HangStatus.UNDECIDED, HangCause.COORDINATOR_UNAVAILABLE)
    assert "COORDINATOR_LOAD_IN_PROGRESS" in verdict.explanation
    topics = (snapshot().topics[0], state_topic((1, None)))
    verdict = only(two_reads([producer()], topics=topics))
    assert verdict.cause is HangCause.COORDINATOR_UNAVAILABLE
    assert "__transaction_state-1 has no leader" in verdict.explanation
    assert only(two_reads([producer()])).cause is HangCause.UNKNOWN_TO_COORDINATOR


@pytest.mark.parametrize(("isr", "min_isr", "is_said"), [((1,), "2", True), ((1, 2), "2", False), ((1,), "1", False)])
def test_a_coordinator_that_cannot_write_is_why_a_timeout_passes(
    isr: tuple[int, ...], min_isr: str, is_said: bool
) -> None:
    log = state_topic()
    log = replace(
        log,
        partitions=(replace(log.partitions[0], replicas=(1, 2), isr=isr),),
        settings=(Setting("min.insync.replicas", min_isr, SettingSource.DEFAULT, "DescribeConfigs"),),
    )
    said = "cannot write the abort to __transaction_state-0: 1 of 2 replicas in sync, min.insync.replicas=2"
    overdue = transaction(timeout_ms=1_000, start_time_ms=NOW_MS - 2 * MINUTE_MS)
    verdict = only(two_reads([producer()], [overdue], topics=(snapshot().topics[0], log)))
    assert verdict.cause is HangCause.COORDINATOR_NOT_EXPIRING
    assert (said in verdict.explanation) is is_said
    within = replace(overdue, timeout_ms=10 * MINUTE_MS)
    verdict = only(two_reads([producer()], [within], topics=(snapshot().topics[0], log)))
    assert (said in verdict.explanation, "aborts it by itself" in verdict.explanation) == (is_said, not is_said)
    assert (verdict.coordinator_acts_at_ms is None) is is_said
