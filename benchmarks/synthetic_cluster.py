"""A cluster of any size that only answers: what a large one has follows from numbers, over the real wire.

Nothing is stored but names: producers, offsets, groups, and transactions are computed when they are asked for. Some
partitions hang: their leader shows a producer as open whose coordinator has completed its transaction without them.
Others are open as under ordinary load. Settings of brokers and topics are those of an embedded broker.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.synthetic_log import data_batch, transaction_log
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.generated.index import APIS
from eosctl.wire.internal.consumer_protocol import ConsumerProtocolAssignment, encode_assignment
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages import (
    api_versions,
    consumer_group_describe,
    describe_acls,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_quorum,
    describe_transactions,
    fetch,
    list_groups,
    list_offsets,
    list_transactions,
    metadata,
    offset_fetch,
    offset_for_leader_epoch,
)
from eosctl.wire.messages.describe_client_quotas import DescribeClientQuotasResponse
from eosctl.wire.messages.internal.consumer_protocol.consumer_protocol_assignment import TopicPartition
from eosctl.wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse

HOST: Final = "127.0.0.1"
RELEASE: Final = "4.4"
CLUSTER_ID: Final = "synthetic-cluster-0001"
TOPIC_WIDTH: Final = 100
INTERNAL_WIDTH: Final = 50
INTERNAL: Final = ("__transaction_state", "__consumer_offsets")
CONTROLLERS: Final = (3000, 3001, 3002)
END_OFFSET: Final = 1_000
HANGS_FROM: Final = 500
RECORDS_EACH: Final = 10
EPOCH: Final = 3
FIRST_PRODUCER_ID: Final = 1_000_000
ALL_OPERATIONS: Final = 0b1111_1111_1000
TOPIC, BROKER = 2, 4
LOG_RECORDS: Final = 5_000


class Shape(NamedTuple):
    """The size of a cluster; `open_count` partitions have a transaction of at most `lifetime_ms`, then the next one."""

    brokers: int = 100
    partitions: int = 200_000
    ids: int = 1_000_000
    groups: int = 50_000
    hanging: int = 10
    open_count: int = 1_000
    lifetime_ms: int = 30_000


class SyntheticCluster:
    """The answers of all brokers.

    Args:
        shape: Its size.
        ports: The port of each broker; broker ids start at 1.
        settings: The settings of a broker and of a topic, by resource type.
    """

    def __init__(
        self,
        shape: Shape,
        ports: Sequence[int],
        settings: Mapping[int, Sequence[describe_configs.DescribeConfigsResourceResult]],
    ) -> None:
        self.shape, self.ports, self.settings = shape, ports, settings
        self.now_ms = time.time_ns() // 1_000_000
        self.topics = [f"topic-{number:05d}" for number in range(-(-shape.partitions // TOPIC_WIDTH))]
        self.number = {name: number for number, name in enumerate(self.topics)}
        self.topic_ids = {
            name: (number + 1).to_bytes(16, "big") for number, name in enumerate((*self.topics, *INTERNAL))
        }
        self.names = {topic_id: name for name, topic_id in self.topic_ids.items()}
        self.hanging = frozenset(number * shape.partitions // shape.hanging for number in range(shape.hanging))
        every = max(1, shape.partitions // max(1, shape.open_count))
        self.open = frozenset(range(1, shape.partitions, every)) - self.hanging
        self.open_ids = {self.writer(partition): partition for partition in self.open}
        self.ids = _by_coordinator((f"app-{number:07d}" for number in range(shape.ids)), shape.brokers)
        self.groups = _by_coordinator((f"group-{number:06d}" for number in range(shape.groups)), shape.brokers)
        self.log = transaction_log(LOG_RECORDS, self.now_ms)
        self.answers: dict[int, Callable[[int, Any], Struct]] = {
            ApiKey.API_VERSIONS: self.api_versions,
            ApiKey.METADATA: self.metadata,
            ApiKey.DESCRIBE_CLUSTER: self.describe_cluster,
            ApiKey.DESCRIBE_CONFIGS: self.describe_configs,
            ApiKey.DESCRIBE_QUORUM: self.describe_quorum,
            ApiKey.LIST_PARTITION_REASSIGNMENTS: lambda *_: ListPartitionReassignmentsResponse(error_message=None),
            ApiKey.DESCRIBE_CLIENT_QUOTAS: lambda *_: DescribeClientQuotasResponse(error_message=None),
            ApiKey.DESCRIBE_ACLS: lambda *_: describe_acls.DescribeAclsResponse(
                error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured."
            ),
            ApiKey.DESCRIBE_LOG_DIRS: self.describe_log_dirs,
            ApiKey.LIST_TRANSACTIONS: self.list_transactions,
            ApiKey.DESCRIBE_TRANSACTIONS: self.describe_transactions,
            ApiKey.DESCRIBE_PRODUCERS: self.describe_producers,
            ApiKey.LIST_OFFSETS: self.list_offsets,
            ApiKey.OFFSET_FOR_LEADER_EPOCH: self.offset_for_leader_epoch,
            ApiKey.LIST_GROUPS: self.list_groups,
            ApiKey.DESCRIBE_GROUPS: self.describe_groups,
            ApiKey.CONSUMER_GROUP_DESCRIBE: lambda *_: consumer_group_describe.ConsumerGroupDescribeResponse(),
            ApiKey.OFFSET_FETCH: self.offset_fetch,
            ApiKey.FETCH: self.fetch,
        }

    def turn(self, partition: int) -> tuple[int, int]:
        """Return the number of the transaction that is open on a partition, and when it began."""
        lifetime_ms = self.shape.lifetime_ms
        first_ms = self.now_ms - partition * 7_919 % lifetime_ms
        number = (time.time_ns() // 1_000_000 - first_ms) // lifetime_ms
        return number, first_ms + number * lifetime_ms

    def leader(self, name: str, index: int) -> int:
        """Return the leader of a partition."""
        first = self.number[name] * TOPIC_WIDTH if name in self.number else 0
        return (first + index) % self.shape.brokers + 1

    def writer(self, partition: int) -> int:
        """Return the number of the transactional id that last wrote to a partition."""
        return partition * 7 % self.shape.ids

    def api_versions(self, _: int, __: object) -> Struct:
        """Return the versions of the release for what is answered."""
        served = [(key, APIS[key].served[RELEASE]) for key in sorted(self.answers)]
        return api_versions.ApiVersionsResponse(
            api_keys=[api_versions.ApiVersion(int(key), first, last) for key, (first, last) in served],
            supported_features=[
                api_versions.SupportedFeatureKey("metadata.version", 7, 30),
                api_versions.SupportedFeatureKey("transaction.version", 0, 2),
            ],
            finalized_features_epoch=1,
            finalized_features=[
                api_versions.FinalizedFeatureKey("metadata.version", 29, 29),
                api_versions.FinalizedFeatureKey("transaction.version", 2, 2),
            ],
        )

    @lru_cache(maxsize=8)  # noqa: B019 - one cluster in each process
    def _topic(self, name: str, operations: int) -> metadata.MetadataResponseTopic:
        width = TOPIC_WIDTH if name in self.number else INTERNAL_WIDTH
        last = len(self.topics) - 1
        if self.number.get(name) == last:
            width = self.shape.partitions - last * TOPIC_WIDTH
        found = []
        for index in range(width):
            leader = self.leader(name, index)
            replicas = [(leader - 1 + step) % self.shape.brokers + 1 for step in range(min(3, self.shape.brokers))]
            found.append(metadata.MetadataResponsePartition(0, index, leader, 0, replicas, replicas))
        return metadata.MetadataResponseTopic(0, name, self.topic_ids[name], name in INTERNAL, found, operations)

    def metadata(self, _: int, request: metadata.MetadataRequest) -> Struct:
        """Return brokers and topics, all without names."""
        operations = ALL_OPERATIONS if request.include_topic_authorized_operations else -(1 << 31)
        if request.topics is None:
            topics = [self._topic(name, operations) for name in (*self.topics, *INTERNAL)]
        else:
            asked = [one.name if one.name else self.names.get(one.topic_id) for one in request.topics]
            unknown = partial(metadata.MetadataResponseTopic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            topics = [
                self._topic(name, operations) if name in self.topic_ids else unknown(name) for name in asked if name
            ]
        brokers = [metadata.MetadataResponseBroker(n, HOST, port) for n, port in enumerate(self.ports, 1)]
        return metadata.MetadataResponse(0, brokers, CLUSTER_ID, 1, topics)

    def describe_cluster(self, _: int, __: object) -> Struct:
        """Return the brokers."""
        brokers = [describe_cluster.DescribeClusterBroker(n, HOST, port) for n, port in enumerate(self.ports, 1)]
        return describe_cluster.DescribeClusterResponse(0, 0, None, 1, CLUSTER_ID, 1, brokers, ALL_OPERATIONS)

    def describe_configs(self, _: int, request: describe_configs.DescribeConfigsRequest) -> Struct:
        """Return the settings of an embedded broker for each broker and topic."""
        result = describe_configs.DescribeConfigsResult
        return describe_configs.DescribeConfigsResponse(
            results=[result(0, None, r.resource_type, r.resource_name, self._settings_of(r)) for r in request.resources]
        )

    def _settings_of(
        self, one: describe_configs.DescribeConfigsResource
    ) -> Sequence[describe_configs.DescribeConfigsResourceResult]:
        if one.resource_name in INTERNAL:
            return [
                replace(entry, value="compact", config_source=1) if entry.name == "cleanup.policy" else entry
                for entry in self.settings[one.resource_type]
            ]
        return self.settings.get(one.resource_type, ())

    def describe_quorum(self, _: int, __: object) -> Struct:
        """Return three controllers that have everything, and the brokers as observers."""
        now = time.time_ns() // 1_000_000

        def states(nodes: Iterable[int]) -> list[describe_quorum.ReplicaState]:
            return [describe_quorum.ReplicaState(node, bytes(16), 9_000, now, now) for node in nodes]

        voters, observers = states(CONTROLLERS), states(range(1, self.shape.brokers + 1))
        data = describe_quorum.ResponsePartitionData(0, 0, None, CONTROLLERS[0], 1, 9_000, voters, observers)
        return describe_quorum.DescribeQuorumResponse(
            0, None, [describe_quorum.ResponseTopicData("__cluster_metadata", [data])]
        )

    def describe_log_dirs(self, broker_id: int, _: object) -> Struct:
        """Return one directory with the replicas of a broker."""
        held: dict[str, list[int]] = defaultdict(list)
        for name in (*self.topics, *INTERNAL):
            for partition in self._topic(name, -(1 << 31)).partitions:
                if broker_id in partition.replica_nodes:
                    held[name].append(partition.partition_index)
        size, topic = describe_log_dirs.DescribeLogDirsPartition, describe_log_dirs.DescribeLogDirsTopic
        topics = [topic(name, [size(index, 1 << 20) for index in indexes]) for name, indexes in held.items()]
        one = describe_log_dirs.DescribeLogDirsResult(0, "/data", topics, 1 << 42, 1 << 41)
        return describe_log_dirs.DescribeLogDirsResponse(0, 0, [one])

    def state(self, number: int) -> str:
        """Return the state of a transactional id."""
        return "Ongoing" if number in self.open_ids else "CompleteCommit"

    def list_transactions(self, broker_id: int, request: list_transactions.ListTransactionsRequest) -> Struct:
        """Return the ids of a coordinator, filtered by state and producer id as brokers do."""
        wanted, producer_ids = set(request.state_filters), set(request.producer_id_filters)
        entry = list_transactions.TransactionState
        found = []
        for name in self.ids[broker_id]:
            number = int(name[4:])
            state = self.state(number)
            if (not wanted or state in wanted) and (not producer_ids or FIRST_PRODUCER_ID + number in producer_ids):
                found.append(entry(name, FIRST_PRODUCER_ID + number, state))
        return list_transactions.ListTransactionsResponse(transaction_states=found)

    def describe_transactions(self, _: int, request: describe_transactions.DescribeTransactionsRequest) -> Struct:
        """Return the details of ids."""
        timeout_ms = max(60_000, 2 * self.shape.lifetime_ms)
        found = []
        for name in request.transactional_ids:
            number = int(name[4:])
            partition = self.open_ids.get(number)
            topics = () if partition is None else (self._place(partition),)
            turn, began = (0, -1) if partition is None else self.turn(partition)
            identity = (FIRST_PRODUCER_ID + number, EPOCH + turn)
            found.append(
                describe_transactions.TransactionState(
                    0, name, self.state(number), timeout_ms, began, *identity, topics
                )
            )
        return describe_transactions.DescribeTransactionsResponse(transaction_states=found)

    def _place(self, partition: int) -> describe_transactions.TopicData:
        return describe_transactions.TopicData(self.topics[partition // TOPIC_WIDTH], (partition % TOPIC_WIDTH,))

    def describe_producers(self, _: int, request: describe_producers.DescribeProducersRequest) -> Struct:
        """Return one producer for each partition."""
        one = describe_producers.PartitionResponse
        topics = [
            describe_producers.TopicResponse(
                topic.name,
                [one(index, 0, None, self._producers(topic.name, index)) for index in topic.partition_indexes],
            )
            for topic in request.topics
        ]
        return describe_producers.DescribeProducersResponse(topics=topics)

    def _producers(self, name: str, index: int) -> tuple[describe_producers.ProducerState, ...]:
        if name not in self.number:
            return ()
        partition = self.number[name] * TOPIC_WIDTH + index
        producer_id = FIRST_PRODUCER_ID + self.writer(partition)
        if partition not in self.open:
            began = HANGS_FROM if partition in self.hanging else -1
            return (describe_producers.ProducerState(producer_id, EPOCH, 40, self.now_ms - 600_000, 0, began),)
        turn, began_ms = self.turn(partition)
        began = END_OFFSET + (turn - 1) * RECORDS_EACH
        return (describe_producers.ProducerState(producer_id, EPOCH + turn, 40, began_ms + 100, 0, began),)

    def end_offset(self, name: str, *, committed: bool = False, index: int = 0) -> int:
        """Return the high watermark of a partition, or its last stable offset."""
        if name not in self.number:
            return LOG_RECORDS if name == INTERNAL[0] else 0
        partition = self.number[name] * TOPIC_WIDTH + index
        if partition not in self.open:
            return HANGS_FROM if committed and partition in self.hanging else END_OFFSET
        return END_OFFSET + (self.turn(partition)[0] - committed) * RECORDS_EACH

    def list_offsets(self, _: int, request: list_offsets.ListOffsetsRequest) -> Struct:
        """Return the first, the last stable, and the last offset."""
        is_committed = request.isolation_level == 1
        answer = list_offsets.ListOffsetsPartitionResponse
        return list_offsets.ListOffsetsResponse(
            topics=[
                list_offsets.ListOffsetsTopicResponse(
                    topic.name,
                    [
                        answer(
                            one.partition_index,
                            offset=0
                            if one.timestamp == -2
                            else self.end_offset(topic.name, committed=is_committed, index=one.partition_index),
                            leader_epoch=0,
                        )
                        for one in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def offset_for_leader_epoch(self, _: int, request: offset_for_leader_epoch.OffsetForLeaderEpochRequest) -> Struct:
        """Return that the only leader epoch lasts to the end."""
        return offset_for_leader_epoch.OffsetForLeaderEpochResponse(
            topics=[
                offset_for_leader_epoch.OffsetForLeaderTopicResult(
                    topic.topic,
                    [
                        offset_for_leader_epoch.EpochEndOffset(0, one.partition, 0, self.end_offset(topic.topic))
                        for one in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def list_groups(self, broker_id: int, _: object) -> Struct:
        """Return the groups of a coordinator."""
        return list_groups.ListGroupsResponse(
            groups=[list_groups.ListedGroup(name, "consumer", "Stable", "classic") for name in self.groups[broker_id]]
        )

    def _read_by(self, group: str) -> tuple[str, Sequence[int]]:
        number = int(group[6:])
        return self.topics[number % len(self.topics)], range(4)

    def describe_groups(self, _: int, request: describe_groups.DescribeGroupsRequest) -> Struct:
        """Return groups of one member, and none for other names."""
        found = [describe_groups.DescribedGroup(0, None, one, "Dead") for one in request.groups if one[:6] != "group-"]
        for name in request.groups[len(found) :]:  # no request has names of both kinds
            topic, indexes = self._read_by(name)
            assigned = encode_assignment(ConsumerProtocolAssignment([TopicPartition(topic, list(indexes))]))
            member = describe_groups.DescribedGroupMember(
                f"{name}-1", None, name, f"/{HOST}", member_assignment=assigned
            )
            found.append(describe_groups.DescribedGroup(0, None, name, "Stable", "consumer", "range", [member]))
        return describe_groups.DescribeGroupsResponse(groups=found)

    def offset_fetch(self, _: int, request: offset_fetch.OffsetFetchRequest) -> Struct:
        """Return that every group has read everything."""
        found = []
        for one in request.groups:
            topic, indexes = self._read_by(one.group_id)
            partitions = [offset_fetch.OffsetFetchResponsePartitions(index, HANGS_FROM) for index in indexes]
            topics = [offset_fetch.OffsetFetchResponseTopics(topic, self.topic_ids[topic], partitions)]
            found.append(offset_fetch.OffsetFetchResponseGroup(one.group_id, topics))
        return offset_fetch.OffsetFetchResponse(groups=found)

    def fetch(self, _: int, request: fetch.FetchRequest) -> Struct:
        """Return the records of the transaction log, and of other topics one batch that reaches to the end."""
        return fetch.FetchResponse(
            responses=[
                fetch.FetchableTopicResponse(
                    topic.topic,
                    topic.topic_id,
                    [self._fetched(topic.topic or self.names.get(topic.topic_id, ""), one) for one in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    def _fetched(self, name: str, one: fetch.FetchPartition) -> fetch.PartitionData:
        start, end = one.fetch_offset, self.end_offset(name, index=one.partition)
        stable = self.end_offset(name, committed=True, index=one.partition)
        records = self.log.since(start, one.partition_max_bytes) if name == INTERNAL[0] else data_batch(start, end)
        return fetch.PartitionData(one.partition, 0, end, stable, 0, None, records=records)


def _by_coordinator(names: Iterable[str], broker_count: int) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {broker: [] for broker in range(1, broker_count + 1)}
    for name in names:
        found[partition_for(name, INTERNAL_WIDTH) % broker_count + 1].append(name)
    return found
