"""Every cause with its near-miss: one fact differs, and the verdict changes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangCause, HangStatus
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Confidence
from tests.analysis.scenes import (
    AUTHORIZER,
    EVERYTHING,
    KAFKA_4_3,
    NOW_MS,
    ORDERS_0,
    ORDERS_1,
    broker,
    entry,
    gap,
    look,
    only,
    partition,
    producer,
    snapshot,
    state_topic,
    transaction,
    two_reads,
)


def test_unknown_producer_id_hangs() -> None:
    verdict = only(two_reads([producer()]))
    assert (verdict.status, verdict.cause) == (HangStatus.HANGING, HangCause.UNKNOWN_TO_COORDINATOR)
    assert verdict.can_abort
    assert verdict.confidence is Confidence.CERTAIN
    assert verdict.transaction.transactional_id is None


def test_another_ids_transaction_does_not_own_it() -> None:
    other = transaction(transactional_id="other", producer_id=8)
    assert only(two_reads([producer()], [other])).cause is HangCause.UNKNOWN_TO_COORDINATOR


@pytest.mark.parametrize("state", ["Empty", "CompleteCommit", "CompleteAbort", "Dead"])
def test_ended_transaction_without_the_partition_hangs(state: str) -> None:
    verdict = only(two_reads([producer()], [transaction(state)]))
    assert (verdict.status, verdict.cause) == (HangStatus.HANGING, HangCause.PARTITION_NOT_IN_TRANSACTION)
    assert verdict.transaction.transactional_id == "app"


def test_other_partitions_are_not_aborted_under_a_live_producer() -> None:
    verdict = only(two_reads([producer()], [transaction(partitions=(ORDERS_1,))]))
    assert (verdict.status, verdict.cause) == (HangStatus.HANGING, HangCause.PARTITION_NOT_IN_TRANSACTION)
    assert not verdict.can_abort
    assert "tear that transaction apart" in verdict.abort_refusal


def test_partition_in_the_set_is_open_and_well() -> None:
    verdict = only(two_reads([producer()], [transaction()]))
    assert (verdict.status, verdict.cause) == (HangStatus.OPEN, HangCause.WITHIN_TIMEOUT)
    assert not verdict.can_abort
    assert verdict.coordinator_acts_at_ms == NOW_MS - 5_000 + 60_000 + 10_000


def test_later_epoch_at_the_coordinator_hangs_and_may_be_aborted() -> None:
    verdict = only(two_reads([producer(epoch=0)], [transaction(producer_epoch=2)]))
    assert (verdict.status, verdict.cause) == (HangStatus.HANGING, HangCause.COORDINATOR_AT_HIGHER_EPOCH)
    assert verdict.can_abort
    assert "fenced" in verdict.explanation


def test_earlier_epoch_at_the_coordinator_is_undecided() -> None:
    verdict = only(two_reads([producer(epoch=3)], [transaction(producer_epoch=2)]))
    assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)


@pytest.mark.parametrize("state", ["PrepareCommit", "PrepareAbort"])
def test_prepared_with_the_partition_waits_for_its_marker(state: str) -> None:
    verdict = only(two_reads([producer()], [transaction(state, producer_epoch=1)]))
    assert (verdict.status, verdict.cause) == (HangStatus.OPEN, HangCause.IN_FLIGHT)


def test_prepared_for_long_is_stalled_and_never_aborted() -> None:
    prepared = transaction("PrepareCommit")
    cluster = snapshot(
        look([producer()], [prepared], at_ms=NOW_MS - 30_000), look([producer()], [prepared], at_ms=NOW_MS)
    )
    verdict = only(cluster)
    assert (verdict.status, verdict.cause) == (HangStatus.STALLED, HangCause.MARKERS_UNDELIVERED)
    assert not verdict.can_abort
    assert "orders-0 (leader 1)" in verdict.explanation


def test_another_transaction_in_the_second_pass_is_not_stalled() -> None:
    first, second = transaction("PrepareCommit"), transaction("PrepareCommit", start_time_ms=NOW_MS - 100)
    cluster = snapshot(look([producer()], [first], at_ms=NOW_MS - 30_000), look([producer()], [second], at_ms=NOW_MS))
    assert only(cluster).status is HangStatus.OPEN


def test_old_prepare_record_is_stalled_in_the_first_reading() -> None:
    prepared = transaction("PrepareAbort", start_time_ms=NOW_MS - 600_000)
    cluster = snapshot(look([producer()], [prepared]), transaction_history=(entry("PrepareAbort", 4),))
    assert only(cluster).status is HangStatus.STALLED


def test_prepared_without_the_partition_hangs_and_is_not_touched() -> None:
    verdict = only(two_reads([producer()], [transaction("PrepareCommit", partitions=(ORDERS_1,))]))
    assert verdict.status is HangStatus.HANGING
    assert not verdict.can_abort
    assert "decided" in verdict.abort_refusal


def test_ongoing_past_timeout_and_scan_is_late() -> None:
    started = NOW_MS - 60_000 - 10_000 - 60_000
    verdict = only(two_reads([producer()], [transaction(start_time_ms=started)]))
    assert (verdict.status, verdict.cause) == (HangStatus.LATE, HangCause.COORDINATOR_NOT_EXPIRING)
    assert not verdict.can_abort


def test_a_timeout_within_the_scan_interval_is_not_late() -> None:
    verdict = only(two_reads([producer()], [transaction(start_time_ms=NOW_MS - 65_000)]))
    assert verdict.status is HangStatus.OPEN


def test_brokers_with_a_slower_scan_are_given_the_time() -> None:
    slow = broker(settings=(replace(AUTHORIZER, name="transaction.abort.timed.out.transaction.cleanup.interval.ms",
                                    value="600000"),))  # fmt: skip
    started = NOW_MS - 60_000 - 10_000 - 60_000
    verdict = only(two_reads([producer()], [transaction(start_time_ms=started)], brokers=(slow,)))
    assert verdict.status is not HangStatus.LATE


def test_old_within_a_raised_timeout_is_long_running() -> None:
    verdict = only(two_reads([producer()], [transaction(timeout_ms=900_000, start_time_ms=NOW_MS - 300_000)]))
    assert (verdict.status, verdict.cause) == (HangStatus.LONG_RUNNING, HangCause.WITHIN_TIMEOUT)
    assert verdict.transaction.age_ms == 300_540


def test_two_phase_commit_has_no_timeout() -> None:
    verdict = only(two_reads([producer()], [transaction(timeout_ms=2_147_483_647, start_time_ms=NOW_MS - 9_000_000)]))
    assert (verdict.status, verdict.cause) == (HangStatus.LONG_RUNNING, HangCause.PREPARED_TWO_PHASE)


def test_client_timestamps_decide_nothing() -> None:
    for timestamp in (0, NOW_MS - 10**10, NOW_MS + 10**10):
        well = only(two_reads([producer(last_timestamp_ms=timestamp)], [transaction()]))
        stray = only(two_reads([producer(last_timestamp_ms=timestamp)]))
        assert (well.status, stray.status) == (HangStatus.OPEN, HangStatus.HANGING)


class TestRaces:
    """What a transaction in motion looks like must not be called hanging."""

    def test_one_reading_cannot_see_an_end_in_between(self) -> None:
        verdict = only(snapshot(look([producer()], [transaction("CompleteCommit")])))
        assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)

    def test_one_reading_and_an_unknown_id(self) -> None:
        assert only(snapshot(look([producer()]))).status is HangStatus.UNDECIDED

    def test_one_reading_is_enough_if_the_log_has_the_end(self) -> None:
        ended = transaction("CompleteAbort", start_time_ms=NOW_MS - 600_000)
        cluster = snapshot(look([producer()], [ended]), transaction_history=(entry("CompleteAbort", 5),))
        assert only(cluster).status is HangStatus.HANGING

    def test_one_reading_and_a_log_that_is_too_fresh(self) -> None:
        ended = transaction("CompleteAbort", start_time_ms=NOW_MS - 600_000)
        record = entry("CompleteAbort", 5, written_at_ms=NOW_MS - 10)
        assert only(snapshot(look([producer()], [ended]), transaction_history=(record,))).status is HangStatus.UNDECIDED

    def test_one_reading_and_a_log_of_an_earlier_transaction(self) -> None:
        ended = transaction("CompleteAbort", start_time_ms=NOW_MS - 40)
        cluster = snapshot(look([producer()], [ended]), transaction_history=(entry("CompleteAbort", 5),))
        assert only(cluster).status is HangStatus.UNDECIDED

    def test_first_offset_moved_between_looks(self) -> None:
        done = [transaction("CompleteCommit")]
        verdict = only(snapshot(look([producer(since=40)], done), look([producer(since=90)], done, at_ms=NOW_MS + 500)))
        assert (verdict.status, verdict.cause) == (HangStatus.OPEN, HangCause.IN_FLIGHT)

    def test_epoch_moved_between_looks(self) -> None:
        done = [transaction("CompleteCommit", producer_epoch=5)]
        cluster = snapshot(look([producer(epoch=4)], done), look([producer(epoch=5)], done, at_ms=NOW_MS + 500))
        assert only(cluster).cause is HangCause.IN_FLIGHT

    def test_seen_in_the_second_reading_only(self) -> None:
        cluster = snapshot(look([producer(since=None)]), look([producer()], at_ms=NOW_MS + 500))
        assert only(cluster).cause is HangCause.IN_FLIGHT

    def test_leader_silent_in_the_first_reading(self) -> None:
        cluster = snapshot(look(None), look([producer()], at_ms=NOW_MS + 500))
        assert only(cluster).status is HangStatus.UNDECIDED

    def test_ended_during_the_second_reading(self) -> None:
        cluster = snapshot(
            look([producer()], [transaction()]),
            look([producer()], [transaction("CompleteCommit")], at_ms=NOW_MS + 500),
        )
        assert only(cluster).cause is HangCause.IN_FLIGHT

    def test_producer_id_rotated_during_the_second_reading(self) -> None:
        rotated = transaction("CompleteCommit", producer_id=1000)
        cluster = snapshot(
            look([producer(epoch=32_766)], [transaction("PrepareCommit", producer_epoch=32_767)]),
            look([producer(epoch=32_766)], [rotated], at_ms=NOW_MS + 500),
        )
        assert only(cluster).cause is HangCause.IN_FLIGHT

    def test_adopted_by_a_new_transaction_of_the_same_id(self) -> None:
        cluster = snapshot(
            look([producer()], [transaction("CompleteCommit")]),
            look([producer()], [transaction(start_time_ms=NOW_MS + 100)], at_ms=NOW_MS + 500),
        )
        assert only(cluster).status is HangStatus.OPEN

    def test_replica_that_does_not_lead_is_not_believed(self) -> None:
        cluster = snapshot(look([producer()], broker_id=2), look([producer()], broker_id=2, at_ms=NOW_MS + 500))
        verdict = only(cluster)
        assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)
        assert "broker 1 leads" in verdict.explanation


class TestMissingEvidence:
    """A transaction is never hanging on partial evidence."""

    def test_silent_coordinator(self) -> None:
        cluster = two_reads([producer()], gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 1"),))
        verdict = only(cluster)
        assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)
        assert "broker 1: NOT_COORDINATOR" in verdict.explanation

    def test_silent_broker_that_coordinates_nothing(self) -> None:
        cluster = two_reads([producer()], gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 2"),))
        assert only(cluster).status is HangStatus.HANGING

    def test_silent_broker_with_an_unknown_coordinator(self) -> None:
        cluster = two_reads([producer()], gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 2"),), topics=())
        assert only(cluster).status is HangStatus.UNDECIDED

    def test_state_partition_without_leader(self) -> None:
        topics = (two_reads([]).topics[0], state_topic([1, None]))
        assert only(two_reads([producer()], topics=topics)).status is HangStatus.UNDECIDED

    def test_transactions_never_asked_for(self) -> None:
        cluster = two_reads([producer()], collected=EVERYTHING - {EvidenceKind.TRANSACTIONS})
        assert only(cluster).status is HangStatus.UNDECIDED

    def test_id_listed_but_not_described(self) -> None:
        assert only(two_reads([producer()], [transaction(described=False)])).status is HangStatus.UNDECIDED

    def test_idle_id_need_not_be_described(self) -> None:
        idle = transaction("CompleteAbort", described=False)
        assert only(two_reads([producer()], [idle])).status is HangStatus.HANGING

    def test_state_of_a_newer_release(self) -> None:
        assert only(two_reads([producer()], [transaction("Suspended")])).status is HangStatus.UNDECIDED

    def test_a_known_id_is_judged_if_another_coordinator_is_silent(self) -> None:
        cluster = two_reads(
            [producer()],
            [transaction("CompleteAbort")],
            gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 2"),),
            topics=(two_reads([]).topics[0], state_topic([1, 2])),
        )
        assert only(cluster).status is HangStatus.HANGING


class TestSkippedMarkers:
    """KAFKA-20734: a committed transaction may hang, and an abort would destroy it."""

    COMMITTED = (
        entry("Empty", 0),
        entry("Ongoing", 1, client_transaction_version=2),
        entry("PrepareCommit", 2, epoch=1, client_transaction_version=2),
        entry("CompleteCommit", 3, epoch=1, client_transaction_version=2),
    )

    def cluster(self, history: object, **info: object) -> ClusterSnapshot:
        base = two_reads([producer()], [transaction("CompleteCommit", producer_epoch=1)])
        orders = replace(base.topics[0], partitions=(partition(ORDERS_0, leader_epoch=4, **info),))
        return replace(
            base,
            brokers=(broker(api_ranges=KAFKA_4_3),),
            topics=(orders, state_topic()),
            transaction_history=history,  # type: ignore[arg-type]
        )

    def test_committed_under_tv2_needs_a_commit_marker(self) -> None:
        verdict = only(self.cluster(self.COMMITTED))
        assert verdict.status is HangStatus.HANGING
        assert not verdict.can_abort
        assert "COMMIT marker" in verdict.abort_refusal

    def test_committed_under_tv1_is_refused_in_doubt(self) -> None:
        history = tuple(replace(e, client_transaction_version=0, producer_epoch=0) for e in self.COMMITTED)
        verdict = only(self.cluster(history))
        assert not verdict.can_abort
        assert verdict.outcome_unknown
        assert "was not searched" in verdict.abort_refusal

    def test_aborted_may_be_aborted(self) -> None:
        history = tuple(replace(e, state=e.state.replace("Commit", "Abort")) for e in self.COMMITTED)
        assert only(self.cluster(history)).can_abort

    def test_unreadable_log_is_refused(self) -> None:
        assert not only(self.cluster(())).can_abort

    def test_log_compacted_to_its_last_record_counts_by_its_outcome(self) -> None:
        assert not only(self.cluster(self.COMMITTED[-1:])).can_abort
        aborted = replace(self.COMMITTED[-1], state="CompleteAbort")
        assert only(self.cluster((aborted,))).can_abort

    def test_the_present_leader_epoch_cannot_have_missed_a_marker(self) -> None:
        assert only(self.cluster(self.COMMITTED, leader_epoch_start_offset=40)).can_abort
        assert not only(self.cluster(self.COMMITTED, leader_epoch_start_offset=41)).can_abort

    def test_releases_before_4_do_not_skip_markers_but_may_lose_them(self) -> None:
        compacted = replace(self.cluster(()), brokers=(broker(),))
        assert only(compacted).can_abort
        unclean = replace(self.cluster(self.COMMITTED), brokers=(broker(),))
        assert only(unclean).can_complete

    def test_id_that_never_had_a_transaction(self) -> None:
        assert only(self.cluster((entry("Empty", 0),))).can_abort


def test_duplicate_producer_ids_count_as_alive_when_either_is() -> None:
    dead = transaction("CompleteAbort", transactional_id="aaa")
    alive = transaction(transactional_id="bbb")
    verdict = only(two_reads([producer()], [dead, alive]))
    assert (verdict.status, verdict.transaction.transactional_id) == (HangStatus.OPEN, "bbb")


def test_nothing_open_nothing_to_judge() -> None:
    assert classify_open_transactions(two_reads([producer(since=None)])) == ()
    assert classify_open_transactions(snapshot()) == ()


def test_verdicts_come_by_partition_and_offset() -> None:
    first = look([producer(9, since=70), producer(8, since=50)])
    offsets = [v.transaction.first_offset for v in classify_open_transactions(snapshot(first))]
    assert offsets == [50, 70]
