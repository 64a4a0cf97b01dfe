"""Offsets through the real handlers: commits, transactions, stable reads, deletion, expiry and restarts."""

from __future__ import annotations

from typing import Any

import pytest

from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_groups import DeleteGroupsRequest
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from eosctl.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from eosctl.wire.messages.sync_group import SyncGroupRequest
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from eosctl.wire.records.batch import decode_header

DAY_MS = 24 * 3600 * 1000
SUBSCRIBED_TO_ORDERS = bytes.fromhex("000000000001") + b"\0\6orders" + bytes.fromhex("ffffffff")


def commit(broker: Any, offset: int, version: int = 7, partition: int = 0, **fields: Any) -> int:
    entry = OffsetCommitRequestPartition(
        partition, offset, committed_metadata=fields.pop("metadata", "m"), commit_timestamp=-1
    )
    topic = OffsetCommitRequestTopic(fields.pop("topic", "orders"), partitions=[entry])
    request = OffsetCommitRequest(
        fields.pop("group_id", "g"),
        fields.pop("generation_id", -1),
        fields.pop("member_id", ""),
        fields.pop("retention_time_ms", -1),
        topics=[topic],
    )
    return int(broker.ask(version, request).topics[0].partitions[0].error_code)


def txn_request(offset: int, producer_id: int = 9, partition: int = 0, **fields: Any) -> TxnOffsetCommitRequest:
    entry = TxnOffsetCommitRequestPartition(partition, offset, committed_metadata=fields.pop("metadata", ""))
    return TxnOffsetCommitRequest(
        "app",
        fields.pop("group_id", "g"),
        producer_id,
        fields.pop("producer_epoch", 0),
        fields.pop("generation_id", -1),
        fields.pop("member_id", ""),
        fields.pop("group_instance_id", None),
        [TxnOffsetCommitRequestTopic(fields.pop("topic", "orders"), [entry])],
    )


def txn_commit(broker: Any, offset: int, version: int = 3, **fields: Any) -> int:
    answer = broker.ask(version, txn_request(offset, **fields))
    return int(answer.topics[0].partitions[0].error_code)


def fetch(broker: Any, require_stable: bool = True, partition: int = 0) -> tuple[int, int]:
    topics = [OffsetFetchRequestTopic("orders", [partition])]
    answer = broker.ask(7, OffsetFetchRequest("g", topics, require_stable=require_stable))
    found = answer.topics[0].partitions[0]
    return found.committed_offset, found.error_code


def fetch_all(broker: Any, group_id: str = "g") -> dict[tuple[str, int], int]:
    answer = broker.ask(5, OffsetFetchRequest(group_id, None))
    return {
        (topic.name, entry.partition_index): entry.committed_offset
        for topic in answer.topics
        for entry in topic.partitions
    }


def join_and_sync(broker: Any, metadata: bytes = SUBSCRIBED_TO_ORDERS) -> str:
    protocols = [JoinGroupRequestProtocol("range", metadata)]
    joined = broker.ask(3, JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols))
    broker.ask(3, SyncGroupRequest("g", joined.generation_id, joined.member_id))
    return str(joined.member_id)


def test_a_simple_group_commits_and_reads(broker: Any) -> None:
    assert commit(broker, 5) == ErrorCode.NONE
    assert commit(broker, -5, partition=1) == ErrorCode.NONE
    assert fetch(broker) == (5, ErrorCode.NONE)
    assert fetch_all(broker) == {("orders", 0): 5, ("orders", 1): -5}
    assert fetch_all(broker, "missing") == {}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"topic": "missing"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"partition": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"metadata": "m" * 4097}, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ({"generation_id": 1, "member_id": "nobody", "group_id": "missing"}, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_bad_commits_are_refused_one_by_one(broker: Any, fields: dict[str, Any], error: ErrorCode) -> None:
    assert commit(broker, 5, **fields) == error


def test_version_9_says_that_the_group_does_not_exist_from_4_0_on(broker: Any) -> None:
    expected = ErrorCode.ILLEGAL_GENERATION if broker.emulation.is_3_9 else ErrorCode.GROUP_ID_NOT_FOUND
    assert commit(broker, 5, version=9, generation_id=1, member_id="m") == expected


def test_only_members_of_the_generation_commit_into_a_live_group(broker: Any) -> None:
    member = join_and_sync(broker)
    assert commit(broker, 5) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(broker, 5, generation_id=1, member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(broker, 5, generation_id=2, member_id=member) == ErrorCode.ILLEGAL_GENERATION
    assert commit(broker, 5, generation_id=1, member_id=member) == ErrorCode.NONE


def test_a_commit_between_join_and_sync_must_wait_for_the_rebalance(broker: Any) -> None:
    protocols = [JoinGroupRequestProtocol("range", SUBSCRIBED_TO_ORDERS)]
    joined = broker.ask(3, JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols))
    assert commit(broker, 5, generation_id=1, member_id=joined.member_id) == ErrorCode.REBALANCE_IN_PROGRESS
    fenced = {"generation_id": 1, "member_id": joined.member_id}
    assert txn_commit(broker, 5, **fenced) == ErrorCode.NONE


def test_a_commit_keeps_the_session_alive(broker: Any) -> None:
    member = join_and_sync(broker)
    for _ in range(4):
        broker.runtime.advance(6000)
        assert commit(broker, 5, generation_id=1, member_id=member) == ErrorCode.NONE


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


def test_a_newer_plain_commit_outlives_the_commit_of_an_older_transaction(broker: Any) -> None:
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


def test_a_refused_zombie_takes_its_successors_offset_along_on_3_9_only(broker: Any) -> None:
    txn_commit(broker, 5, producer_epoch=1)
    broker.replicas.error = ErrorCode.INVALID_PRODUCER_EPOCH
    assert txn_commit(broker, 4, producer_epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    broker.replicas.error = ErrorCode.NONE
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == ((-1 if broker.emulation.is_3_9 else 5), ErrorCode.NONE)


FENCED = {"generation_id": 1, "member_id": "nobody"}


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


def test_a_stable_read_waits_for_commits_that_are_being_written(broker: Any) -> None:
    broker.replicas.holds = True
    sent = broker.send(7, _plain_commit(5))
    topics = [OffsetFetchRequestTopic("orders", [0])]
    unstable = broker.send(7, OffsetFetchRequest("g", topics))
    stable = broker.send(7, OffsetFetchRequest("g", topics, require_stable=True))
    assert unstable[0].topics[0].partitions[0].committed_offset == -1
    assert not sent and not stable
    broker.replicas.release()
    assert sent and stable[0].topics[0].partitions[0].committed_offset == 5


def _plain_commit(offset: int) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        "g", topics=[OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, offset)])]
    )


def test_offsets_in_flight_end_as_not_coordinator_when_the_group_moves(broker: Any) -> None:
    broker.replicas.holds = True
    sent = broker.send(7, _plain_commit(5))
    broker.groups.resign(broker.partition_of("g").partition, None)
    broker.replicas.release()
    assert sent[0].topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


def test_version_8_reads_several_groups(broker: Any) -> None:
    commit(broker, 5)
    groups = [
        OffsetFetchRequestGroup("g", topics=None),
        OffsetFetchRequestGroup("missing", topics=[OffsetFetchRequestTopics("orders", partition_indexes=[0])]),
    ]
    answer = broker.ask(8, OffsetFetchRequest(groups=groups, require_stable=True))
    found = {group.group_id: group.topics[0].partitions[0].committed_offset for group in answer.groups}
    assert found == {"g": 5, "missing": -1}


def test_version_10_names_topics_by_id(new_broker: Any) -> None:
    broker = new_broker("4.3")
    topic_id = broker.metadata.topic_id("orders")
    unknown = b"\7" * 16

    def entry(offset: int) -> list[OffsetCommitRequestPartition]:
        return [OffsetCommitRequestPartition(0, offset)]

    topics = [
        OffsetCommitRequestTopic("", topic_id, partitions=entry(5)),
        OffsetCommitRequestTopic("", unknown, partitions=entry(6)),
    ]
    answer = broker.ask(10, OffsetCommitRequest("g", topics=topics))
    codes = {topic.topic_id: topic.partitions[0].error_code for topic in answer.topics}
    assert codes == {topic_id: ErrorCode.NONE, unknown: ErrorCode.UNKNOWN_TOPIC_ID}
    wanted = [OffsetFetchRequestTopics("", topic, [0]) for topic in (topic_id, unknown)]
    found = broker.ask(10, OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=wanted)])).groups[0]
    read = {topic.topic_id: topic.partitions[0] for topic in found.topics}
    assert read[topic_id].committed_offset == 5
    assert (read[unknown].committed_offset, read[unknown].error_code) == (-1, ErrorCode.UNKNOWN_TOPIC_ID)


def delete_offset(broker: Any, group_id: str, topic: str = "orders", partition: int = 0) -> tuple[int, int | None]:
    topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])]
    answer = broker.ask(0, OffsetDeleteRequest(group_id, topics))
    return answer.error_code, answer.topics[0].partitions[0].error_code if answer.topics else None


def test_offsets_are_deleted_unless_a_member_subscribes_to_the_topic(broker: Any) -> None:
    commit(broker, 5)
    commit(broker, 6, topic="payments")
    assert delete_offset(broker, "g", partition=7) == (0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert delete_offset(broker, "missing") == (ErrorCode.GROUP_ID_NOT_FOUND, None)
    join_and_sync(broker)
    assert delete_offset(broker, "g") == (0, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
    assert delete_offset(broker, "g", "payments") == (0, ErrorCode.NONE)
    assert fetch_all(broker) == {("orders", 0): 5}
    broker.restart()
    assert fetch_all(broker) == {("orders", 0): 5}


def test_a_pending_offset_can_be_deleted_too(broker: Any) -> None:
    txn_commit(broker, 5)
    assert delete_offset(broker, "g") == (0, ErrorCode.NONE)
    broker.end_transaction("g", 9, committed=True)
    assert fetch(broker) == (-1, ErrorCode.NONE)


def delete_groups(broker: Any, *names: str) -> dict[str, int]:
    answer = broker.ask(2, DeleteGroupsRequest(list(names)))
    return {result.group_id: result.error_code for result in answer.results}


def test_only_empty_groups_are_deleted(broker: Any) -> None:
    commit(broker, 5)
    join_and_sync(broker)
    assert delete_groups(broker, "g", "missing", "") == {
        "g": ErrorCode.NON_EMPTY_GROUP,
        "missing": ErrorCode.GROUP_ID_NOT_FOUND,
        "": ErrorCode.GROUP_ID_NOT_FOUND,
    }
    broker.runtime.advance(10_001)
    assert delete_groups(broker, "g") == {"g": ErrorCode.NONE}
    assert fetch_all(broker) == {}
    broker.restart()
    assert fetch_all(broker) == {}
    assert delete_groups(broker, "g") == {"g": ErrorCode.GROUP_ID_NOT_FOUND}


def test_offsets_of_a_simple_group_expire_with_their_commit(broker: Any) -> None:
    commit(broker, 5)
    broker.runtime.advance(3 * DAY_MS)
    commit(broker, 6, partition=1)
    broker.runtime.advance(4 * DAY_MS + 600_000)
    assert fetch_all(broker) == {("orders", 1): 6}
    broker.runtime.advance(3 * DAY_MS)
    assert delete_groups(broker, "g") == {"g": ErrorCode.GROUP_ID_NOT_FOUND}


def test_offsets_of_a_group_with_members_stay_and_expire_once_it_is_empty(broker: Any) -> None:
    broker.config.values["group.max.session.timeout.ms"] = 20 * DAY_MS
    protocols = [JoinGroupRequestProtocol("range", SUBSCRIBED_TO_ORDERS)]
    joined = broker.ask(3, JoinGroupRequest("g", 10 * DAY_MS, 10_000, "", None, "consumer", protocols))
    broker.ask(3, SyncGroupRequest("g", 1, joined.member_id))
    commit(broker, 5, generation_id=1, member_id=joined.member_id)
    commit(broker, 5, generation_id=1, member_id=joined.member_id, topic="payments")
    broker.runtime.advance(9 * DAY_MS)
    assert fetch_all(broker) == {("orders", 0): 5}
    broker.runtime.advance(7 * DAY_MS)
    assert fetch_all(broker) == {("orders", 0): 5}
    broker.runtime.advance(2 * DAY_MS)
    assert fetch_all(broker) == {}


def test_a_pending_offset_keeps_the_committed_one_from_expiring(broker: Any) -> None:
    commit(broker, 5)
    txn_commit(broker, 6)
    broker.runtime.advance(8 * DAY_MS)
    assert fetch(broker, require_stable=False) == (5, ErrorCode.NONE)


def test_a_commit_may_choose_its_own_retention(broker: Any) -> None:
    commit(broker, 5, version=4, retention_time_ms=3_600_000)
    broker.restart()
    broker.runtime.advance(3_000_000)
    assert fetch_all(broker) == {("orders", 0): 5}
    broker.runtime.advance(2_000_000)
    assert fetch_all(broker) == {}


def test_offsets_of_deleted_partitions_go_everywhere(broker: Any) -> None:
    commit(broker, 5)
    commit(broker, 6, topic="payments")
    commit(broker, 7, group_id="other")
    broker.groups.partitions_deleted([broker.partition_of("g")._replace(topic="orders", partition=0)])
    assert fetch_all(broker) == {("payments", 0): 6}
    assert fetch_all(broker, "other") == {}


def test_a_broker_that_does_not_lead_the_partition_says_so(broker: Any) -> None:
    broker.groups.resign(broker.partition_of("g").partition, None)
    assert commit(broker, 5) == ErrorCode.NOT_COORDINATOR
    assert txn_commit(broker, 5) == ErrorCode.NOT_COORDINATOR
    assert broker.ask(7, OffsetFetchRequest("g", None)).error_code == ErrorCode.NOT_COORDINATOR
    oldest = broker.ask(1, OffsetFetchRequest("g", [OffsetFetchRequestTopic("orders", [0])]))
    assert oldest.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    assert delete_groups(broker, "g") == {"g": ErrorCode.NOT_COORDINATOR}


def test_loading_shows_as_15_below_version_2(broker: Any) -> None:
    index = broker.partition_of("g").partition
    broker.groups.resign(index, None)
    broker.groups.become_leader(index, 3)

    def code(version: int) -> int:
        return int(broker.send(version, txn_request(5))[0].topics[0].partitions[0].error_code)

    assert (code(1), code(2)) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
