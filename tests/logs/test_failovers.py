"""What a crash takes with it, and who wrote what was refused: the subjects of verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge
from tests.logs.test_outages import START, other

COORDINATOR = "(kafka.coordinator.transaction.TransactionCoordinator)"


def says(broker: int, second: int, message: str) -> str:
    return f"[2026-11-21 09:29:{second:02d},000] INFO [TransactionCoordinator id={broker}] {message} {COORDINATOR}\n"


def elected(broker: int, second: int, partition: int, epoch: int) -> str:
    return says(broker, second, f"Elected as the txn coordinator for partition {partition} at epoch {epoch}")


def initialized(broker: int, transactional_id: str, partition: int) -> str:
    identity = f"with producerId 7 and producer epoch 0 on partition __transaction_state-{partition}"
    return says(broker, 1, f"Initialized transactionalId {transactional_id} {identity}")


def test_only_a_rising_epoch_is_a_move_and_its_ids_are_concerned(tmp_path: Path) -> None:
    cut_off = other(
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Cancelled in-flight FETCH request with correlation id "
        "64 due to node 1 being disconnected (elapsed time since creation: 90ms, elapsed time since send: 90ms, "
        "throttle time: 0ms, request timeout: 30000ms)",
        second=10,
    )
    # Up to 3.7 a broker says at any change that it is elected for what it had already, and says a move twice.
    kept = elected(3, 0, 5, 0) + elected(3, 0, 6, 2) + elected(3, 12, 5, 0) + elected(3, 12, 6, 2)
    moved = elected(3, 12, 4, 1) + elected(3, 12, 4, 1)
    identity = initialized(3, "stays", 5) + initialized(3, "stays-too", 6)
    found = judge(
        tmp_path,
        {
            "broker-1/server.log": initialized(1, "moves", 4) + START,
            "broker-3/server.log": identity + kept + cut_off + moved,
        },
    )
    assert [(one.kind, one.root_cause) for one in found] == [("coordinator_failover", "broker-crash")]
    assert found[0].subject == {
        "broker": "1",
        "transactional.ids": ("moves",),
        "topic-partitions": ("__transaction_state-4",),
    }
    assert "; 1 partition of __transaction_state got another" in found[0].explanation


def test_a_client_of_another_coordinator_lost_no_coordinator(tmp_path: Path) -> None:
    client = (
        "2026-11-21 09:29:10,500 INFO [main] o.a.k.c.NetworkClient: [Producer clientId=p, transactionalId=stays] "
        "Node 1 disconnected.\n"
    )
    cut_off = other(
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Cancelled in-flight FETCH request with correlation id "
        "64 due to node 1 being disconnected (elapsed time since creation: 90ms, elapsed time since send: 90ms, "
        "throttle time: 0ms, request timeout: 30000ms)",
        second=10,
    )
    kinds = {}
    for coordinator in (1, 3):
        files = {
            "broker-1/server.log": (initialized(1, "stays", 5) if coordinator == 1 else "") + START,
            "broker-3/server.log": (initialized(3, "stays", 5) if coordinator == 3 else "") + cut_off,
            "app.log": client,
        }
        kinds[coordinator] = [one.kind for one in judge(tmp_path / str(coordinator), files)]
    assert kinds == {1: ["coordinator_failover"], 3: ["broker_restart"]}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("INVALID_PRODUCER_EPOCH", "invalid_producer_epoch"), ("INVALID_TXN_STATE", "late_append_refused")],
)
@pytest.mark.parametrize("words", ["produce to ledger-1 was answered with", "producing one batch to ledger-1:"])
def test_a_refused_writer_is_named_as_its_own_log_names_it(answer: str, kind: str, words: str, tmp_path: Path) -> None:
    log = (
        "2026-11-21 09:29:30,437 [gate] INFO: open, transactional.id=gate-9 producerId=12 epoch=3\n"
        f"2026-11-21 09:29:40,437 [gate] WARNING: {words} {answer}\n"
    )
    found = judge(tmp_path, {"gate.log": log})
    subject = {"transactional.id": "gate-9", "producerId": "12", "producerEpoch": "3", "topic-partition": "ledger-1"}
    assert [(one.kind, one.subject) for one in found] == [(kind, subject)]


def test_a_refused_writer_is_named_as_its_coordinator_names_it(tmp_path: Path) -> None:
    log = (
        "2026-11-21 09:29:30,437 [gate] INFO: open, transactional.id=gate-9\n"
        "2026-11-21 09:29:40,437 [gate] WARNING: produce to ledger-1 refused: INVALID_PRODUCER_EPOCH\n"
    )
    found = judge(tmp_path, {"gate.log": log, "broker-1/server.log": initialized(1, "gate-9", 4)})
    # The epoch that the coordinator gave may be that of the one who took over.
    assert [one.subject for one in found] == [
        {"transactional.id": "gate-9", "producerId": "7", "topic-partition": "ledger-1"}
    ]
