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
    assert (one.kind, one.root_cause) == ("transaction_request_refused", "empty-transaction")
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
    assert one.root_cause == "empty-transaction"
    assert one.severity is Severity.ERROR
