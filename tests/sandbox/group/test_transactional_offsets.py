"""Offsets of transactions: pending, committed, dropped, fenced, verified, reloaded."""

from __future__ import annotations

from typing import Any

import pytest

from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import decode_header
from tests.sandbox.group.offset_requests import (
    commit,
    delete_offset,
    fetch,
    join_and_sync,
    txn_commit,
    txn_request,
)

FENCED = {"generation_id": 1, "member_id": "nobody"}


def test_offsets_of_a_transaction_appear_with_its_commit_only(broker: Any) -> None:
    commit(broker, 3)
    assert txn_commit(broker, 5) == ErrorCode.NONE
    assert fetch(broker) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert fetch(broker, require_stable=False) == (3, ErrorCode.NONE)
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (5, ErrorCode.NONE)


def test_offsets_of_an_aborted_transaction_never_appear(broker: Any) -> None:
    commit(broker, 3)
    txn_commit(broker, 5)
    broker.end_transaction("g", 9, committed=False)
    assert fetch(broker) == (3, ErrorCode.NONE)


def test_the_last_offset_of_the_transaction_wins(broker: Any) -> None:
    for offset in (5, 8, 6):
        txn_commit(broker, offset)
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (6, ErrorCode.NONE)


def test_a_newer_plain_commit_survives_an_older_transaction(broker: Any) -> None:
    txn_commit(broker, 5)
    commit(broker, 7)
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (7, ErrorCode.NONE)


def test_two_producers_pend_independently(broker: Any) -> None:
    txn_commit(broker, 5, producer_id=1)
    txn_commit(broker, 6, producer_id=2)
    broker.end_transaction("g", 1, committed=True)
    assert fetch(broker) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert fetch(broker, require_stable=False) == (5, ErrorCode.NONE)
    broker.end_transaction("g", 2, committed=False)
    assert fetch(broker) == (5, ErrorCode.NONE)


def test_a_marker_of_another_producer_changes_nothing(broker: Any) -> None:
    txn_commit(broker, 5)
    broker.end_transaction("g", 10, committed=True)
    assert fetch(broker) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)


@pytest.mark.parametrize("committed", [True, False])
def test_a_returning_coordinator_finds_ended_transactions(broker: Any, committed: bool) -> None:
    """It knew the offset as pending; the marker went to the log while another broker led the partition."""
    commit(broker, 3)
    txn_commit(broker, 5)
    partition = broker.partition_of("g")
    broker.groups.resign(partition.partition, 1)
    broker.end_transaction("g", 9, committed)
    broker.groups.become_leader(partition.partition, 2)
    broker.runtime.drain()
    assert fetch(broker) == (5 if committed else 3, ErrorCode.NONE)
    broker.end_transaction("g", 9, not committed)  # of the producer's next transaction, which did not touch the group
    assert fetch(broker) == (5 if committed else 3, ErrorCode.NONE)


def test_pending_offsets_survive_a_restart_until_the_marker(broker: Any) -> None:
    commit(broker, 3)
    txn_commit(broker, 5)
    txn_commit(broker, 8, producer_id=10, partition=1)
    broker.end_transaction("g", 10, committed=True)
    broker.restart()
    assert fetch(broker) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert fetch(broker, partition=1) == (8, ErrorCode.NONE)
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (5, ErrorCode.NONE)


def test_transactional_batches_carry_the_producer_and_sequence_0(broker: Any) -> None:
    txn_commit(broker, 5, producer_epoch=3)
    header = decode_header(broker.replicas.batches[broker.partition_of("g")][-1])
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 3, 0)
    assert header.is_transactional and not header.is_control


@pytest.mark.parametrize(("version", "adds", "knows_abortable"), [(3, False, False), (4, False, True), (5, True, True)])
def test_verification_depends_on_the_version(broker: Any, version: int, adds: bool, knows_abortable: bool) -> None:
    broker.replicas.needs_verification = True
    assert txn_commit(broker, 5, version=version) == ErrorCode.NONE
    assert broker.verification.asked == [("app", 9, 0, broker.partition_of("g"), adds, knows_abortable)]
    assert broker.replicas.guards[-1] is not None


@pytest.mark.parametrize(
    ("verified", "shown"),
    [
        (ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_an_unverified_commit_leaves_no_trace(broker: Any, verified: ErrorCode, shown: ErrorCode) -> None:
    broker.replicas.needs_verification = True
    broker.verification.error = verified
    assert txn_commit(broker, 5) == shown
    assert not broker.replicas.batches
    assert fetch(broker) == (-1, ErrorCode.NONE)


@pytest.mark.parametrize(
    ("append_error", "shown"),
    [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_append_errors_reach_the_client_as_coordinator_errors(
    broker: Any, append_error: ErrorCode, shown: ErrorCode
) -> None:
    broker.replicas.error = append_error
    assert commit(broker, 5) == shown
    assert txn_commit(broker, 5) == shown
    broker.replicas.error = ErrorCode.NONE
    assert fetch(broker) == (-1, ErrorCode.NONE)


def test_a_rejected_zombie_drops_its_successors_offset_on_3_9(broker: Any) -> None:
    txn_commit(broker, 5, producer_epoch=1)
    broker.replicas.error = ErrorCode.INVALID_PRODUCER_EPOCH
    assert txn_commit(broker, 4, producer_epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    broker.replicas.error = ErrorCode.NONE
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == ((-1 if broker.emulation.is_3_9 else 5), ErrorCode.NONE)


@pytest.mark.parametrize(
    ("fields", "on_3_9", "on_4_3"),
    [
        (FENCED, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION),
        ({"generation_id": 1}, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION),
        ({"member_id": "nobody"}, ErrorCode.NONE, ErrorCode.NONE),
        ({"group_instance_id": "one"}, ErrorCode.NONE, ErrorCode.NONE),
        ({}, ErrorCode.NONE, ErrorCode.NONE),
    ],
)
def test_who_may_commit_for_a_group_that_does_not_exist(
    broker: Any, fields: dict[str, Any], on_3_9: ErrorCode, on_4_3: ErrorCode
) -> None:
    assert txn_commit(broker, 5, **fields) == (on_3_9 if broker.emulation.is_3_9 else on_4_3)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"generation_id": 1}, ErrorCode.NONE),
        ({"generation_id": 0}, ErrorCode.ILLEGAL_GENERATION),
        ({"generation_id": 2}, ErrorCode.ILLEGAL_GENERATION),
        ({"generation_id": 1, "member_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation_id": 1, "member_id": ""}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation_id": -1, "member_id": ""}, ErrorCode.NONE),
        ({"generation_id": 1, "group_instance_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_live_group_fences_by_generation_member_and_instance(
    broker: Any, fields: dict[str, Any], error: ErrorCode
) -> None:
    member = join_and_sync(broker)
    assert txn_commit(broker, 5, **({"member_id": member} | fields)) == error


def test_a_pending_offset_can_be_deleted_too(broker: Any) -> None:
    txn_commit(broker, 5)
    assert delete_offset(broker, "g") == (0, ErrorCode.NONE)
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (-1, ErrorCode.NONE)


def test_loading_shows_as_15_below_version_2(broker: Any) -> None:
    index = broker.partition_of("g").partition
    broker.groups.resign(index, None)
    broker.groups.become_leader(index, 3)

    def code(version: int) -> int:
        return int(broker.send(version, txn_request(5))[0].topics[0].partitions[0].error_code)

    assert (code(1), code(2)) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def test_on_3_9_an_offset_deleted_while_pending_reappears(new_broker: Any) -> None:
    for release, expected in (("3.9", 5), ("4.3", -1)):
        broker = new_broker(release)
        commit(broker, 3)
        txn_commit(broker, 5)
        delete_offset(broker, "g")
        broker.restart()
        broker.end_transaction("g", 9, committed=True)
        assert fetch(broker) == (expected, ErrorCode.NONE)


@pytest.mark.parametrize(
    ("first_commits", "appended_first", "visible"),
    [
        pytest.param(True, False, -1, id="A: the task finds an offset that is not appended yet"),
        pytest.param(True, True, 9, id="B: the next transaction's offset is visible before it ends"),
        pytest.param(False, True, -1, id="C: the next transaction's offset is dropped"),
    ],
)
def test_late_materialization_is_kafka_17507(
    broker: Any, first_commits: bool, appended_first: bool, visible: int
) -> None:
    late: list[Any] = []
    broker.groups.materialize = lambda _producer_id, task: late.append(task)
    txn_commit(broker, 5)
    broker.end_transaction("g", 9, committed=first_commits)
    broker.replicas.holds = True
    sent = broker.send(3, txn_request(9))
    if appended_first:
        broker.replicas.release()
    late.pop()()
    broker.replicas.release()
    assert sent[0].topics[0].partitions[0].error_code == ErrorCode.NONE
    assert fetch(broker) == (visible, ErrorCode.NONE)
    broker.restart()
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (9, ErrorCode.NONE)
