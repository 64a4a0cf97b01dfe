"""AlterReplicaLogDirs (key 34, versions 1 to 2; 3.9 serves 0 to 2): move replicas between directories (KIP-113).

- A move goes on after the answer; DescribeLogDirs shows the future replica until it takes the current one's place.
- Where a replica that is not here yet should be put is not remembered.
- A topic whose name fills a directory's cannot be moved at all, since its copy would need a longer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker

LONGEST_DIRECTORY_NAME = 255
SUFFIX_LENGTH = len("-future") + 34  # the unique part and its delimiters (UnifiedLog.logFutureDirName)


def handle(broker: Broker, context: RequestContext, request: AlterReplicaLogDirsRequest) -> None:
    """Answer for each partition."""
    topics: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                error = _move(broker, TopicPartition(topic.name, index), directory.path)
                topics.setdefault(topic.name, []).append(AlterReplicaLogDirPartitionResult(index, error))
    results = [AlterReplicaLogDirTopicResult(name, partitions) for name, partitions in topics.items()]
    context.reply(AlterReplicaLogDirsResponse(0, results))


def _move(broker: Broker, partition: TopicPartition, path: str) -> ErrorCode:
    if len(f"{partition.topic}-{partition.partition}") + SUFFIX_LENGTH > LONGEST_DIRECTORY_NAME:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    directory = next((directory for directory in broker.logs.all if str(directory.path) == path), None)
    if directory is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if directory.failed is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    hosted = broker.replicas.partitions.get(partition)
    if hosted is None:
        return broker.replicas.absence(partition)
    broker.moves.move(hosted, directory)
    return ErrorCode.NONE
