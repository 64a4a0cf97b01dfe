"""AlterReplicaLogDirs (key 34, versions 1 to 2; 3.9 serves 0 to 2): move replicas between directories (KIP-113).

- A move continues after the response; DescribeLogDirs lists the future replica until it replaces the current one.
- The directory of a replica that is not hosted yet is stored although the response is an error;
  kafka-reassign-partitions places new replicas this way.
- A topic with a name of the maximum length cannot be moved, since the directory of its future replica would have a
  longer name.
"""

from __future__ import annotations

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

LONGEST_DIRECTORY_NAME = 255
SUFFIX_LENGTH = len("-future") + 34  # The unique part of the name and its delimiters (`UnifiedLog.logFutureDirName`).


def handle(broker: BrokerServices, context: RequestContext, request: AlterReplicaLogDirsRequest) -> None:
    """Start one move per partition. If a partition is listed with several directories, the last one counts."""
    wanted = {
        TopicPartition(topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }
    topics: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for partition, path in wanted.items():
        error = _move(broker, partition, path)
        topics.setdefault(partition.topic, []).append(AlterReplicaLogDirPartitionResult(partition.partition, error))
    results = [AlterReplicaLogDirTopicResult(name, partitions) for name, partitions in topics.items()]
    context.reply(AlterReplicaLogDirsResponse(0, results))


def _move(broker: BrokerServices, partition: TopicPartition, path: str) -> ErrorCode:
    if len(f"{partition.topic}-{partition.partition}") + SUFFIX_LENGTH > LONGEST_DIRECTORY_NAME:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    directory = next((directory for directory in broker.logs.all if str(directory.path) == path), None)
    if directory is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if directory.failed is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    hosted = broker.replicas.partitions.get(partition)
    if hosted is None:
        broker.logs.prefer(partition, directory)
        return broker.replicas.absence(partition)
    broker.moves.move(hosted, directory)
    return ErrorCode.NONE


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _refuse(
    request: AlterReplicaLogDirsRequest,
) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        0,
        [
            AlterReplicaLogDirTopicResult(
                topic.name,
                [AlterReplicaLogDirPartitionResult(index, DENIED) for index in topic.partitions],
            )
            for directory in request.dirs
            for topic in directory.topics
        ],
    )


guard = needs_cluster(AclOperation.ALTER, _refuse)
