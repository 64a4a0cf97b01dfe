"""Records next to a refusal decide its cause: durations, results of attempts, refused connections, and own epochs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

FRANZ = "2026-10-02T12:{} {}  writer/main.go:44 {}\n"
STALE = "INVALID_PRODUCER_EPOCH: Producer attempted to produce with an old epoch."
REFUSED = FRANZ.format(
    "09:30.871Z", "ERROR", f'produce failed topic=tiles partition=6 transactional_id=tiles-0 err="{STALE}"'
)
AGAIN = FRANZ.format("09:31.004Z", "INFO", 'msg="producer id initialization success" id=70011 epoch=5')
STATED = (
    "gap since last produce 2m14.7s, transaction timeout 2m0s",
    "transaction was open for 134700 ms, transaction.timeout.ms=120000",
    "flush took 134.7 s, above the transaction timeout of 120 s",
)
WITHIN = ("gap since last produce 1m50s, transaction timeout 2m0s", "writer starts with transaction timeout 2m0s")
ATTEMPT = (
    "INFO  2026-11-29 02:1{}:38,011 [shard 1:main] tx - [N:readers S:Stable G:12] group.cc:3181 - attempting expira"
    "tion of producer: {{producer_identity: id=9031, epoch=77}} transaction\n"
)
FAILED = (
    "WARN  2026-11-29 02:1{}:38,019 [shard 1:main] tx - [N:readers S:Stable G:12] group.cc:3195 - transaction expira"
    "tion and abort failed, pid: {{producer_identity: id=9031, epoch=77}}, result: tx::errc::not_coordinator\n"
)
PYTHON = "2026-08-19 04:41:0{},014 ERROR aiokafka.{}: {}\n"
NO_ANSWER = PYTHON.format(8, "sender", "Failed to send produce request to node 2: {}")
NO_NODE = PYTHON.format(
    8, "conn", "Unable connect to node with id 2: [Errno 111] Connect call failed ('10.42.3.17', 9092)"
)
INITS = "".join(
    f"[2026-03-04 09:16:{moment}] INFO [TransactionCoordinator id=1] Initialized transactionalId tiles-0 with producer"
    f"Id 5012 and producer epoch {epoch} on partition __transaction_state-31 (kafka.coordinator.transaction."
    "TransactionCoordinator)\n"
    for moment, epoch in (("02,380", 40), ("20,602", 41), ("20,749", 42))
)
CLIENT = "[Producer clientId=p-1, transactionalId=tiles-0]"
FENCED = (
    f"2026-03-04T09:16:02.388Z INFO [t-1] TransactionManager : {CLIENT} ProducerId set to 5012 with epoch 40\n"
    f"2026-03-04T09:16:20.656Z ERROR [t-1] TransactionManager : {CLIENT} Transiting to fatal error state due "
    "to org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same id.\n"
)


@pytest.mark.parametrize("text", STATED)
def test_a_stated_duration_is_the_cause(text: str, tmp_path: Path) -> None:
    log = REFUSED + FRANZ.format("09:30.872Z", "WARN", text) + AGAIN
    (one,) = judge(tmp_path, {"writer.log": log})
    assert (one.kind, one.root_cause) == ("transaction_timeout", "transaction-longer-than-its-timeout")
    assert "2 min 14 s" in one.explanation
    assert "A new producer was initialized" in one.explanation


@pytest.mark.parametrize("text", WITHIN)
def test_a_shorter_duration_leaves_both_causes(text: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"writer.log": REFUSED + FRANZ.format("09:30.872Z", "WARN", text)})
    assert one.kind == "invalid_producer_epoch"


def test_a_begin_and_a_timeout_are_compared(tmp_path: Path) -> None:
    begun = FRANZ.format("07:16.002Z", "INFO", "beginning transaction, transaction.timeout.ms=120000")
    (one,) = judge(tmp_path, {"writer.log": begun + REFUSED})
    assert one.root_cause == "transaction-longer-than-its-timeout"


def test_an_attempt_that_failed_is_not_a_rollback(tmp_path: Path) -> None:
    text = "".join(ATTEMPT.format(minute) + FAILED.format(minute) for minute in (1, 2, 3))
    (one,) = judge(tmp_path, {"redpanda.log": text})
    assert (one.kind, one.subject["group"]) == ("coordinator_unavailable", "readers")
    assert len(one.evidence) == 6


def test_an_attempt_without_a_failure_is_a_rollback(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"redpanda.log": ATTEMPT.format(1)})
    assert one.kind == "transaction_timeout"


@pytest.mark.parametrize(
    ("error", "kind"), [("UnknownError", "brokers_not_reached"), ("UNKNOWN_SERVER_ERROR", "request_failed")]
)
def test_an_error_after_a_refused_connection(error: str, kind: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"app.log": NO_NODE + NO_ANSWER.format(error)})
    assert one.kind == kind


def test_the_epoch_before_the_refusal_fenced_the_client(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": INITS, "app.log": FENCED})
    assert "initialized again (epoch 41)" in one.explanation
