"""Log start offset, high watermark, and last stable offset of every partition (ListOffsets)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.collect.answered import unanswered
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code, gap_without_leader, in_batches
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import list_offsets

LATEST: Final = -1
EARLIEST: Final = -2
READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1
CONSUMER: Final = -1
PARTITIONS_PER_REQUEST: Final = 1_000


class _Question(NamedTuple):
    """The offset to query."""

    timestamp: int
    isolation_level: int


# The last stable offset is queried first: a high watermark that is read later can only be larger, so the difference is
# never negative on a busy partition.
_LAST_STABLE_OFFSET: Final = _Question(LATEST, READ_COMMITTED)
_HIGH_WATERMARK: Final = _Question(LATEST, READ_UNCOMMITTED)
_LOG_START: Final = _Question(EARLIEST, READ_UNCOMMITTED)


async def collect_offsets(reader: ReadOnly, topics: Sequence[Topic]) -> Probed[tuple[Topic, ...]]:
    """Set the offsets of all partitions with a leader."""
    by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
    gaps: list[EvidenceGap] = []
    for topic in topics:
        for info in topic.partitions:
            if info.leader_id is None:
                gaps.append(gap_without_leader(EvidenceKind.OFFSETS, info.partition))
            else:
                by_leader[info.leader_id].append(info.partition)
    answers = await asyncio.gather(
        *(
            _offsets_of_leader(reader, leader, batch)
            for leader, led in sorted(by_leader.items())
            for batch in in_batches(led, PARTITIONS_PER_REQUEST)
        )
    )
    found = {key: offset for answer in answers for key, offset in answer.value.items()}
    for answer in answers:
        gaps += answer.gaps
    filled = tuple(replace(t, partitions=tuple(_filled(info, found) for info in t.partitions)) for t in topics)
    return Probed(filled, tuple(gaps))


def _filled(info: PartitionInfo, found: dict[tuple[TopicPartition, _Question], int]) -> PartitionInfo:
    return replace(
        info,
        log_start_offset=found.get((info.partition, _LOG_START)),
        high_watermark=found.get((info.partition, _HIGH_WATERMARK)),
        last_stable_offset=found.get((info.partition, _LAST_STABLE_OFFSET)),
    )


async def _offsets_of_leader(
    reader: ReadOnly, leader_id: int, partitions: Sequence[TopicPartition]
) -> Probed[dict[tuple[TopicPartition, _Question], int]]:
    found: dict[tuple[TopicPartition, _Question], int] = {}
    gaps: list[EvidenceGap] = []
    for question in (_LAST_STABLE_OFFSET, _HIGH_WATERMARK, _LOG_START):
        answer = await _ask(reader, leader_id, partitions, question)
        found.update({(partition, question): offset for partition, offset in answer.value.items()})
        gaps += [gap for gap in answer.gaps if gap not in gaps]
    return Probed(found, tuple(gaps))


async def _ask(
    reader: ReadOnly, leader_id: int, partitions: Sequence[TopicPartition], question: _Question
) -> Probed[dict[TopicPartition, int]]:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, index in partitions:
        by_topic[topic].append(index)
    request = list_offsets.ListOffsetsRequest(
        replica_id=CONSUMER,
        isolation_level=question.isolation_level,
        topics=[
            list_offsets.ListOffsetsTopic(
                topic,
                [list_offsets.ListOffsetsPartition(partition_index=i, timestamp=question.timestamp) for i in indexes],
            )
            for topic, indexes in by_topic.items()
        ],
    )
    answer, lost = await attempt(
        EvidenceKind.OFFSETS, f"broker {leader_id}", lambda: reader.request(leader_id, ApiKey.LIST_OFFSETS, request)
    )
    if answer is None:
        return Probed({}, lost)
    return reader.derived(answer, lambda: _offsets(answer, partitions))


def _offsets(
    answer: list_offsets.ListOffsetsResponse, partitions: Sequence[TopicPartition]
) -> Probed[dict[TopicPartition, int]]:
    found: dict[TopicPartition, int] = {}
    gaps: list[EvidenceGap] = []
    answered: set[TopicPartition] = set()
    for listed in answer.topics:
        for partition in listed.partitions:
            where = TopicPartition(listed.name, partition.partition_index)
            answered.add(where)
            if partition.error_code == ErrorCode.NONE:
                found[where] = partition.offset
            else:
                gaps.append(gap_from_code(EvidenceKind.OFFSETS, str(where), partition.error_code))
    return Probed(found, (*gaps, *unanswered(EvidenceKind.OFFSETS, partitions, answered)))
