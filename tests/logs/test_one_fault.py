"""One fault is one incident: its report by the application, its effects on clients, and what it leads to later."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

EXCEEDED = (
    "%4|1660867699.902|MAXPOLL|cut#consumer-3| [thrd:main]: Application maximum poll interval (300000ms) exceeded by "
    "{}ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"
)
REPORTED = (
    '2022-08-19 00:10:41,218 ERROR cut.input: KafkaError{{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum '
    'poll interval (300000ms) exceeded by {}ms"}}\n'
)
ASSIGNED = "2022-08-19 00:10:44,902 INFO cut.input: Partitions assigned: tiles[4], tiles[5]\n"
MEMBER = "[Consumer clientId=c-1, groupId=cutters]"
KNOWS = (
    "[2026-12-10 21:{},588] INFO {} Request joining group due to: group is already rebalancing "
    "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
REMOVED = (
    f"[2026-12-10 21:12:56,702] INFO {MEMBER} Attempt to heartbeat with Generation{{{{generationId=4}}}} failed due to "
    "UNKNOWN_MEMBER_ID, resetting generation (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
JOINED = (
    f"[2026-12-10 21:{{}},121] INFO {MEMBER} Successfully joined group with generation 5 "
    "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
TIMES = ("07:56", "07:59", "08:02", "10:02", "12:55")
PARTITION = "__transaction_state-18"
REFUSED = (
    f"[2026-06-12 19:08:{{}},909] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
    f"{PARTITION} (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current "
    f"ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition {PARTITION}\n"
    "[2026-06-12 19:08:{},910] INFO [Transaction State Manager 1]: TransactionalId tiles-txn append transaction log "
    "for TxnTransitMetadata(producerId=22014) transition failed due to COORDINATOR_NOT_AVAILABLE, aborting state "
    "transition (kafka.coordinator.transaction.TransactionStateManager)\n"
)
WAITED = (
    "%7|1781291297.913|ADDPARTS|cut#producer-2| [thrd:main]: TxnCoordinator/1: AddPartitionsToTxn response: partition "
    '"tiles" [0]: Broker: Coordinator not available\n'
)
FAILED = (
    "%3|1781291357.850|TXNERR|cut#producer-2| [thrd:main]: Current transaction failed: Transactional operation timed "
    "out (_TIMED_OUT)\n"
)
SARAMA = '{{"level":"{}","time":"2026-05-20T10:14:4{}Z","message":"{}"}}\n'
BUSY = "kafka server: The producer attempted to update it while another concurrent operation on the same transaction"
GAVE_UP = "".join(
    SARAMA.format(
        "debug", 0, f"txnmgr/add-partition-to-txn retrying after 100ms... ({left} attempts remaining) ({BUSY})"
    )
    for left in (50, 1)
) + SARAMA.format("error", 5, f"send failed: transaction manager: failed to send partitions to transaction: {BUSY}")
NOT_BEGUN = SARAMA.format("error", 6, "begin failed, batch 4103: transaction manager: invalid transition attempted")
SINK = "2026-02-11 22:40:03,{} {} {} [] - {}\n"


def test_an_application_reports_the_same_fault_again(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"cut.log": EXCEEDED.format(31) + REPORTED.format(31) + ASSIGNED})
    assert one.kind == "poll_interval_exceeded"
    assert "The application reported it at 2022-08-19T00:10:41.218Z." in one.explanation
    assert "rejoined at 2022-08-19T00:10:44.902Z" in one.explanation


def test_other_numbers_are_a_return_of_the_fault(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"cut.log": EXCEEDED.format(31) + REPORTED.format(77)})
    assert one.explanation.endswith("The fault returned until 2022-08-19T00:10:41.218Z.")


def test_a_member_that_does_not_rejoin_is_removed(tmp_path: Path) -> None:
    text = "".join(KNOWS.format(moment, MEMBER) for moment in TIMES)
    (one,) = judge(tmp_path, {"app.log": text + REMOVED.format()})
    assert (one.root_cause, one.severity) == ("member-does-not-rejoin", Severity.ERROR)
    assert one.subject["group"] == "cutters"
    assert one.t_end_ms - one.t_start_ms == 300_114


def test_a_rebalance_that_is_open_at_the_end(tmp_path: Path) -> None:
    text = "".join(KNOWS.format(moment, MEMBER) for moment in TIMES)
    (one,) = judge(tmp_path, {"app.log": text})
    assert (one.root_cause, one.severity) == ("member-does-not-rejoin", Severity.WARNING)


@pytest.mark.parametrize("rejoined", ["08:01", "12:57"])
def test_a_member_that_rejoins_causes_no_incident(rejoined: str, tmp_path: Path) -> None:
    text = "".join(KNOWS.format(moment, MEMBER) for moment in (TIMES if rejoined > "12" else TIMES[:2]))
    assert judge(tmp_path, {"app.log": text + JOINED.format(rejoined)}) == []


def test_a_coordinator_that_cannot_write_has_effects(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": REFUSED.format(17, 17), "cut.log": WAITED + FAILED})
    assert one.kind == "not_enough_replicas"
    assert one.subject["transactional.id"] == "tiles-txn"
    assert "neither begin nor end" in one.explanation
    assert "Effect (transaction_end_timeout)" in one.explanation


def test_a_client_of_another_coordinator_is_not_an_effect(tmp_path: Path) -> None:
    found = judge(tmp_path, {"server.log": REFUSED.format(17, 17), "cut.log": FAILED})
    assert sorted(one.kind for one in found) == ["not_enough_replicas", "transaction_end_timeout"]


def test_without_an_abort_no_transaction_begins(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"pay.log": GAVE_UP + NOT_BEGUN})
    assert one.kind == "transaction_not_completed"
    assert "did not abort" in one.explanation
    assert len(one.evidence) == 4


def test_a_sink_and_its_client_report_one_refusal(tmp_path: Path) -> None:
    error = (
        "org.apache.kafka.common.errors.InvalidTxnStateException: The producer attempted a transactional operation in"
    )
    client = "[Producer clientId=p-4, transactionalId=tiles-0-4]"
    text = SINK.format(
        122, "INFO ", "TransactionManager", f"{client} Transiting to fatal error state due to {error} it."
    )
    lost = "Unable to commit transaction (CommitRequestImpl@3a6f) because it's in an invalid state. It timed out"
    text += SINK.format(126, "ERROR", "KafkaCommitter", lost) + f"{error} an invalid state.\n"
    (one,) = judge(tmp_path, {"taskmanager.log": text})
    assert one.kind == "commit_lost"
    assert "unless it was empty" in one.explanation


def test_a_transaction_that_was_aborted_is_not_called_open(tmp_path: Path) -> None:
    aborted = SARAMA.format(
        "debug",
        5,
        "txnmgr/transition [tiles-txn] transition from ProducerTxnStateEndTransaction|"
        "ProducerTxnStateAbortingTransaction to ProducerTxnStateInitializing",
    )
    (one, *_) = judge(tmp_path / "open", {"cut.log": GAVE_UP + NOT_BEGUN})
    assert "the application did not abort" in one.explanation
    (one, *_) = judge(tmp_path / "aborted", {"cut.log": GAVE_UP + aborted + NOT_BEGUN})
    assert "did not abort" not in one.explanation
    assert "the transaction was aborted, but the producer begins no further one" in one.explanation
