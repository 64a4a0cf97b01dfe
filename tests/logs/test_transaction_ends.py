"""Transactions whose ends and begins are refused: empty ones, ones that are still being completed, and shared ids."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.severity import Severity
from tests.logs.judging import judge

RUST = "[2026-04-02T06:07:{:02}Z {} rdkafka::client] librdkafka: {}\n"
BEGUN = "TXNSTATE [thrd:main]: Transaction state change Ready -> InTransaction"
ENDED = (
    "Failed to end transaction: Broker: Producer attempted a transactional operation in an invalid state"
    " (INVALID_TXN_STATE)"
)
REFUSED = f"TXNERR [thrd:main]: Fatal transaction error: {ENDED}"


def ended_after(seconds: int) -> str:
    return (
        "[2026-04-02T06:07:01Z INFO  toll] transactions initialized, id=toll-relay-7\n"
        + RUST.format(2, "DEBUG", BEGUN)
        + RUST.format(2 + seconds, "DEBUG", "ENDTXN [thrd:main]: EndTxn returned INVALID_TXN_STATE in state Committing")
        + RUST.format(2 + seconds, "ERROR", REFUSED)
        + f"[2026-04-02T06:07:{2 + seconds:02}Z ERROR toll] commit_transaction failed: Transaction error: {ENDED}\n"
    )


def test_a_transaction_that_just_began_was_empty(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"toll.log": ended_after(1)})
    assert (one.kind, one.root_cause) == ("transaction_request_refused", "transaction-not-open")
    assert one.subject["transactional.id"] == "toll-relay-7"
    assert "only 1 s before" in one.explanation and "it had not timed out" in one.explanation
    assert "times)" not in one.explanation


def test_an_older_transaction_may_have_timed_out(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"toll.log": ended_after(40)})
    assert one.root_cause == "transaction-not-open"
    assert "it had timed out" in one.explanation


def test_a_stated_timeout_decides_about_an_older_one(tmp_path: Path) -> None:
    stated = "[2026-04-02T06:07:01Z INFO  toll] transaction.timeout.ms=45000 transaction begun\n"
    (one,) = judge(tmp_path, {"toll.log": stated + ended_after(40)})
    assert one.root_cause == "transaction-not-open"
    assert one.severity is Severity.ERROR


JS = '{{"level":"{}","timestamp":"2026-04-02T06:07:{:06.3f}Z","logger":"{}","message":"{}"{}}}\n'
BUSY = "The producer attempted to update a transaction while another concurrent operation on the same transaction was"
BUSY += " ongoing"


def attempt(second: float) -> str:
    answer = f',"broker":"k-1:9092","clientId":"till","error":"{BUSY}","correlationId":5,"size":44'
    return JS.format(
        "ERROR", second, "kafkajs", "[Connection] Response AddPartitionsToTxn(key: 24, version: 1)", answer
    ) + (
        JS.format("ERROR", second + 0.001, "kafkajs", f"[Producer] Failed to send messages: {BUSY}", ',"retryCount":0')
    )


def test_a_begin_that_a_library_repeats_is_harmless(tmp_path: Path) -> None:
    start = JS.format("INFO", 1, "till", "producer connected txId=till-tx-4", "")
    end = JS.format("INFO", 30, "till", "closed 9 drawers", "")
    (one,) = judge(tmp_path, {"till.json": start + attempt(2) + attempt(4) + end})
    assert (one.severity, one.root_cause) == (Severity.INFO, "repeated-until-completed")
    assert one.subject["transactional.id"] == "till-tx-4"
    assert "(2 times)" in one.explanation


def test_a_begin_that_is_refused_to_the_end_is_not(tmp_path: Path) -> None:
    start = JS.format("INFO", 1, "till", "producer connected txId=till-tx-4", "")
    (one,) = judge(tmp_path, {"till.json": start + "".join(attempt(second) for second in (10, 25, 40, 50))})
    assert one.severity is Severity.ERROR
    assert "its log ends there" in one.explanation


FAUST = "[2026-04-02 {},000: {}]: {} \n"
TAKEN = "[^--Consumer]: Crashed reason=ProducerFenced('There is a newer producer using the same transactional_id.')"


def worker(group: str, joined: str, fenced: str) -> str:
    return (
        FAUST.format(joined, "INFO", f"Successfully joined group {group} with generation 4")
        + FAUST.format(fenced, "ERROR", "Producer for transactional id '0-3' fenced")
        + FAUST.format(fenced, "ERROR", TAKEN)
    )


def test_programs_of_two_groups_share_an_id(tmp_path: Path) -> None:
    first, second = worker("tolls", "06:00:00", "07:00:10"), worker("fines", "07:00:04", "07:01:30")
    for name, files in (("pasted", {"a.log": first + second}), ("apart", {"a/w.log": first, "b/w.log": second})):
        (one,) = judge(tmp_path / name, files)
        assert one.root_cause == "duplicate-transactional-id"
        assert (one.subject["transactional.id"], one.subject["groups"]) == ("0-3", ("fines", "tolls"))
        assert one.confidence > 0.8


def test_one_program_with_two_groups_is_not_two(tmp_path: Path) -> None:
    later = FAUST.format("07:00:20", "INFO", "Successfully joined group fines with generation 4")
    text = worker("tolls", "06:00:00", "07:00:10") + later + FAUST.format("07:01:30", "ERROR", TAKEN)
    found = judge(tmp_path, {"a.log": text})
    assert all("groups" not in one.subject for one in found)
