"""Producer state: every rule of the table in Kafka's ProducerStateManager, and the last stable offset as a property."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.log.producer_state import MAX_SEQUENCE, AbortedTransaction, ProducerStateManager
from eosctl.wire.error_codes import ErrorCode

PRODUCER = 7


def manager(*batches: tuple[int, int, int]) -> ProducerStateManager:
    """Build state from (epoch, first sequence, record count) batches, offsets from 0 on."""
    producers = ProducerStateManager()
    offset = 0
    for epoch, sequence, count in batches:
        last = (sequence + count - 1) & MAX_SEQUENCE
        producers.apply_data(PRODUCER, epoch, last, offset, offset + count - 1, 1000 + offset, False)
        offset += count
    return producers


def check(producers: ProducerStateManager, epoch: int, sequence: int, *, transactional: bool = False) -> ErrorCode:
    return producers.check_data(PRODUCER, epoch, sequence, transactional=transactional, check_sequence=True)


@pytest.mark.parametrize(
    ("known", "epoch", "sequence", "expected"),
    [
        ((), 0, 0, ErrorCode.NONE),
        ((), 0, 99, ErrorCode.NONE),  # nothing known: any sequence
        (((0, 0, 2),), 0, 2, ErrorCode.NONE),
        (((0, 0, 2),), 0, 3, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (((0, 0, 2),), 0, 0, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (((0, MAX_SEQUENCE, 1),), 0, 0, ErrorCode.NONE),
        (((0, MAX_SEQUENCE - 1, 3),), 0, 1, ErrorCode.NONE),
        (((1, 0, 1),), 0, 1, ErrorCode.INVALID_PRODUCER_EPOCH),
        (((1, 0, 1),), 2, 0, ErrorCode.NONE),
        (((1, 0, 1),), 2, 1, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ],
)
def test_sequences_and_epochs(
    known: tuple[tuple[int, int, int], ...], epoch: int, sequence: int, expected: ErrorCode
) -> None:
    assert check(manager(*known), epoch, sequence) is expected


def test_a_refused_check_leaves_no_trace() -> None:
    producers = manager((0, 0, 1))
    before = (producers.producers[PRODUCER].producer_epoch, producers.producers[PRODUCER].batches)
    assert check(producers, 5, 3) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert (producers.producers[PRODUCER].producer_epoch, producers.producers[PRODUCER].batches) == before


def test_the_last_five_batches_are_recognized() -> None:
    producers = manager(*((0, number, 1) for number in range(7)))
    entry = producers.producers[PRODUCER]
    assert [entry.duplicate_of(0, number, number) is not None for number in range(7)] == [False] * 2 + [True] * 5
    assert entry.duplicate_of(1, 6, 6) is None
    assert entry.duplicate_of(0, 5, 6) is None
    duplicate = entry.duplicate_of(0, 4, 4)
    assert duplicate is not None
    assert duplicate.first_offset == 4


def test_a_new_epoch_forgets_the_batches_before() -> None:
    producers = manager((0, 0, 1), (1, 0, 1))
    assert producers.producers[PRODUCER].duplicate_of(0, 0, 0) is None
    assert len(producers.producers[PRODUCER].batches) == 1


def test_a_plain_batch_inside_an_open_transaction_is_refused() -> None:
    producers = ProducerStateManager()
    producers.apply_data(PRODUCER, 0, 0, 0, 0, 0, True)
    assert check(producers, 0, 1) is ErrorCode.INVALID_TXN_STATE
    assert check(producers, 0, 1, transactional=True) is ErrorCode.NONE


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "version", "is_open", "expected"),
    [
        (0, 3, 0, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (1, 3, 0, True, ErrorCode.NONE),
        (2, 3, 0, True, ErrorCode.NONE),
        (1, 2, 0, True, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        (1, 4, 0, False, ErrorCode.NONE),
        (1, 3, 2, True, ErrorCode.INVALID_PRODUCER_EPOCH),  # KIP-1228: must be higher
        (2, 3, 2, True, ErrorCode.NONE),
        (1, 3, 2, False, ErrorCode.NONE),  # KAFKA-19999: sent again after the end
    ],
)
def test_markers(epoch: int, coordinator_epoch: int, version: int, is_open: bool, expected: ErrorCode) -> None:
    producers = ProducerStateManager()
    producers.apply_marker(PRODUCER, 1, 3, 0, 0, committed=True)
    if is_open:
        producers.apply_data(PRODUCER, 1, 0, 1, 1, 0, True)
    assert producers.check_marker(PRODUCER, epoch, coordinator_epoch, version) is expected


def test_a_marker_completes_what_is_open_and_nothing_else() -> None:
    producers = ProducerStateManager()
    assert producers.apply_marker(PRODUCER, 0, 1, 0, 0, committed=False) is None
    producers.apply_data(PRODUCER, 0, 0, 1, 2, 0, True)
    aborted = producers.apply_marker(PRODUCER, 1, 1, 3, 0, committed=False)
    assert aborted == AbortedTransaction(PRODUCER, 1, 3)
    assert producers.producers[PRODUCER].producer_epoch == 1
    assert not producers.has_open_transaction(PRODUCER)


def test_a_guard_holds_until_the_first_append_or_a_marker() -> None:
    producers = ProducerStateManager()
    guard = producers.begin_verification(PRODUCER, 0, 5)
    assert producers.is_verified(PRODUCER, guard)
    assert not producers.is_verified(PRODUCER, None)
    assert producers.begin_verification(PRODUCER, 0, 3) is guard
    # The lowest sequence that was verified must come first.
    assert check(producers, 0, 5, transactional=True) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert check(producers, 0, 3, transactional=True) is ErrorCode.NONE
    producers.apply_marker(PRODUCER, 0, 0, 0, 0, committed=False)
    assert not producers.is_verified(PRODUCER, guard)
    again = producers.begin_verification(PRODUCER, 0, 0)
    assert again is not guard
    producers.apply_data(PRODUCER, 0, 0, 1, 1, 0, True)
    assert not producers.is_verified(PRODUCER, again)


@pytest.mark.parametrize(
    ("adds_partition", "marker_epoch", "holds"), [(True, 1, True), (True, 0, False), (False, 1, False)]
)
def test_a_marker_with_the_next_epoch_keeps_the_guard(adds_partition: bool, marker_epoch: int, holds: bool) -> None:
    producers = ProducerStateManager()
    guard = producers.begin_verification(PRODUCER, 1, 0, adds_partition=adds_partition)
    producers.apply_marker(PRODUCER, marker_epoch, 0, 0, 0, committed=True)
    assert producers.is_verified(PRODUCER, guard) is holds


def test_idle_producers_expire_without_an_open_transaction() -> None:
    producers = ProducerStateManager()
    producers.apply_data(1, 0, 0, 0, 0, 100, False)
    producers.apply_data(2, 0, 0, 1, 1, 100, True)
    producers.apply_data(3, 0, 0, 2, 2, 900, False)
    assert producers.expire(1000, 500) == 1
    assert sorted(producers.producers) == [2, 3]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["data", "commit", "abort", "replicate"])), max_size=40))
def test_the_first_unstable_offset_is_the_oldest_transactions(
    events: list[tuple[int, str]],
) -> None:
    producers = ProducerStateManager()
    offset = high_watermark = 0
    unfinished: dict[int, int] = {}  # producer -> first offset
    unreplicated: list[tuple[int, int]] = []  # (first offset, marker offset)
    for producer, kind in events:
        if kind == "data":
            producers.apply_data(producer, 0, offset, offset, offset, 0, True)
            unfinished.setdefault(producer, offset)
            offset += 1
        elif kind == "replicate":
            high_watermark = offset
            producers.high_watermark_reached(high_watermark)
            unreplicated = [pair for pair in unreplicated if pair[1] >= high_watermark]
        else:
            first = unfinished.pop(producer, None)
            aborted = producers.apply_marker(producer, 0, 0, offset, 0, committed=kind == "commit")
            assert (aborted is None) == (first is None or kind == "commit")
            if first is not None:
                unreplicated.append((first, offset))
            if aborted is not None:
                assert producers.last_stable_offset_after(aborted) == min(unfinished.values(), default=offset + 1)
            offset += 1
        wanted = [*unfinished.values(), *(first for first, _ in unreplicated)]
        assert producers.first_unstable_offset() == min(wanted, default=None)
