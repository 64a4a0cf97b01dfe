"""Offsets through the real handlers: commits, reads, deletion, expiry, versions."""

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
from eosctl.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from eosctl.wire.messages.sync_group import SyncGroupRequest
from tests.sandbox.group.offset_requests import (
    SUBSCRIBED_TO_ORDERS,
    commit,
    delete_offset,
    fetch,
    fetch_all,
    join_and_sync,
    txn_commit,
)

DAY_MS = 24 * 3600 * 1000


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


def test_version_9_reports_a_missing_group_from_4_0_on(broker: Any) -> None:
    expected = ErrorCode.ILLEGAL_GENERATION if broker.emulation.is_3_9 else ErrorCode.GROUP_ID_NOT_FOUND
    assert commit(broker, 5, version=9, generation_id=1, member_id="m") == expected


def test_only_members_of_the_generation_commit_into_a_live_group(broker: Any) -> None:
    member = join_and_sync(broker)
    assert commit(broker, 5) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(broker, 5, generation_id=1, member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(broker, 5, generation_id=2, member_id=member) == ErrorCode.ILLEGAL_GENERATION
    assert commit(broker, 5, generation_id=1, member_id=member) == ErrorCode.NONE


def test_a_commit_between_join_and_sync_waits_for_the_rebalance(broker: Any) -> None:
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


def test_offsets_in_flight_fail_when_the_group_moves(broker: Any) -> None:
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


def test_offsets_are_deleted_unless_the_topic_is_subscribed(broker: Any) -> None:
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


def test_offsets_expire_only_once_the_group_is_empty(broker: Any) -> None:
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
