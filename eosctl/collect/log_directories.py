"""The log directories of brokers (DescribeLogDirs; needs DESCRIBE on the cluster)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from eosctl.collect.answered import left_out
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.cluster_state import LogDirectory
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_log_dirs


async def collect_log_directories(reader: ReadOnly, broker_ids: Sequence[int]) -> Probed[tuple[LogDirectory, ...]]:
    """Query every broker for its own directories; a failed directory is a finding, not a gap."""
    request = describe_log_dirs.DescribeLogDirsRequest(topics=None)
    answers = await asyncio.gather(
        *(
            attempt(
                EvidenceKind.LOG_DIRS,
                f"broker {broker_id}",
                partial(reader.request, broker_id, ApiKey.DESCRIBE_LOG_DIRS, request),
            )
            for broker_id in broker_ids
        )
    )
    found: list[LogDirectory] = []
    gaps: list[EvidenceGap] = []
    for broker_id, (answer, lost) in zip(broker_ids, answers, strict=True):
        gaps += lost
        if answer is None:
            continue
        if answer.error_code != ErrorCode.NONE:
            gaps.append(gap_from_code(EvidenceKind.LOG_DIRS, f"broker {broker_id}", answer.error_code))
            continue
        if not answer.results:  # Every broker has at least one.
            gaps.append(left_out(EvidenceKind.LOG_DIRS, f"broker {broker_id}"))
        found += (_directory(broker_id, result) for result in answer.results)
    return Probed(tuple(found), tuple(gaps))


def _directory(broker_id: int, result: describe_log_dirs.DescribeLogDirsResult) -> LogDirectory:
    known = result.error_code in set(ErrorCode)
    return LogDirectory(
        broker_id=broker_id,
        path=result.log_dir,
        error="" if result.error_code == ErrorCode.NONE else ErrorCode(result.error_code).name if known else "UNKNOWN",
        total_bytes=result.total_bytes,
        usable_bytes=result.usable_bytes,
        log_bytes=sum(partition.partition_size for topic in result.topics for partition in topic.partitions),
    )
