"""When a COMMIT marker may be written: each case differs from the permitted one in a single fact."""

import pytest
from msgspec.structs import replace

from eosctl.analysis.skipped_marker import MarkerSearch, find_decision
from eosctl.analysis.state_log import history_by_id
from eosctl.model.hang import OpenTransaction
from eosctl.model.snapshot import Topic
from tests.analysis.scenes import (
    KAFKA_3_9,
    KAFKA_4_3,
    ORDERS_0,
    ORDERS_1,
    broker,
    entry,
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


def decide(*entries, transaction=HUNG, info=LED_AGAIN, ranges=KAFKA_4_3, search=None):
    evidence = snapshot(
        brokers=(broker(api_ranges=ranges),),
        topics=(Topic("orders", "id", False, (info, partition(ORDERS_1))), state_topic()),
        transaction_history=entries,
    )
    return find_decision(transaction, evidence, history_by_id(evidence), search)


def tv2(**fields):
    return entry("PrepareCommit", 5, epoch=1, client_transaction_version=2, **fields)


def test_the_decision_of_this_very_transaction_is_found():
    decision = decide(tv2())
    assert decision.refusal == ""
    assert decision.record.offset == 5
    assert "offset 5" in decision.evidence[0].value


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"entries": [entry("PrepareAbort", 5, epoch=1, client_transaction_version=2)]}, "decided to abort"),
        ({"entries": []}, "cannot be read"),
        ({"entries": [tv2(partitions=(ORDERS_1,))]}, "cannot be read"),
        ({"entries": [tv2(producer_id=8)]}, "cannot be read"),
        ({"entries": [replace(tv2(), producer_epoch=0)]}, "another transaction"),
        ({"entries": [replace(tv2(), producer_epoch=2)]}, "another transaction"),
        ({"transaction": replace(HUNG, coordinator_state="Ongoing")}, "not Complete"),
        ({"transaction": replace(HUNG, coordinator_state="PrepareCommit")}, "not touched"),
        ({"transaction": replace(HUNG, first_offset=60)}, "came after"),
        ({"info": partition(leader_epoch=0)}, "came after"),
        ({"ranges": KAFKA_3_9}, "came after"),
    ],
)
def test_one_other_fact_and_it_is_refused(case, words):
    decision = decide(*case.pop("entries", [tv2()]), **case)
    assert words in decision.refusal


def test_below_tv2_the_partition_must_hold_no_marker_since_the_decision():
    record = entry("PrepareCommit", 5)
    assert decide(record).needs_search
    assert decide(record, search=MarkerSearch(30, 40, True)).refusal == ""
    assert "offset 39" in decide(record, search=MarkerSearch(30, 40, True, 39)).refusal
    assert "could not be read" in decide(record, search=MarkerSearch(30, 40, False)).refusal
    assert "another transaction" in decide(replace(record, producer_epoch=1)).refusal
