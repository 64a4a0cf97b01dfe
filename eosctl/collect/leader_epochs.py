"""The start offset of a partition's present leader epoch (OffsetForLeaderEpoch, KIP-101).

It determines whether a marker may have been skipped for lack of a leader: records of the present epoch have always had
one (`analysis.abort_safety`).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from eosctl.collect.answered import unanswered
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition, TransactionLook
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import offset_for_leader_epoch as api

CONSUMER = -1


async def collect_leader_epochs(
    reader: ReadOnly, topics: Sequence[Topic], look: TransactionLook
) -> Probed[tuple[Topic, ...]]:
    """Set the start of the present epoch for partitions with an open transaction.

    Partitions in epoch 0 are not queried, since their epoch starts with the log.
    """
    wanted = {
        where.partition
        for where in look.producers
        if any(state.current_txn_start_offset is not None for state in where.producers)
    }
    by_leader: dict[int, list[PartitionInfo]] = defaultdict(list)
    for topic in topics:
        for info in topic.partitions:
            if info.partition in wanted and info.leader_id is not None and info.leader_epoch > 0:
                by_leader[info.leader_id].append(info)
    answers = await asyncio.gather(*(_ask(reader, leader, led) for leader, led in sorted(by_leader.items())))
    found = {partition: offset for answer in answers for partition, offset in answer.value.items()}
    filled = tuple(replace(t, partitions=tuple(_filled(info, found) for info in t.partitions)) for t in topics)
    return Probed(filled, tuple(gap for answer in answers for gap in answer.gaps))


def _filled(info: PartitionInfo, found: dict[TopicPartition, int]) -> PartitionInfo:
    return replace(info, leader_epoch_start_offset=found[info.partition]) if info.partition in found else info


async def _ask(
    reader: ReadOnly, leader_id: int, partitions: Sequence[PartitionInfo]
) -> Probed[dict[TopicPartition, int]]:
    by_topic: dict[str, list[api.OffsetForLeaderPartition]] = defaultdict(list)
    for info in partitions:
        # The previous epoch ends where this one starts.
        question = api.OffsetForLeaderPartition(info.partition.partition, -1, info.leader_epoch - 1)
        by_topic[info.partition.topic].append(question)
    request = api.OffsetForLeaderEpochRequest(
        replica_id=CONSUMER, topics=[api.OffsetForLeaderTopic(name, asked) for name, asked in by_topic.items()]
    )
    answer, lost = await attempt(
        EvidenceKind.PRODUCERS,
        f"leader epochs at broker {leader_id}",
        lambda: reader.request(leader_id, ApiKey.OFFSET_FOR_LEADER_EPOCH, request),
    )
    if answer is None:
        return Probed({}, lost)
    found: dict[TopicPartition, int] = {}
    gaps: list[EvidenceGap] = []
    answered: set[TopicPartition] = set()
    for topic in answer.topics:
        for entry in topic.partitions:
            where = TopicPartition(topic.topic, entry.partition)
            answered.add(where)
            if entry.error_code != ErrorCode.NONE:
                gaps.append(gap_from_code(EvidenceKind.PRODUCERS, _subject(where), entry.error_code))
            elif entry.end_offset >= 0:
                found[where] = entry.end_offset
    asked = [info.partition for info in partitions]
    return Probed(found, (*gaps, *unanswered(EvidenceKind.PRODUCERS, asked, answered, _subject)))


def _subject(where: TopicPartition) -> str:
    return f"leader epoch of {where}"
