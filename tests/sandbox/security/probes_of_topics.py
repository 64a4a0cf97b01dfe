"""Requests about topics and their records."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import (
    create_partitions,
    create_topics,
    delete_records,
    delete_topics,
    describe_producers,
    describe_topic_partitions,
    fetch,
    find_coordinator,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.security.probe import GROUP, TOPICS, TRANSACTIONAL_ID, Probe

BATCH = encode_batch([Record(0, 1_790_000_000_000, None, b"v")])


def _transactional_batch() -> bytes:
    return encode_batch(
        [Record(0, 1_790_000_000_000, None, b"v")], producer_id=1, producer_epoch=0, base_sequence=0, transactional=True
    )


def topic_probes() -> Iterator[Probe]:
    """Ask about topics and their records."""
    both = TOPICS
    yield Probe(
        "produce",
        ApiKey.PRODUCE,
        9,
        produce.ProduceRequest(
            None,
            1,
            5000,
            [produce.TopicProduceData(t, partition_data=[produce.PartitionProduceData(0, BATCH)]) for t in both],
        ),
    )
    yield Probe(
        "produce in a transaction",
        ApiKey.PRODUCE,
        9,
        produce.ProduceRequest(
            TRANSACTIONAL_ID,
            1,
            5000,
            [
                produce.TopicProduceData(
                    "orders", partition_data=[produce.PartitionProduceData(7, _transactional_batch())]
                )
            ],
        ),
    )
    yield Probe(
        "fetch",
        ApiKey.FETCH,
        12,
        fetch.FetchRequest(
            topics=[fetch.FetchTopic(t, partitions=[fetch.FetchPartition(0, -1, 0, -1, -1, 1000)]) for t in both]
        ),
    )
    yield Probe(
        "fetch as a follower",
        ApiKey.FETCH,
        12,
        fetch.FetchRequest(
            replica_id=9,
            topics=[fetch.FetchTopic("payments", partitions=[fetch.FetchPartition(7, -1, 0, -1, -1, 1000)])],
        ),
    )
    yield Probe(
        "list offsets",
        ApiKey.LIST_OFFSETS,
        7,
        list_offsets.ListOffsetsRequest(
            -1, 0, [list_offsets.ListOffsetsTopic(t, [list_offsets.ListOffsetsPartition(0, -1, -1)]) for t in both]
        ),
    )
    yield Probe(
        "metadata of two",
        ApiKey.METADATA,
        9,
        metadata.MetadataRequest([metadata.MetadataRequestTopic(name=t) for t in both], False, True, True),
    )
    yield Probe("metadata of all", ApiKey.METADATA, 12, metadata.MetadataRequest(None, False, False, True))
    yield Probe(
        "metadata that creates",
        ApiKey.METADATA,
        12,
        metadata.MetadataRequest([metadata.MetadataRequestTopic(name="no/topic")], True),
    )
    yield Probe(
        "partitions of two",
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        0,
        describe_topic_partitions.DescribeTopicPartitionsRequest(
            [describe_topic_partitions.TopicRequest(t) for t in (*both, "ghost")]
        ),
    )
    yield Probe(
        "partitions of all",
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        0,
        describe_topic_partitions.DescribeTopicPartitionsRequest([]),
    )
    yield Probe(
        "leader epochs",
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        4,
        offset_for_leader_epoch.OffsetForLeaderEpochRequest(
            -1,
            [
                offset_for_leader_epoch.OffsetForLeaderTopic(
                    t, [offset_for_leader_epoch.OffsetForLeaderPartition(0, -1, 0)]
                )
                for t in both
            ],
        ),
    )
    yield Probe(
        "delete records",
        ApiKey.DELETE_RECORDS,
        2,
        delete_records.DeleteRecordsRequest(
            [delete_records.DeleteRecordsTopic(t, [delete_records.DeleteRecordsPartition(0, 0)]) for t in both], 5000
        ),
    )
    yield Probe(
        "producers",
        ApiKey.DESCRIBE_PRODUCERS,
        0,
        describe_producers.DescribeProducersRequest(
            [describe_producers.TopicRequest(t, [0]) for t in (*both, "ghost")]
        ),
    )
    yield Probe(
        "create topics",
        ApiKey.CREATE_TOPICS,
        7,
        create_topics.CreateTopicsRequest(
            [create_topics.CreatableTopic(t, 1, 1) for t in ("orders", "orders-new", "payments-new")], 5000, True
        ),
    )
    yield Probe(
        "grow topics",
        ApiKey.CREATE_PARTITIONS,
        3,
        create_partitions.CreatePartitionsRequest(
            [create_partitions.CreatePartitionsTopic(t, 1, None) for t in both], 5000, True
        ),
    )
    yield Probe(
        "delete topics",
        ApiKey.DELETE_TOPICS,
        5,
        delete_topics.DeleteTopicsRequest(["orders-ghost", "payments-ghost"], timeout_ms=5000),
    )
    yield Probe(
        "coordinator of the group",
        ApiKey.FIND_COORDINATOR,
        4,
        find_coordinator.FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP, "other"]),
    )
    yield Probe(
        "coordinator of the id",
        ApiKey.FIND_COORDINATOR,
        4,
        find_coordinator.FindCoordinatorRequest(key_type=1, coordinator_keys=[TRANSACTIONAL_ID, "other"]),
    )
    yield Probe("coordinator of one", ApiKey.FIND_COORDINATOR, 3, find_coordinator.FindCoordinatorRequest(GROUP, 0))
