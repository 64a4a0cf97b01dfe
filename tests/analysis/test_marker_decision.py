"""Which marker ends a hanging transaction: each case differs from the one above it in a single fact."""

import pytest
from msgspec.structs import replace

from eosctl.analysis.marker_decision import Marker, decide_marker
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import OpenTransaction
from eosctl.model.marker_search import MarkerSearch, ProducerMarker
from eosctl.model.snapshot import Topic
from tests.analysis.scenes import (
    KAFKA_3_9,
    KAFKA_4_3,
    NOW_MS,
    ORDERS_0,
    ORDERS_1,
    broker,
    entry,
    gap,
    partition,
    snapshot,
    state_topic,
)

HUNG = OpenTransaction(
    partition=ORDERS_0,
    broker_id=1,
    producer_id=7,
    producer_epoch=0,
    coordinator_epoch=0,
    first_offset=40,
    last_timestamp_ms=0,
    transactional_id="app",
    coordinator_state="CompleteCommit",
)
LED_AGAIN = partition(leader_epoch=2, leader_epoch_start_offset=60)
T0 = NOW_MS - 600_000


def decide(*entries, transaction=HUNG, info=LED_AGAIN, ranges=KAFKA_4_3, search=None, **fields):
    evidence = snapshot(
        brokers=(broker(api_ranges=ranges),),
        topics=(Topic("orders", "id", False, (info, partition(ORDERS_1))), state_topic()),
        transaction_history=entries,
        marker_searches=() if search is None else (search,),
        **fields,
    )
    return decide_marker(transaction, evidence, evidence.history_by_id, ids_may_be_hidden=False)


def tv2(state="PrepareCommit", epoch=1, **fields):
    return entry(state, 5, epoch=epoch, client_transaction_version=2, **fields)


@pytest.mark.parametrize("ranges", [KAFKA_3_9, KAFKA_4_3])
def test_the_decision_of_this_very_transaction_is_found(ranges):
    decision = decide(tv2(), ranges=ranges)
    assert decision.marker is Marker.COMMIT
    assert decision.record.offset == 5
    assert "offset 5" in decision.evidence[0].value


@pytest.mark.parametrize(
    ("case", "marker", "words"),
    [
        ({"entries": [tv2("PrepareAbort")]}, Marker.ABORT, "decided to abort"),
        ({"entries": []}, Marker.UNKNOWN, "does not show"),
        ({"entries": [tv2(partitions=(ORDERS_1,))]}, Marker.UNKNOWN, "does not show"),
        ({"entries": [replace(tv2(), producer_epoch=2)]}, Marker.UNKNOWN, "does not show"),
        ({"entries": [entry("Empty", 1), tv2(partitions=(ORDERS_1,))]}, Marker.ABORT, "all decisions"),
        ({"entries": [entry("Empty", 1, producer_id=3), tv2(epoch=2)]}, Marker.ABORT, "all decisions"),
        ({"gaps": (gap(EvidenceKind.TRANSACTION_HISTORY, "*"),)}, Marker.UNKNOWN, "not read completely"),
        ({"transaction": replace(HUNG, coordinator_state="Ongoing", coordinator_producer_epoch=0)},
         Marker.NEITHER, "another transaction open"),
        ({"transaction": replace(HUNG, coordinator_state="PrepareCommit")}, Marker.NEITHER, "not touched"),
        ({"transaction": replace(HUNG, coordinator_state="Empty", coordinator_producer_epoch=2)}, Marker.COMMIT, ""),
        ({"transaction": replace(HUNG, first_offset=60)}, Marker.ABORT, "arrived after"),
        ({"info": partition(leader_epoch=0)}, Marker.ABORT, "arrived after"),
    ],
)  # fmt: skip
def test_one_other_fact_and_it_is_another_marker(case, marker, words):
    decision = decide(*case.pop("entries", [tv2()]), **case)
    assert decision.marker is marker
    assert words in decision.why


def ended(number, *, first=0, start=0, length=50, state="Commit"):
    """One transaction below TV2: begun ``start`` ms after T0, decided ``length`` ms later, complete after 4 more."""
    facts = {"start_time_ms": T0 + start}
    at = T0 + start + length
    return (
        entry("Ongoing", first, written_at_ms=T0 + start, **facts),
        entry(f"Prepare{state}", first + 1, written_at_ms=at, **facts),
        entry(f"Complete{state}", first + 2, written_at_ms=at + 4, **facts),
    )


def found(*markers, complete=True, since=-10_000_000):
    """Markers as (ms after T0 by the leader's clock, committed)."""
    written = [ProducerMarker(10 + i, T0 + at, committed) for i, (at, committed) in enumerate(markers)]
    return MarkerSearch(ORDERS_0, 7, T0 + since, 5, 40, complete, tuple(written))


EMPTY = entry("Empty", 0, written_at_ms=T0 - 20)
FIRST = ended(1, first=1, start=0)
SECOND = ended(2, first=4, start=100)
FAR = ended(2, first=4, start=30_000)


@pytest.mark.parametrize(
    ("name", "entries", "search", "marker"),
    [
        ("not searched", [EMPTY, *FIRST], None, Marker.UNKNOWN),
        ("not read", [EMPTY, *FIRST], found((52, True), complete=False), Marker.UNKNOWN),
        ("delivered", [EMPTY, *FIRST], found((52, True)), Marker.ABORT),
        ("never delivered", [EMPTY, *FIRST], found(), Marker.COMMIT),
        ("the leader's clock is 10 minutes behind", [EMPTY, *FIRST], found((52 - 600_000, True)), Marker.ABORT),
        ("the leader's clock is 3 s ahead", [EMPTY, *FIRST], found((3_052, True)), Marker.ABORT),
        ("both delivered", [EMPTY, *FIRST, *SECOND], found((52, True), (152, True)), Marker.ABORT),
        ("the second is missing", [EMPTY, *FIRST, *SECOND], found((52, True)), Marker.COMMIT),
        ("the second is missing, clock 100 ms ahead", [EMPTY, *FIRST, *SECOND], found((152, True)), Marker.COMMIT),
        ("an earlier one was lost as well", [EMPTY, *FIRST, *SECOND], found(), Marker.COMMIT),
        ("log cut, transactions far apart", [*FIRST, *FAR], found((52, True), (30_052, True)), Marker.ABORT),
        ("log cut, the last is missing", [*FIRST, *FAR], found((52, True)), Marker.COMMIT),
        ("log cut, and equal distances", [*FIRST, *SECOND], found((152, True)), Marker.UNKNOWN),
        ("log cut, one aborted: its marker is the last", [*ended(1, first=1, state="Abort"), *SECOND],
         found((52, False)), Marker.COMMIT),
        ("log cut, one aborted: the commit's is the last", [*ended(1, first=1, state="Abort"), *SECOND],
         found((52, False), (152, True)), Marker.ABORT),
        ("only the last is known, marker long before", FAR, found((52, True)), Marker.COMMIT),
        ("only the last is known, marker right after", FAR, found((30_052, True)), Marker.UNKNOWN),
    ],
)  # fmt: skip
def test_below_tv2_markers_decide(name, entries, search, marker):
    decision = decide(*entries, search=search)
    assert decision.marker is marker, name
    assert (decision.search_since_ms is not None) == (search is None)


def test_irregular_transactions_need_no_whole_log():
    starts = [0, 130, 190, 420, 500, 780]
    entries = [e for i, at in enumerate(starts) for e in ended(i, first=3 * i, start=at)]
    markers = [(at + 52, True) for at in starts]
    assert decide(*entries, search=found(*markers)).marker is Marker.ABORT
    assert decide(*entries, search=found(*markers[:-1])).marker is Marker.COMMIT


def test_a_timeout_aborts_with_the_next_epoch():
    timed_out = entry("PrepareAbort", 5, epoch=1)
    assert decide(entry("CompleteCommit", 3), timed_out).marker is Marker.ABORT
