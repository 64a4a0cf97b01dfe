"""Transactions that only their coordinator shows, next to those that a leader shows as well."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.unseen import classify_all_open
from eosctl.model.hang import HangStatus
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import ProducerState, TopicPartition, Transaction
from tests.analysis.scenes import (
    NOW_MS,
    ORDERS_0,
    ORDERS_1,
    look,
    partition,
    producer,
    snapshot,
    state_topic,
    transaction,
)

STATE_0 = TopicPartition("__transaction_state", 0)
LATE = transaction(start_time_ms=NOW_MS - 600_000)


def long_apart(producers: list[ProducerState], *found: Transaction, **fields: object) -> ClusterSnapshot:
    looks = (look(producers, found, at_ms=NOW_MS - 30_000), look(producers, found, at_ms=NOW_MS))
    return snapshot(*looks, **fields)


def places(cluster: ClusterSnapshot) -> list[tuple[TopicPartition, HangStatus]]:
    return [(one.transaction.partition, one.status) for one in classify_all_open(cluster)]


def test_a_decision_is_shown_where_its_marker_is_missing() -> None:
    prepared = transaction("PrepareCommit", partitions=(ORDERS_0, ORDERS_1))
    cluster = long_apart([], prepared)
    assert classify_open_transactions(cluster) == ()
    assert places(cluster) == [(ORDERS_0, HangStatus.STALLED), (ORDERS_1, HangStatus.STALLED)]
    (first, _) = classify_all_open(cluster)
    assert (first.transaction.first_offset, first.transaction.broker_id, first.blast_radius) == (-1, -1, None)
    assert not first.can_abort
    assert not first.can_complete


def test_without_missing_markers_it_is_shown_at_its_log() -> None:
    cluster = long_apart([], transaction("PrepareAbort", partitions=()))
    assert places(cluster) == [(STATE_0, HangStatus.STALLED)]
    (verdict,) = classify_all_open(cluster)
    assert f"its completion is not written to {STATE_0}; no marker is missing" in verdict.explanation


def test_the_reason_why_a_completion_cannot_be_written() -> None:
    limit = Setting("min.insync.replicas", "2", SettingSource.DYNAMIC_TOPIC, "DescribeConfigs")
    topic = state_topic()
    info = partition(STATE_0, replicas=(1, 2, 3), isr=(1,))
    cluster = long_apart([], transaction("PrepareAbort", partitions=()))
    topics = tuple(replace(topic, partitions=(info,), settings=(limit,)) if one.name == topic.name else one
                   for one in cluster.topics)  # fmt: skip
    (verdict,) = classify_all_open(replace(cluster, topics=topics))
    assert f"{STATE_0} (1 of 3 replicas in sync, min.insync.replicas=2)" in verdict.explanation


def test_one_that_a_leader_shows_is_not_repeated() -> None:
    cluster = long_apart([producer()], transaction("PrepareCommit", partitions=(ORDERS_0, ORDERS_1)))
    assert places(cluster) == [(ORDERS_0, HangStatus.STALLED)]
    assert classify_all_open(cluster) == classify_open_transactions(cluster)


def test_one_past_its_timeout_is_shown_without_a_leader() -> None:
    assert places(long_apart([], LATE)) == [(ORDERS_0, HangStatus.LATE)]


@pytest.mark.parametrize("other", [transaction(), transaction("Empty"), transaction("PrepareCommit")])
def test_what_its_coordinator_can_end_is_not_added(other: Transaction) -> None:
    cluster = snapshot(look([], [other], at_ms=NOW_MS - 500), look([], [other]))
    assert places(cluster) == []


def test_a_hanging_transaction_does_not_hide_the_stalled_one() -> None:
    prepared = transaction("PrepareCommit", partitions=(ORDERS_1,))
    assert places(long_apart([producer()], prepared)) == [
        (ORDERS_0, HangStatus.HANGING),
        (ORDERS_1, HangStatus.STALLED),
    ]
