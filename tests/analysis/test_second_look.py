"""When one reading is enough, and that it then says what two would say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.second_look import doubt_of, holds_something_long
from eosctl.model.hang import HangStatus
from eosctl.model.limits import Limits
from eosctl.model.transaction import ProducerState, Transaction
from tests.analysis.scenes import NOW_MS, ORDERS_1, look, producer, snapshot, transaction, two_reads

#: The end of a reading that takes 20 ms and begins at NOW_MS.
SEEN_MS = NOW_MS + 20


def test_what_an_ongoing_transaction_holds_leaves_no_doubt() -> None:
    assert not any(doubt_of(look([producer()], [transaction()])))
    assert not any(doubt_of(look([producer(since=None)], [transaction("Empty")])))
    assert not any(doubt_of(look([], [])))


@pytest.mark.parametrize(
    ("seen", "known"),
    [
        (producer(), None),
        (producer(), transaction("CompleteCommit")),
        (producer(), transaction("PrepareCommit")),
        (producer(), transaction(partitions=(ORDERS_1,))),
        (producer(), transaction(producer_epoch=1)),
        (producer(epoch=1), transaction()),
        (producer(), transaction(described=False)),
        (producer(), transaction("SomethingNew")),
        (producer(since=None), transaction("PrepareAbort")),
        (producer(since=None), transaction("SomethingNew")),
        (producer(since=None), transaction(start_time_ms=None)),
        (producer(), transaction(start_time_ms=SEEN_MS - 60_000)),
    ],
)
def test_anything_else_does(seen: ProducerState, known: Transaction | None) -> None:
    assert any(doubt_of(look([seen], [] if known is None else [known])))


def test_a_transaction_is_long_open_from_the_limit_on() -> None:
    limit_ms = Limits().long_running_transaction_ms
    young = transaction(start_time_ms=SEEN_MS - limit_ms + 1, timeout_ms=900_000)
    assert not holds_something_long(look([producer()], [young]))
    old = replace(young, start_time_ms=SEEN_MS - limit_ms)
    assert holds_something_long(look([producer()], [old]))
    assert not holds_something_long(look([producer()], [replace(old, state="CompleteCommit")]))


STATES = st.sampled_from(
    ["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "SomethingNew"]
)
TRANSACTIONS = st.builds(
    transaction,
    STATES,
    producer_id=st.sampled_from([7, 8]),
    producer_epoch=st.integers(0, 2),
    start_time_ms=st.none() | st.integers(NOW_MS - 200_000, NOW_MS),
    partitions=st.sampled_from([(), (ORDERS_1,), transaction().partitions]),
    described=st.booleans(),
)
PRODUCERS = st.builds(producer, st.sampled_from([7, 8]), st.integers(0, 2), st.none() | st.integers(0, 99))


@given(st.lists(PRODUCERS, max_size=2, unique_by=lambda p: p.producer_id), st.none() | TRANSACTIONS)
def test_without_doubt_one_reading_equals_two(seen: list[ProducerState], known: Transaction | None) -> None:
    transactions = [] if known is None else [known]
    first = look(seen, transactions)
    if any(doubt_of(first)):
        return
    one = classify_open_transactions(snapshot(first))
    two = classify_open_transactions(two_reads(seen, transactions))
    assert [(v.transaction.producer_id, v.status, v.cause) for v in one] == [
        (v.transaction.producer_id, v.status, v.cause) for v in two
    ]
    assert {v.status for v in one} <= {HangStatus.OPEN, HangStatus.LONG_RUNNING}
    if not holds_something_long(first):
        assert {v.status for v in one} <= {HangStatus.OPEN}
