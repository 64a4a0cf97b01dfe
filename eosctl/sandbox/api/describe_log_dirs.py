"""DescribeLogDirs (key 35, versions 1 to 5; 3.9 serves 0 to 4): bytes and lag per partition (KIP-113, KIP-827).

- Null topics mean all; a partition that is not hosted here is left out.
- There is one log directory, and no future replica.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: DescribeLogDirsRequest) -> None:
    """Describe the one log directory."""
    hosted = broker.replicas.partitions
    if request.topics is None:
        wanted = list(hosted)
    else:
        wanted = [TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions]
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for name in wanted:
        partition = hosted.get(name)
        if partition is not None:
            log = partition.log
            lag = 0 if partition.is_leader else max(0, log.high_watermark - log.end_offset)
            topics.setdefault(name.topic, []).append(
                DescribeLogDirsPartition(name.partition, log.store.size_bytes, lag, False)
            )
    disk = shutil.disk_usage(broker.logs.path)
    result = DescribeLogDirsResult(
        0,
        str(broker.logs.path),
        [DescribeLogDirsTopic(name, partitions) for name, partitions in topics.items()],
        disk.total,
        disk.free,
    )
    context.reply(DescribeLogDirsResponse(0, 0, [result]))
