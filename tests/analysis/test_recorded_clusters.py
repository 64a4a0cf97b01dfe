"""Pathologies of real Kafka 3.9 and 4.3 brokers, as their own tools showed them."""

from __future__ import annotations

from eosctl.analysis.fencing import find_fencings
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lifetime import classify_transactions
from eosctl.model.fencing import FencingCause
from eosctl.model.hang import HangCause, HangStatus
from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Confidence
from tests.analysis.recorded import snapshot_of
from tests.analysis.scenes import only


def test_late_produce() -> None:
    verdict = only(snapshot_of("hanging-late-produce-1"))
    assert (verdict.status, verdict.cause) == (HangStatus.HANGING, HangCause.PARTITION_NOT_IN_TRANSACTION)
    assert verdict.transaction.partition == TopicPartition("payments", 1)
    assert (verdict.transaction.producer_id, verdict.transaction.first_offset) == (0, 4)
    assert verdict.transaction.transactional_id == "pay-service-7"
    assert verdict.can_abort


def test_late_produce_in_one_reading() -> None:
    # Seconds passed between the end of the transaction and the reading, but not more than clocks may differ.
    verdict = only(snapshot_of("hanging-late-produce-1", looks=1))
    assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)


def test_expired_transactional_id() -> None:
    verdict = only(snapshot_of("hanging-expired-id-1"))
    assert (verdict.status, verdict.cause) == (HangStatus.HANGING, HangCause.UNKNOWN_TO_COORDINATOR)
    assert verdict.transaction.partition == TopicPartition("stock", 1)
    assert verdict.can_abort


def test_late_offset_commit() -> None:
    verdict = only(snapshot_of("hanging-offsets-1"))
    assert verdict.status is HangStatus.HANGING
    assert verdict.transaction.partition.topic == "__consumer_offsets"
    assert verdict.blast_radius is not None
    assert verdict.blast_radius.blocks_offset_commits
    assert verdict.blast_radius.blocks_compaction


def test_a_skipped_commit_marker_is_not_aborted() -> None:
    archive = TopicPartition("archive", 0)
    cluster = snapshot_of("marker-skipped-3", moment="cli-after", release="4", leader_epochs={archive: 2})
    verdict = only(cluster)
    assert (verdict.status, verdict.transaction.partition) == (HangStatus.HANGING, archive)
    assert not verdict.can_abort
    assert "COMMIT marker" in verdict.abort_refusal
    assert "Offset 8 of __transaction_state" in verdict.abort_refusal


def test_open_with_old_client_timestamps_is_not_hanging() -> None:
    verdict = only(snapshot_of("open-not-hanging-1"))
    assert (verdict.status, verdict.cause) == (HangStatus.OPEN, HangCause.CLIENT_CLOCK_SKEWED)
    assert verdict.transaction.age_ms is not None
    assert verdict.transaction.age_ms < 10_000


def test_prepared_with_a_dead_leader_is_stalled() -> None:
    credits = TopicPartition("credits", 0)
    (verdict,) = classify_transactions(snapshot_of("stuck-prepare-commit-1", leaders={credits: None}))
    assert (verdict.status, verdict.cause) == (HangStatus.STALLED, HangCause.MARKERS_UNDELIVERED)
    assert verdict.transaction.transactional_id == "mover"
    assert "credits-0 (no leader)" in verdict.explanation
    assert verdict.prepared_since_ms == 1795253736464


def test_rotation_of_the_producer_id_leaves_nothing_open() -> None:
    cluster = snapshot_of("producer-id-rotation-1", release="4")
    assert classify_open_transactions(cluster) == ()
    assert [event for event in find_fencings(cluster) if event.cause is not FencingCause.TIMEOUT] == []


def test_writer_fenced_in_the_middle_of_its_transaction() -> None:
    (event,) = find_fencings(snapshot_of("fenced-1"))
    assert (event.transactional_id, event.cause) == ("order-app", FencingCause.NEWER_INSTANCE)
    assert event.confidence is Confidence.CERTAIN
    assert (event.producer_id, event.fenced_epoch, event.abort_epoch, event.successor_epoch) == (0, 0, 1, 2)
    assert event.partitions == (TopicPartition("orders", 0),)
    assert event.log_offsets == (4, 5, 6, 7)


def test_timeout_is_not_taken_for_a_fencing() -> None:
    (event,) = find_fencings(snapshot_of("timed-out-1"))
    assert (event.transactional_id, event.cause) == ("slow-app", FencingCause.TIMEOUT)
    assert event.log_offsets == (5, 6, 7)
