"""Probes that read batches: hidden records and the transaction log's history."""

import asyncio
from typing import Any

import pytest

from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.hidden import collect_hidden
from eosctl.collect.history import collect_history
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.snapshot import HiddenRange, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal import transaction_log
from eosctl.wire.messages import fetch
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record

ORDERS = TopicPartition("orders", 0)
STATE = TopicPartition("__transaction_state", 7)


def data(base_offset, count, **batch):
    return encode_batch([Record(i, 1_000, b"k", b"v") for i in range(count)], base_offset=base_offset, **batch)


def marker(offset):
    return encode_marker_batch(EndTxnMarker(True, 3), 9, 0, 1_000, base_offset=offset)


def leader_with(batches: list[tuple[int, bytes]], error: ErrorCode = ErrorCode.NONE) -> Any:
    """Answer a Fetch with the batches that end at or after the offset asked for, one at a time."""

    def answer(request):
        (topic,) = request.topics
        (asked,) = topic.partitions
        due = [batch for last, batch in batches if last >= asked.fetch_offset]
        part = fetch.PartitionData(asked.partition, int(error), records=due[0] if due else b"")
        return fetch.FetchResponse(responses=[fetch.FetchableTopicResponse(topic.topic, partitions=[part])])

    return answer


def topic(where, last_stable_offset, high_watermark, leader=1, log_start=0):
    info = PartitionInfo(where, leader, 0, (1,), (1,), (), log_start, high_watermark, last_stable_offset)
    return Topic(where.topic, "", False, (info,))


def hidden(cluster, *topics):
    return asyncio.run(collect_hidden(ReadOnly(cluster), topics))


def test_records_are_counted_without_markers_and_visible_ones(cluster):
    # The first batch begins before the last stable offset's batch boundary; the last one lies behind the end.
    cluster.on(
        1,
        ApiKey.FETCH,
        leader_with([(4, data(2, 3)), (5, marker(5)), (8, data(6, 3)), (9, marker(9)), (10, data(10, 1))]),
    )
    answer = hidden(cluster, topic(ORDERS, 2, 10))
    assert answer.value == (HiddenRange(ORDERS, 2, 10, 6, 2),)
    assert answer.gaps == ()


def test_deleted_records_of_an_open_transaction_are_not_read(cluster):
    def answer(request):
        (asked,) = request.topics[0].partitions
        error = ErrorCode.OFFSET_OUT_OF_RANGE if asked.fetch_offset < 6 else ErrorCode.NONE
        return leader_with([(8, data(6, 3)), (9, marker(9))], error)(request)

    cluster.on(1, ApiKey.FETCH, answer)
    found = hidden(cluster, topic(ORDERS, 2, 10, log_start=6))
    assert found.gaps == ()
    assert found.value == (HiddenRange(ORDERS, 2, 10, 3, 1),)


def test_a_partition_without_a_gap_is_not_read(cluster):
    assert hidden(cluster, topic(ORDERS, 10, 10)).value == ()
    assert cluster.asked == []


def test_a_refused_fetch_is_a_gap_and_no_count(cluster):
    cluster.on(1, ApiKey.FETCH, leader_with([], ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    answer = hidden(cluster, topic(ORDERS, 2, 10))
    assert answer.value == ()
    assert [(gap.subject, gap.reason) for gap in answer.gaps] == [("orders-0", GapReason.NOT_AUTHORIZED)]


def test_a_range_too_long_to_read_has_no_count(cluster):
    cluster.on(1, ApiKey.FETCH, leader_with([(offset, data(offset, 1)) for offset in range(100)]))
    assert hidden(cluster, topic(ORDERS, 0, 100)).value == ()


def test_bytes_that_are_not_a_batch_are_a_gap(cluster):
    cluster.on(1, ApiKey.FETCH, leader_with([(9, b"\0" * 80)]))
    answer = hidden(cluster, topic(ORDERS, 2, 10))
    assert answer.value == ()
    assert [gap.reason for gap in answer.gaps] == [GapReason.BROKER_ERROR]


def state_record(state, epoch, partitions=()):
    value = transaction_log.TransactionValue(
        producer_id=9,
        producer_epoch=epoch,
        transaction_timeout_ms=60_000,
        transaction_status=state,
        transaction_partitions=partitions,
        transaction_last_update_timestamp_ms=2_000,
        transaction_start_timestamp_ms=1_500,
    )
    return transaction_log.encode_value(value, 1)


def test_the_log_shows_the_history_of_an_id(cluster):
    key = transaction_log.encode_key(transaction_log.TransactionKey("app"))
    records = [Record(0, 2_000, key, state_record(1, 4)), Record(1, 2_100, key, None)]
    cluster.on(1, ApiKey.FETCH, leader_with([(1, encode_batch(records, base_offset=0, partition_leader_epoch=6))]))
    (info,) = topic(STATE, 2, 2).partitions
    answer = asyncio.run(collect_history(ReadOnly(cluster), [info]))
    ongoing, expired = answer.value
    assert (ongoing.transactional_id, ongoing.state, ongoing.producer_epoch) == ("app", "Ongoing", 4)
    assert (ongoing.coordinator_epoch, ongoing.written_at_ms, ongoing.start_time_ms) == (6, 2_000, 1_500)
    assert (expired.state, expired.offset) == ("", 1)
    assert answer.gaps == ()


def test_only_the_newest_part_of_the_log_is_read(cluster):
    key = transaction_log.encode_key(transaction_log.TransactionKey("app"))
    batches = [
        (offset, encode_batch([Record(0, 2_000, key, state_record(0, offset))], base_offset=offset))
        for offset in range(20)
    ]
    cluster.on(1, ApiKey.FETCH, leader_with(batches))
    (info,) = topic(STATE, 20, 20).partitions
    answer = asyncio.run(collect_history(ReadOnly(cluster), [info], records_per_partition=5))
    assert [entry.offset for entry in answer.value] == [15, 16, 17, 18, 19]


def test_one_reason_for_all_partitions_is_said_once(cluster):
    cluster.on(1, ApiKey.FETCH, leader_with([], ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    partitions = [topic(TopicPartition("__transaction_state", i), 5, 5).partitions[0] for i in range(50)]
    answer = asyncio.run(collect_history(ReadOnly(cluster), partitions))
    assert len(answer.gaps) == 1


def damaged(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 0xFF])


def test_a_damaged_record_of_the_log_ends_its_history(cluster):
    key = transaction_log.encode_key(transaction_log.TransactionKey("app"))
    batches = [encode_batch([Record(0, 2_000, key, state_record(0, at))], base_offset=at) for at in range(4)]
    sent = batches[0] + batches[1] + damaged(batches[2]) + batches[3]
    cluster.on(1, ApiKey.FETCH, leader_with([(1, sent), (3, damaged(batches[2]) + batches[3])]))
    partitions = [topic(TopicPartition("__transaction_state", i), 4, 4).partitions[0] for i in range(2)]
    answer = asyncio.run(collect_history(ReadOnly(cluster), partitions))
    assert [(entry.log_partition, entry.offset) for entry in answer.value] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    found = [(gap.subject, gap.error, gap.detail) for gap in answer.gaps]
    assert found == [
        (f"__transaction_state-{i}", "CORRUPT_MESSAGE", "The batch at offset 2 fails its checksum.") for i in range(2)
    ]


def test_a_log_that_ends_early_is_a_gap(cluster):
    key = transaction_log.encode_key(transaction_log.TransactionKey("app"))
    cluster.on(1, ApiKey.FETCH, leader_with([(0, encode_batch([Record(0, 2_000, key, state_record(0, 0))]))]))
    answer = asyncio.run(collect_history(ReadOnly(cluster), [topic(STATE, 3, 3).partitions[0]]))
    assert len(answer.value) == 1
    assert [gap.detail for gap in answer.gaps] == [
        "The leader sent no batch from offset 1 on; the high watermark is 3."
    ]


def test_damaged_hidden_records_are_not_counted(cluster):
    cluster.on(1, ApiKey.FETCH, leader_with([(4, damaged(data(2, 3)))]))
    answer = hidden(cluster, topic(ORDERS, 2, 5))
    assert (answer.value, [gap.error for gap in answer.gaps]) == ((), ["CORRUPT_MESSAGE"])


@pytest.mark.parametrize(
    ("batches", "reason", "detail"),
    [
        ([(2, data(0, 3)), (5, data(3, 3))], None, ""),
        ([(2, data(0, 3))], GapReason.BROKER_ERROR, "The leader sent no batch from offset 3 on"),
        ([], GapReason.BROKER_ERROR, "The leader sent no batch from offset 1 on"),
        ([(5, b"\0" * 80)], GapReason.BROKER_ERROR, ""),
        ([(offset, data(offset, 1)) for offset in range(6)], GapReason.NOT_COLLECTED, "offsets 4 to 5 were not read"),
    ],
    ids=["all", "cut-off", "nothing", "damaged", "too-many"],
)
def test_what_was_not_read_of_a_log_is_a_gap(cluster, batches, reason, detail):
    cluster.on(1, ApiKey.FETCH, leader_with(batches))
    (info,) = topic(ORDERS, 6, 6).partitions
    read: list[FetchedBatch] = []
    take = read.append
    gaps = asyncio.run(read_batches(ReadOnly(cluster), EvidenceKind.OFFSETS, info, 1, take, most_fetches=3))
    assert [gap.reason for gap in gaps] == ([] if reason is None else [reason])
    assert all(detail in gap.detail for gap in gaps)
    offsets = [record.offset for batch in read for record in batch.records()]
    assert offsets == list(range(1, len(offsets) + 1))
    assert reason is not None or len(offsets) == 5


@pytest.mark.parametrize(("throttled", "gaps"), [(3, 0), (1_000, 1)])
def test_fetches_emptied_by_a_quota_are_repeated(cluster: Any, throttled: int, gaps: int) -> None:
    """A broker that throttles a client sends no topics at all, with an error of none."""
    answers = [fetch.FetchResponse(throttle_time_ms=500)] * throttled
    leader = leader_with([(0, data(0, 1))])
    cluster.on(1, ApiKey.FETCH, lambda request: answers.pop() if answers else leader(request))
    taken: list[FetchedBatch] = []
    info = PartitionInfo(ORDERS, 1, 0, (1,), (1,), (), 0, 1, 1)
    found = asyncio.run(read_batches(ReadOnly(cluster), EvidenceKind.OFFSETS, info, 0, taken.append))
    assert (len(taken), len(found)) == (1 - gaps, gaps)
    assert [("quota" in gap.detail, "quota" in gap.next_step) for gap in found] == [(True, True)] * gaps
