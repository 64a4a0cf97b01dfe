"""DescribeLogDirs (key 35, versions 1 to 5; 3.9 serves 0 to 4): bytes and lag per partition (KIP-113, KIP-827).

- Null topics are all topics; partitions that are not hosted here are omitted, and repeated ones are returned once.
- A failed directory returns only KAFKA_STORAGE_ERROR.
"""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.log.directory import DISK_BYTES, LogDirectory
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def handle(broker: BrokerServices, context: RequestContext, request: DescribeLogDirsRequest) -> None:
    """Describe every log directory."""
    hosted = broker.replicas.partitions
    if request.topics is None:
        wanted = list(hosted)
    else:
        wanted = list(
            dict.fromkeys(TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions)
        )
    results = [_describe(broker, directory, wanted) for directory in broker.logs.all]
    context.reply(DescribeLogDirsResponse(0, 0, results))


def _describe(
    broker: BrokerServices, directory: LogDirectory, wanted: Iterable[TopicPartition]
) -> DescribeLogDirsResult:
    if directory.failed is not None:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, str(directory.path))
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for name in wanted:
        partition = broker.replicas.partitions.get(name)
        if partition is not None and broker.logs.directory_of_log(name) is directory:
            log = partition.log
            lag = 0 if partition.is_leader else max(0, log.high_watermark - log.end_offset)
            topics.setdefault(name.topic, []).append(
                DescribeLogDirsPartition(name.partition, log.store.size_bytes, lag, False)
            )
        move = broker.moves.under_way.get(name)
        if move is not None and move.target is directory:
            topics.setdefault(name.topic, []).append(
                DescribeLogDirsPartition(name.partition, move.future.store.size_bytes, move.lag, True)
            )
    return DescribeLogDirsResult(
        0,
        str(directory.path),
        [DescribeLogDirsTopic(name, partitions) for name, partitions in topics.items()],
        DISK_BYTES,
        directory.usable_bytes,
    )


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
guard = needs_cluster(AclOperation.DESCRIBE, lambda _: DescribeLogDirsResponse(0, DENIED))
