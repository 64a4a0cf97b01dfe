"""Where the present leader epoch begins, asked only where it matters."""

from __future__ import annotations

import asyncio

from eosctl.collect.leader_epochs import collect_leader_epochs
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, TransactionLook
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import offset_for_leader_epoch as api
from tests.collect.conftest import ScriptedCluster


def info(index: int, leader_epoch: int, leader_id: int | None = 1) -> PartitionInfo:
    return PartitionInfo(TopicPartition("orders", index), leader_id, leader_epoch, (1,), (1,))


def open_on(*indexes: int) -> TransactionLook:
    states = (ProducerState(7, 0, 0, 0, 0, 40),)
    return TransactionLook(0, 1, tuple(PartitionProducers(TopicPartition("orders", i), 1, states) for i in indexes))


def answer(*entries: api.EpochEndOffset) -> api.OffsetForLeaderEpochResponse:
    return api.OffsetForLeaderEpochResponse(topics=[api.OffsetForLeaderTopicResult("orders", list(entries))])


def ask(cluster: ScriptedCluster, look: TransactionLook, *partitions: PartitionInfo) -> object:
    topic = Topic("orders", "id", False, partitions)
    return asyncio.run(collect_leader_epochs(ReadOnly(cluster), [topic], look))


def test_the_end_of_the_epoch_before_is_the_start_of_this_one(cluster: ScriptedCluster) -> None:
    cluster.on(
        1, ApiKey.OFFSET_FOR_LEADER_EPOCH, answer(api.EpochEndOffset(partition=0, leader_epoch=3, end_offset=55))
    )
    probed = ask(cluster, open_on(0, 1, 2), info(0, 5), info(1, 0), info(2, 4, leader_id=None), info(3, 9))
    starts = [p.leader_epoch_start_offset for p in probed.value[0].partitions]  # type: ignore[attr-defined]
    assert starts == [55, None, None, None]
    # Only the partition with an open transaction, a leader, and a later epoch than the first was asked.
    ((_, _, request),) = cluster.asked
    assert [(p.partition, p.leader_epoch) for p in request.topics[0].partitions] == [(0, 4)]


def test_nothing_open_asks_nothing(cluster: ScriptedCluster) -> None:
    ask(cluster, TransactionLook(0, 1), info(0, 5))
    assert cluster.asked == []


def test_an_unknown_epoch_leaves_it_unknown(cluster: ScriptedCluster) -> None:
    cluster.on(1, ApiKey.OFFSET_FOR_LEADER_EPOCH, answer(api.EpochEndOffset(partition=0)))
    probed = ask(cluster, open_on(0), info(0, 5))
    assert probed.value[0].partitions[0].leader_epoch_start_offset is None  # type: ignore[attr-defined]
    assert probed.gaps == ()  # type: ignore[attr-defined]


def test_refusals_are_gaps(cluster: ScriptedCluster) -> None:
    denied = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    cluster.on(1, ApiKey.OFFSET_FOR_LEADER_EPOCH, answer(api.EpochEndOffset(error_code=denied, partition=0)))
    (gap,) = ask(cluster, open_on(0), info(0, 5)).gaps  # type: ignore[attr-defined]
    assert (gap.kind, gap.subject) == (EvidenceKind.PRODUCERS, "leader epoch of orders-0")
    assert gap.reason is GapReason.NOT_AUTHORIZED
    cluster.down.add(1)
    (gap,) = ask(cluster, open_on(0), info(0, 5)).gaps  # type: ignore[attr-defined]
    assert gap.subject == "leader epochs at broker 1"
