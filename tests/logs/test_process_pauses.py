"""Watches in a process that notice its pause: the proof that a transaction timed out while it stood still."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

FENCED = (
    "2026-02-03 09:10:02,000 ERROR [main] com.example.Cutter - [Producer clientId=cut-7, transactionalId=cut-tx-7] "
    "refused: org.apache.kafka.common.errors.InvalidTxnStateException: The producer attempted a transactional "
    "operation in an invalid state.\n"
)
PAUSED = "2026-02-03 09:10:01,000 WARN [pool] com.example.Watch - {}\n"
WATCHES = {
    "seconds": "pool-1 - Thread starvation or clock leap detected (housekeeper delta=51s904ms112µs7ns).",
    "minutes": "pool-1 - Thread starvation or clock leap detected (housekeeper delta=2m3s104ms).",
    "jvm": "Detected pause in JVM or host machine (eg GC): pause of approximately 73012ms",
}


@pytest.mark.parametrize("watch", WATCHES)
def test_a_watch_shows_the_pause(watch: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"cutter.log": PAUSED.format(WATCHES[watch]) + FENCED})
    assert (one.kind, one.confidence) == ("transaction_timeout", 0.75)
    assert "stood still for" in one.explanation


def test_a_short_pause_shows_nothing(tmp_path: Path) -> None:
    text = WATCHES["jvm"].replace("73012", "1201")
    (one,) = judge(tmp_path, {"cutter.log": PAUSED.format(text) + FENCED})
    assert "stood still" not in one.explanation


FOLDER = {
    "gc.log": (
        "[2026-02-03T09:09:59.500+0000][info][gc] GC(81) Pause Full (G1 Compaction Pause) 4093M->4001M(4096M) "
        "31200.250ms\n"
    ),
    "cutter.log": (
        "2026-02-03 09:10:00,010 INFO [kafka-producer-network-thread | cut-7] "
        "org.apache.kafka.clients.producer.internals.TransactionManager - [Producer clientId=cut-7, "
        "transactionalId=cut-tx-7] Transiting to fatal error state due to "
        "org.apache.kafka.common.errors.InvalidTxnStateException: The producer attempted a transactional operation in "
        "an invalid state.\n"
        "2026-02-03 09:10:00,014 ERROR [cut-7] com.example.Cutter - Error encountered sending record to topic cuts due "
        "to: org.apache.kafka.common.errors.InvalidTxnStateException: The producer attempted a transactional operation "
        "in an invalid state.\n"
    ),
}
BROKER = (
    "[2026-02-03 09:09:50,100] INFO [TransactionCoordinator id=2] Completed rollback of ongoing transaction for "
    "transactionalId cut-tx-7 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
    "[2026-02-03 09:09:59,990] ERROR [ReplicaManager broker=2] Error processing append operation on partition cuts-3 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.InvalidTxnStateException: Record was not part of an ongoing transaction\n"
)


def test_the_collectors_own_file_shows_the_pause(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, FOLDER | {"server-2.log": BROKER})
    assert (one.kind, one.confidence) == ("transaction_timeout", 0.9)
    assert "the garbage collector had stopped its process for 31 s" in one.explanation
    assert {"gc.log", "server-2.log"} <= {Path(place.file).name for place in one.evidence}
    assert "heap" in one.next_step


def test_a_program_that_logs_in_the_pause_was_not_stopped(tmp_path: Path) -> None:
    at_work = (
        "2026-02-03 09:09:40,000 INFO [cut-7] com.example.Cutter - transactional.id=cut-tx-7 cuts the next sheet\n"
    )
    logs = FOLDER | {"cutter.log": at_work + FOLDER["cutter.log"], "server-2.log": BROKER}
    (one,) = judge(tmp_path, logs)
    assert "garbage collector had stopped" not in one.explanation


def test_a_collectors_file_counts_without_the_broker(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, FOLDER)
    assert (one.kind, one.confidence) == ("transaction_timeout", 0.75)
    assert "the garbage collector had stopped it for 31 s" in one.explanation
