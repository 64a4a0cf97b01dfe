"""Who ended the transaction: each verdict with the trace that refutes it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from eosctl.analysis.fencing import find_fencings
from eosctl.model.fencing import AbortedRange, FencingCause, FencingEvent
from eosctl.model.history import TransactionLogEntry
from eosctl.model.verdict import Confidence
from tests.analysis.recorded import history
from tests.analysis.scenes import NOW_MS, ORDERS_0, ORDERS_1, entry, look, snapshot, transaction

FENCED = (
    entry("Empty", 0),
    entry("Ongoing", 1),
    entry("PrepareAbort", 2, epoch=1),
    entry("CompleteAbort", 3, epoch=1),
    entry("Empty", 4, epoch=2),
)


def at_level_2(records: Iterable[TransactionLogEntry]) -> tuple[TransactionLogEntry, ...]:
    return tuple(replace(record, client_transaction_version=2) for record in records)


def fencings(*records: TransactionLogEntry, **fields: object) -> tuple[FencingEvent, ...]:
    return find_fencings(snapshot(transaction_history=records, **fields))


def test_newer_instance() -> None:
    (event,) = fencings(*FENCED)
    assert event.cause is FencingCause.NEWER_INSTANCE
    assert event.confidence is Confidence.CERTAIN
    assert (event.fenced_epoch, event.abort_epoch, event.successor_epoch) == (0, 1, 2)
    assert event.log_offsets == (1, 2, 3, 4)
    assert [fact.source for fact in event.evidence] == [f"__transaction_state-0 offset {n}" for n in (1, 2, 3, 4)]


def test_successor_that_has_not_come_back_yet() -> None:
    (event,) = fencings(*FENCED[:4])
    assert (event.cause, event.successor_epoch) == (FencingCause.NEWER_INSTANCE, None)


def test_producer_that_aborts_by_itself_is_not_fenced() -> None:
    assert fencings(entry("Ongoing", 1), entry("PrepareAbort", 2), entry("CompleteAbort", 3)) == ()


def test_restart_after_a_commit_is_not_a_fencing() -> None:
    assert fencings(entry("Ongoing", 1), entry("PrepareCommit", 2), entry("CompleteCommit", 3),
                    entry("Empty", 4, epoch=1)) == ()  # fmt: skip


def test_timeout() -> None:
    late = {"written_at_ms": NOW_MS - 600_000 + 60_100}
    (event,) = fencings(entry("Ongoing", 1), entry("PrepareAbort", 2, epoch=1, **late))
    assert event.cause is FencingCause.TIMEOUT


def test_admin_fence_leaves_its_timeout() -> None:
    (event,) = fencings(*FENCED[:4], entry("Empty", 4, epoch=2, timeout_ms=1))
    assert event.cause is FencingCause.ADMIN_FENCE


class TestLevel2:
    """Every end of a transaction raises the epoch, so less can be known."""

    def test_init_right_behind_the_abort_may_be_a_fencing(self) -> None:
        (event,) = fencings(*at_level_2(FENCED))
        assert (event.cause, event.confidence) == (FencingCause.NEWER_INSTANCE, Confidence.POSSIBLE)

    def test_init_much_later_is_a_restart(self) -> None:
        later = replace(FENCED[4], written_at_ms=FENCED[3].written_at_ms + 5_000)
        assert fencings(*at_level_2((*FENCED[:4], later))) == ()

    def test_next_transaction_of_the_same_producer_is_not_a_fencing(self) -> None:
        assert fencings(*at_level_2((*FENCED[:4], entry("Ongoing", 4, epoch=1)))) == ()

    def test_client_below_the_level_is_fenced_for_certain(self) -> None:
        records = (FENCED[0], FENCED[1], *at_level_2(FENCED[2:]))
        (event,) = fencings(*records)
        assert event.confidence is Confidence.CERTAIN


def test_truncated_records_show_nothing() -> None:
    for start in range(2, len(FENCED)):
        assert fencings(*FENCED[start:]) == ()


def test_coordinator_and_aborted_ranges_are_joined() -> None:
    mine = AbortedRange(ORDERS_0, 7, 17, 25, producer_epoch=1)
    other_abort = AbortedRange(ORDERS_0, 7, 2, 9, producer_epoch=0)
    other_partition = AbortedRange(ORDERS_1, 7, 3, 4, producer_epoch=1)
    (event,) = fencings(
        *FENCED,
        aborted_ranges=(other_abort, mine, other_partition),
        looks=(look(None, [transaction("Empty", coordinator_id=3, producer_epoch=2)]),),
    )
    assert event.aborted_ranges == (mine,)
    assert event.coordinator_id == 3


@pytest.mark.parametrize(
    ("case", "confidence"),
    [
        ("k431-tv2-state-log-live", Confidence.POSSIBLE),
        ("k431-tv1-librdkafka-state-log-live", Confidence.CERTAIN),
    ],
)
def test_recorded_logs_of_many_ids_name_only_the_fenced_one(case: str, confidence: Confidence) -> None:
    records = history(case)
    assert len({record.transactional_id for record in records}) > 10
    (event,) = find_fencings(snapshot(transaction_history=records))
    assert (event.transactional_id, event.cause) == ("fence-dev", FencingCause.NEWER_INSTANCE)
    assert event.confidence is confidence
