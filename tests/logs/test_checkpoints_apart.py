"""Sinks of Flink whose transactions time out before the next checkpoint of their job."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

ID = "meter-sink-0-7"
JOB = "00a1b2c3d4e5f60718293a4b5c6d7e8f"
COORDINATOR = "org.apache.flink.runtime.checkpoint.CheckpointCoordinator"
GRAPH = "org.apache.flink.runtime.executiongraph.ExecutionGraph"
DONE = (
    f"2026-05-04 10:{{}}:00,000 INFO  {COORDINATOR} [] - Completed checkpoint {{}} for job {JOB} (18 bytes in 9 ms).\n"
)
EXPIRED_CHECKPOINT = (
    f"2026-05-04 10:09:00,000 INFO  {COORDINATOR} [] - Checkpoint 6 of job {JOB} expired before completing.\n"
)
RESTARTING = (
    f"2026-05-04 10:12:31,000 INFO  {GRAPH} [] - Job meters ({JOB}) switched from state RUNNING to RESTARTING.\n"
)
CONFIG = (
    "2026-05-04 09:50:00,000 INFO  org.apache.kafka.clients.producer.ProducerConfig [] - ProducerConfig values: \n"
    f"\ttransaction.timeout.ms = {{}}\n\ttransactional.id = {ID}\n\n"
)
FENCED = (
    "2026-05-04 10:12:30,000 ERROR org.apache.kafka.clients.producer.internals.Sender [] - "
    f"[Producer clientId=producer-{ID}, transactionalId={ID}] Aborting producer batches due to fatal error\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId, "
    "or the transaction has been expired by the broker.\n"
)
ROLLED_BACK = (
    "[2026-05-04 10:11:05,000] INFO [TransactionCoordinator id=2] Completed rollback of ongoing transaction for "
    f"transactionalId {ID} due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
APART = DONE.format("00", 4) + DONE.format("05", 5)


def read(folder: Path, job: str, timeout_ms: int = 240_000, broker: str = ROLLED_BACK) -> list[Incident]:
    """Judge the logs of a job, its task, and a coordinator."""
    worker = CONFIG.format(timeout_ms) + FENCED
    files = {"jobmanager.log": job, "taskmanager.log": worker, "server.log": broker}
    return judge(folder, {name: text for name, text in files.items() if text})


def test_checkpoints_beyond_the_timeout_are_the_cause(tmp_path: Path) -> None:
    (one,) = read(tmp_path, APART + RESTARTING)
    assert one.root_cause == "transaction-longer-than-its-timeout"
    assert "its timeout of 4 min" in one.explanation and "at least 5 min apart" in one.explanation
    assert "The job failed with that" in one.explanation and "No other producer" in one.explanation
    assert one.next_step.startswith("Raise transaction.timeout.ms of the sink above the checkpoint interval")


def test_without_a_coordinators_log_a_second_producer_is_open(tmp_path: Path) -> None:
    (one, *_) = read(tmp_path, APART + RESTARTING, broker="")
    assert one.root_cause == "transaction-longer-than-its-timeout"
    assert "most likely" in one.explanation and "No other producer" not in one.explanation


@pytest.mark.parametrize(
    ("job", "timeout_ms"),
    [(APART, 330_000), (APART + EXPIRED_CHECKPOINT, 240_000), (DONE.format("05", 5), 240_000)],
    ids=["within-the-timeout", "a-failed-checkpoint", "one-checkpoint"],
)
def test_other_reasons_are_not_called_the_interval(job: str, timeout_ms: int, tmp_path: Path) -> None:
    found = read(tmp_path, job, timeout_ms)
    assert found and all("checkpoint" not in one.next_step for one in found if one.kind == "transaction_timeout")
