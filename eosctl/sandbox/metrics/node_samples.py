"""Read the metrics of a node on request. Only request counts are maintained continuously."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.error_counts import ErrorCounts
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState
from eosctl.sandbox.metadata.image import NO_LEADER
from eosctl.sandbox.metrics.samples import Sample, sample
from eosctl.sandbox.node import Node
from eosctl.sandbox.replication.partition import Partition, TopicTraffic
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

RUNNING: Final = 3
STARTING: Final = 1
"""Values of the gauge BrokerState."""
LATE_TRANSACTION_BUFFER_MS: Final = 5 * 60_000

_CONSUMER_GROUP_STATES: Final = ("Assigning", "Dead", "Empty", "Reconciling", "Stable")


def node_samples(node: Node) -> Iterator[Sample]:
    """Yield the metrics of a node's roles."""
    if node.broker is not None:
        broker = node.broker
        yield sample("kafka_server_KafkaServer_Value", RUNNING if broker.is_ready else STARTING, name="BrokerState")
        yield from _requests(broker.requests.counts())
        if broker.error_counts is not None:
            yield from _errors(broker.error_counts)
        yield from _traffic(broker)
        yield from _replicas(broker)
        yield from _transactions(broker)
        yield from _groups(broker)
    if node.controller is not None:
        yield from _controller(node.controller)


def _requests(counts: Mapping[tuple[int, int, bool], int]) -> Iterator[Sample]:
    for (api_key, version, from_broker), count in sorted(counts.items()):
        yield sample(
            "kafka_network_RequestMetrics_Count",
            count,
            name="RequestsPerSec",
            request=request_name(api_key, from_broker=from_broker),
            version=str(version),
        )


def _errors(counts: ErrorCounts) -> Iterator[Sample]:
    for (api_key, code), count in sorted(counts.by_api.items()):
        yield sample(
            "kafka_network_RequestMetrics_Count",
            count,
            name="ErrorsPerSec",
            request=api_name(api_key),
            error=error_name(code),
        )


def error_name(code: int) -> str:
    """Return the name of an error code."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


def _traffic(broker: Broker) -> Iterator[Sample]:
    total = TopicTraffic()
    total.add(broker.replicas.former_traffic)
    for topic, traffic in sorted(broker.replicas.traffic.items()):
        total.add(traffic)
        for name, count in _counts(traffic):
            yield sample("kafka_server_BrokerTopicMetrics_Count", count, name=name, topic=topic)
    for name, count in _counts(total):
        yield sample("kafka_server_BrokerTopicMetrics_Count", count, name=name)


def _counts(traffic: TopicTraffic) -> tuple[tuple[str, int], ...]:
    return (
        ("BytesInPerSec", traffic.bytes_in),
        ("BytesOutPerSec", traffic.bytes_out),
        ("MessagesInPerSec", traffic.record_count_in),
        ("TotalProduceRequestsPerSec", traffic.append_count),
    )


def api_name(api_key: int) -> str:
    """Return the name of an API, which Kafka's counts of errors have."""
    return "".join(word.capitalize() for word in ApiKey(api_key).name.split("_"))


def request_name(api_key: int, *, from_broker: bool) -> str:
    """Return the name of a request in Kafka's request metrics; fetches of brokers and consumers differ."""
    name = api_name(api_key)
    if api_key == ApiKey.FETCH:
        return name + ("Follower" if from_broker else "Consumer")
    return name


def _replicas(broker: Broker) -> Iterator[Sample]:
    partitions = list(broker.replicas.partitions.values())
    led = [partition for partition in partitions if partition.is_leader]
    below = [partition for partition in led if len(partition.isr) < partition.min_isr]
    totals = {
        "PartitionCount": len(partitions),
        "LeaderCount": len(led),
        "UnderReplicatedPartitions": sum(_is_under_replicated(partition) for partition in led),
        "UnderMinIsrPartitionCount": len(below),
        "AtMinIsrPartitionCount": sum(len(partition.isr) == partition.min_isr for partition in led),
        "OfflineReplicaCount": sum(partition.log.closed for partition in partitions),
        "PartitionsWithLateTransactionsCount": sum(_has_late_transaction(partition, broker) for partition in led),
        "ProducerIdCount": sum(len(partition.log.producers.producers) for partition in partitions),
    }
    for name, value in totals.items():
        yield sample("kafka_server_ReplicaManager_Value", value, name=name)
    for name, count in (("IsrShrinksPerSec", broker.isr.shrink_count), ("IsrExpandsPerSec", broker.isr.expand_count)):
        yield sample("kafka_server_ReplicaManager_Count", count, name=name)
    waiting = sum(len(partition.waits) for partition in partitions)
    for name in ("NumDelayedOperations", "PurgatorySize"):
        yield sample("kafka_server_DelayedOperationPurgatory_Value", waiting, delayedOperation="Produce", name=name)
    for partition in partitions:
        yield from _partition(partition)


def _partition(partition: Partition) -> Iterator[Sample]:
    topic, index = partition.partition.topic, str(partition.partition.partition)
    log = partition.log
    leads = partition.is_leader
    of_partition = {
        "UnderReplicated": _is_under_replicated(partition),
        "UnderMinIsr": leads and len(partition.isr) < partition.min_isr,
        "AtMinIsr": leads and len(partition.isr) == partition.min_isr,
        "InSyncReplicasCount": len(partition.isr) if leads else 0,
        "ReplicasCount": len(partition.replicas) if leads else 0,
        "LastStableOffsetLag": log.high_watermark - log.last_stable_offset(),
    }
    for name, value in of_partition.items():
        yield sample("kafka_cluster_Partition_Value", value, name=name, partition=index, topic=topic)
    of_log = {
        "LogEndOffset": log.end_offset,
        "LogStartOffset": log.start_offset,
        "NumLogSegments": len(log.store.segments),
        "Size": log.store.size_bytes,
    }
    for name, value in of_log.items():
        yield sample("kafka_log_Log_Value", value, name=name, partition=index, topic=topic)


def _has_late_transaction(partition: Partition, broker: Broker) -> bool:
    """Return whether the oldest open transaction's producer has exceeded the maximum transaction timeout.

    Uses the timestamp of its last batch, as `ProducerStateManager.hasLateTransaction` does.
    """
    state = partition.log.producers
    if not state.ongoing:
        return False
    last_timestamp = state.producers[state.ongoing[min(state.ongoing)]].last_timestamp
    longest_ms = broker.config.get_int("transaction.max.timeout.ms") + LATE_TRANSACTION_BUFFER_MS
    return 0 < last_timestamp < broker.runtime.now_ms() - longest_ms


def _is_under_replicated(partition: Partition) -> bool:
    return partition.is_leader and len(partition.isr) < len(partition.replicas)


def _transactions(broker: Broker) -> Iterator[Sample]:
    markers = broker.transactions.markers
    gauges = {
        "UnknownDestinationQueueSize": markers.unknown_destination_queue_size,
        "LogAppendRetryQueueSize": markers.log_append_retry_queue_size,
    }
    for name, value in gauges.items():
        yield sample("kafka_coordinator_transaction_TransactionMarkerChannelManager_Value", value, name=name)


def _groups(broker: Broker) -> Iterator[Sample]:
    shards = broker.groups.shards
    classic: Counter[str] = Counter()
    consumer: Counter[str] = Counter()
    for shard in shards:
        for group in shard.groups.values():
            states = classic if isinstance(group, ClassicGroup) else consumer
            states[str(group.state)] += 1
    manager = "kafka_coordinator_group_GroupMetadataManager_Value"
    yield sample(manager, classic.total(), name="NumGroups")
    for state in ClassicState:
        yield sample(manager, classic[state.value], name=f"NumGroups{state.value}")
    offset_count = sum(len(shard.offsets.committed(name)) for shard in shards for name in shard.offsets.group_ids())
    yield sample(manager, offset_count, name="NumOffsets")
    if broker.emulation.is_3_9:
        return
    coordinator = "kafka_server_group_coordinator_metrics"
    yield sample(f"{coordinator}_group_count", classic.total(), protocol="classic")
    yield sample(f"{coordinator}_group_count", consumer.total(), protocol="consumer")
    for known in _CONSUMER_GROUP_STATES:
        yield sample(f"{coordinator}_consumer_group_count", consumer[known], state=known)
    yield sample(f"{coordinator}_num_partitions", len(shards), state="active")


def _controller(controller: Controller) -> Iterator[Sample]:
    image = controller.image
    states = [state for topic in image.topics.values() for state in topic.partitions.values()]
    brokers = list(image.brokers.values())
    gauges = {
        "ActiveControllerCount": controller.is_active,
        "ActiveBrokerCount": sum(not broker.fenced for broker in brokers),
        "FencedBrokerCount": sum(broker.fenced for broker in brokers),
        "GlobalTopicCount": len(image.topics),
        "GlobalPartitionCount": len(states),
        "OfflinePartitionsCount": sum(state.leader == NO_LEADER for state in states),
        "PreferredReplicaImbalanceCount": sum(state.leader not in state.replicas[:1] for state in states),
    }
    for name, value in gauges.items():
        yield sample("kafka_controller_KafkaController_Value", value, name=name)
