"""Redpanda's records of an expired transaction: they decide whether a timeout or another instance fenced a producer."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

NODE = "INFO  2025-08-09 07:20:{},{} [shard 0:main] tx - {}\n"
PID = "{{producer_identity: id={}, epoch=4}}"
EXPIRED = "[N:kiln S:Stable G:3] group.cc:3181 - attempting expiration of producer: {} transaction"
ABORT = "tx_gateway_frontend.cc:513 - [tx_id=kiln-tx-2] trying to abort transaction. pid: {} sequence: 3"
CLIENT = (
    "%1|1754724032.700|TXNERR|kiln#producer-1| [thrd:main]: Fatal transaction error: Failed to end transaction: Local: "
    "This instance has been fenced by a newer instance (_FENCED)\n"
)
NAMED = "2025-08-09T07:18:00Z kiln transactional.id=kiln-tx-2\n"
STATED = "2025-08-09T07:20:32Z batch 19 was open for 47.2 s (transaction.timeout.ms=45000)\n"
EXPIRED_MS = 1_754_724_032_100


def node(expired: str, aborted: str) -> str:
    return NODE.format("32", "100", EXPIRED.format(PID.format(expired))) + NODE.format(
        "32", "120", ABORT.format(PID.format(aborted))
    )


def test_an_expiry_of_the_producer_decides(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"redpanda.log": node("77", "77"), "kiln.log": NAMED + CLIENT + STATED})
    assert (one.kind, one.root_cause) == ("transaction_timeout", "transaction-longer-than-its-timeout")
    assert (one.confidence, one.t_start_ms) == (0.95, EXPIRED_MS)
    assert "second instance" not in one.next_step
    assert "2025-08-09T07:20:32.100Z, as its log shows" in one.explanation
    assert {place.line for place in one.evidence if place.file.endswith("redpanda.log")} == {1, 2}


def test_an_expiry_decides_where_no_duration_is_stated(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"redpanda.log": node("77", "77"), "kiln.log": NAMED + CLIENT})
    assert (one.kind, one.root_cause) == ("transaction_timeout", "process-pause-beyond-transaction-timeout")
    assert "No other producer had taken the id" in one.explanation


def test_an_expiry_of_another_producer_decides_nothing(tmp_path: Path) -> None:
    found = judge(tmp_path, {"redpanda.log": node("901", "77"), "kiln.log": NAMED + CLIENT + STATED})
    (one,) = [one for one in found if one.subject.get("transactional.id") == "kiln-tx-2"]
    assert one.confidence == 0.75
    assert "second instance" in one.next_step
