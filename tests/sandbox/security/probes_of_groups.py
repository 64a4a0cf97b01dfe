"""Requests about groups and transactions."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    describe_transactions,
    end_txn,
    heartbeat,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_transactions,
    offset_commit,
    offset_delete,
    offset_fetch,
    streams_group_describe,
    streams_group_heartbeat,
    sync_group,
    txn_offset_commit,
    write_txn_markers,
)
from tests.sandbox.security.probe import GROUP, TOPICS, TRANSACTIONAL_ID, Probe


def group_probes() -> Iterator[Probe]:
    """Ask about groups and offsets."""
    both = TOPICS
    yield Probe(
        "join",
        ApiKey.JOIN_GROUP,
        5,
        join_group.JoinGroupRequest(
            GROUP, 10_000, 10_000, "nobody", None, "consumer", [join_group.JoinGroupRequestProtocol("range", b"")]
        ),
    )
    yield Probe("sync", ApiKey.SYNC_GROUP, 3, sync_group.SyncGroupRequest(GROUP, 1, "nobody"))
    yield Probe("heartbeat", ApiKey.HEARTBEAT, 3, heartbeat.HeartbeatRequest(GROUP, 1, "nobody"))
    yield Probe(
        "leave",
        ApiKey.LEAVE_GROUP,
        3,
        leave_group.LeaveGroupRequest(GROUP, members=[leave_group.MemberIdentity("nobody")]),
    )
    yield Probe(
        "consumer heartbeat",
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        0,
        consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            GROUP, "nobody", 7, rebalance_timeout_ms=1000, subscribed_topic_names=["orders"]
        ),
    )
    yield Probe(
        "describe groups", ApiKey.DESCRIBE_GROUPS, 5, describe_groups.DescribeGroupsRequest([GROUP, "other"], True)
    )
    yield Probe(
        "describe consumer groups",
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        0,
        consumer_group_describe.ConsumerGroupDescribeRequest([GROUP, "other"], True),
    )
    topology = streams_group_heartbeat.Topology(
        1, [streams_group_heartbeat.Subtopology("0", ["orders"], repartition_sink_topics=[TOPICS[-1]])]
    )
    yield Probe(
        "streams heartbeat",
        ApiKey.STREAMS_GROUP_HEARTBEAT,
        0,
        streams_group_heartbeat.StreamsGroupHeartbeatRequest(GROUP, "nobody", 7, topology=topology),
    )
    yield Probe(
        "describe streams groups",
        ApiKey.STREAMS_GROUP_DESCRIBE,
        0,
        streams_group_describe.StreamsGroupDescribeRequest([GROUP, "other"], True),
    )
    yield Probe("list groups", ApiKey.LIST_GROUPS, 4, list_groups.ListGroupsRequest())
    yield Probe("delete groups", ApiKey.DELETE_GROUPS, 2, delete_groups.DeleteGroupsRequest(["app-ghost", "ghost"]))
    yield Probe(
        "delete offsets",
        ApiKey.OFFSET_DELETE,
        0,
        offset_delete.OffsetDeleteRequest(
            "app-ghost",
            [offset_delete.OffsetDeleteRequestTopic(t, [offset_delete.OffsetDeleteRequestPartition(0)]) for t in both],
        ),
    )
    yield Probe(
        "commit offsets",
        ApiKey.OFFSET_COMMIT,
        8,
        offset_commit.OffsetCommitRequest(
            GROUP,
            topics=[
                offset_commit.OffsetCommitRequestTopic(t, partitions=[offset_commit.OffsetCommitRequestPartition(0, 0)])
                for t in (*both, "ghost")
            ],
        ),
    )
    yield Probe(
        "fetch offsets",
        ApiKey.OFFSET_FETCH,
        8,
        offset_fetch.OffsetFetchRequest(
            groups=[
                offset_fetch.OffsetFetchRequestGroup(
                    g, topics=[offset_fetch.OffsetFetchRequestTopics(t, partition_indexes=[0]) for t in both]
                )
                for g in (GROUP, "other")
            ]
        ),
    )
    yield Probe("fetch all offsets", ApiKey.OFFSET_FETCH, 7, offset_fetch.OffsetFetchRequest(GROUP, None))


def transaction_probes() -> Iterator[Probe]:
    """Ask about transactions."""
    both = TOPICS
    yield Probe("begin", ApiKey.INIT_PRODUCER_ID, 4, init_producer_id.InitProducerIdRequest("app-1", -5))
    yield Probe("become idempotent", ApiKey.INIT_PRODUCER_ID, 4, init_producer_id.InitProducerIdRequest(None, 1000))
    yield Probe(
        "add partitions",
        ApiKey.ADD_PARTITIONS_TO_TXN,
        3,
        add_partitions_to_txn.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=TRANSACTIONAL_ID,
            v3_and_below_producer_id=77,
            v3_and_below_topics=[add_partitions_to_txn.AddPartitionsToTxnTopic(t, [0]) for t in (*both, "ghost")],
        ),
    )
    yield Probe(
        "add partitions as a broker",
        ApiKey.ADD_PARTITIONS_TO_TXN,
        4,
        add_partitions_to_txn.AddPartitionsToTxnRequest(
            transactions=[
                add_partitions_to_txn.AddPartitionsToTxnTransaction(
                    TRANSACTIONAL_ID, 77, 0, True, [add_partitions_to_txn.AddPartitionsToTxnTopic("orders", [0])]
                )
            ]
        ),
    )
    yield Probe(
        "add offsets",
        ApiKey.ADD_OFFSETS_TO_TXN,
        3,
        add_offsets_to_txn.AddOffsetsToTxnRequest(TRANSACTIONAL_ID, 77, 0, GROUP),
    )
    yield Probe("end", ApiKey.END_TXN, 3, end_txn.EndTxnRequest(TRANSACTIONAL_ID, 77, 0, True))
    yield Probe(
        "commit offsets in a transaction",
        ApiKey.TXN_OFFSET_COMMIT,
        3,
        txn_offset_commit.TxnOffsetCommitRequest(
            TRANSACTIONAL_ID,
            GROUP,
            77,
            0,
            topics=[
                txn_offset_commit.TxnOffsetCommitRequestTopic(
                    t, partitions=[txn_offset_commit.TxnOffsetCommitRequestPartition(7, 0)]
                )
                for t in both
            ],
        ),
    )
    yield Probe(
        "write markers",
        ApiKey.WRITE_TXN_MARKERS,
        1,
        write_txn_markers.WriteTxnMarkersRequest(
            [
                write_txn_markers.WritableTxnMarker(
                    77, 0, False, [write_txn_markers.WritableTxnMarkerTopic("ghost", [0])], 0
                )
            ]
        ),
    )
    yield Probe(
        "describe transactions",
        ApiKey.DESCRIBE_TRANSACTIONS,
        0,
        describe_transactions.DescribeTransactionsRequest([TRANSACTIONAL_ID, "ghost"]),
    )
    yield Probe("list transactions", ApiKey.LIST_TRANSACTIONS, 1, list_transactions.ListTransactionsRequest())
