"""Incidents that a broker's crash explains, and incidents soon after it that it does not explain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

COORDINATOR = "(kafka.coordinator.transaction.TransactionCoordinator)"
BROKER = (
    "[2026-11-21 09:29:00,000] INFO [TransactionCoordinator id=1] Initialized transactionalId gate-9 with producerId 7 "
    f"and producer epoch 0 on partition __transaction_state-3 {COORDINATOR}\n"
    "[2026-11-21 09:29:20,000] INFO Registered signal handlers for TERM, INT, HUP "
    "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
    "[2026-11-21 09:29:21,000] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING "
    "(kafka.server.BrokerServer)\n"
)
CLIENT = "2026-11-21 09:29:{} INFO  [io] o.apache.kafka.clients.NetworkClient - [Producer clientId=a{}] {}\n"
LOST = CLIENT.format("05.437", ", transactionalId=b-1", "Node 1 disconnected.")
STARTED = CLIENT.replace("NetworkClient", "producer.KafkaProducer").format(
    "{}", ", transactionalId=n-1", "Instantiated a transactional producer."
)
GAP = (
    "[2026-11-21 09:29:35,437] ERROR [ReplicaManager broker=1] Error processing append operation on partition ledger-0 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 7 at offset "
    "40 in partition ledger-0: 12 (incoming seq. number), 9 (current end sequence number)\n"
)
ROLLBACK = (
    "[2026-11-21 09:29:39,000] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for "
    f"transactionalId b-1 due to timeout {COORDINATOR}\n"
)
FENCED = (
    "2026-11-21 09:29:41.437 ERROR [io] a.Relay - [Producer clientId=a, transactionalId=b-1] cannot commit\n"
    "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old epoch.\n"
)
CRASH = ("coordinator_failover", "broker-crash")


def verdicts(folder: Path, broker: str, **applications: str) -> list[tuple[str, str]]:
    files = {"broker-1/server.log": BROKER + broker, **{f"{name}.log": text for name, text in applications.items()}}
    return [(one.kind, one.root_cause) for one in judge(folder, files)]


def test_a_gap_that_a_client_logs_is_not_explained_by_a_crash(tmp_path: Path) -> None:
    answered = "2026-11-21 09:29:35,441 ERROR [main] edge: produce to ledger-0 answered OUT_OF_ORDER_SEQUENCE_NUMBER\n"
    assert verdicts(tmp_path / "client", GAP, b=LOST, edge=answered) == [
        CRASH,
        ("out_of_order_sequence", "sequence-gap"),
    ]
    assert verdicts(tmp_path / "broker", GAP, b=LOST) == [CRASH]


def test_a_killed_application_is_not_explained_by_a_crash(tmp_path: Path) -> None:
    killed = STARTED.format("31.100") + STARTED.format("40.100")
    assert verdicts(tmp_path, "", b=LOST, night=killed) == [CRASH, ("unclean_stop", "unclean-stop")]


@pytest.mark.parametrize(
    ("before", "found"),
    [
        (CLIENT.format("30.000", ", transactionalId=b-1", "Node 1 disconnected."), []),
        (
            CLIENT.format("30.000", ", transactionalId=b-1", "ProducerId set to 3 with epoch 0"),
            [("transaction_timeout", "process-pause-beyond-transaction-timeout")],
        ),
    ],
    ids=["that waited for it", "that stood still"],
)
def test_a_rollback_belongs_to_the_crash_its_client_waited_for(
    before: str, found: list[tuple[str, str]], tmp_path: Path
) -> None:
    lost = LOST.replace("b-1", "c-1")
    assert verdicts(tmp_path, ROLLBACK, c=lost, b=before + FENCED) == [CRASH, *found]


def test_a_client_that_starts_after_a_crash_is_unaffected(tmp_path: Path) -> None:
    found = "Discovered transaction coordinator k:9092 (id: 1 rack: null)"
    late = CLIENT.format("40.000", ", transactionalId=n-1", found)
    files = {"broker-1/server.log": BROKER, "b.log": LOST, "night.log": late}
    (crash,) = judge(tmp_path, files)
    assert crash.subject["transactional.ids"] == ("b-1",)
