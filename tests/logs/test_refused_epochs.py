"""One fencing that a client and a broker report: the client names no producer, and the broker no client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

COORDINATOR = (
    "INFO  2025-06-01 08:00:00,010 [shard 1:main] tx - tx_gateway_frontend.cc:2497 - [tx_id={}] producer "
    "{{producer_identity: id=77, epoch=8}} is fenced of by {{producer_identity: id=77, epoch=9}}\n"
)
LIBRDKAFKA = (
    "%1|1748764800.102|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Failed to end transaction: "
    "Local: This instance has been fenced by a newer instance (_FENCED)\n"
)
JAVA = (
    "2025-06-01 08:00:00.061 ERROR 1 --- [main] c.a.Inv : commit failed\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.\n"
)
FRANZ = (
    '{"ts":"2025-06-01T08:00:00.044Z","level":"error","msg":"end transaction failed","transactional_id":"inv-1",'
    '"err":"PRODUCER_FENCED: There is a newer producer with the same transactionalId which fences the current one."}\n'
)
LEADER = (
    "[2025-06-01 07:50:00,010] INFO [TransactionCoordinator id=2] Initialized transactionalId inv-1 with producerId 77 "
    "and producer epoch 8 on partition __transaction_state-3 (kafka.coordinator.transaction.TransactionCoordinator)\n"
    "[2025-06-01 08:00:00,010] ERROR [ReplicaManager broker=2] Error processing append operation on partition bids-4 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer 77 "
    "at offset 118 in bids-4 is 8, which is smaller than the last seen epoch 9\n"
)


@pytest.mark.parametrize("client", [LIBRDKAFKA, JAVA, FRANZ], ids=["librdkafka", "java", "franz-go"])
def test_both_reports_of_a_fencing_are_one_incident(client: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"redpanda.log": COORDINATOR.format("inv-1"), "app.log": client})
    assert (one.kind, one.subject["transactional.id"]) == ("producer_fenced", "inv-1")
    assert "refused epoch 8 of inv-1, as the current one is 9" in one.explanation
    assert "no coordinator's log" not in one.explanation and "server.log" not in one.next_step
    assert {Path(place.file).name for place in one.evidence} == {"redpanda.log", "app.log"}


def test_a_leader_that_refuses_is_not_the_coordinator(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": LEADER, "app.log": JAVA})
    assert one.subject["transactional.id"] == "inv-1" and "The broker refused epoch 8" in one.explanation
    assert "server.log" in one.next_step


def test_fencings_of_other_times_and_ids_stay_apart(tmp_path: Path) -> None:
    later = judge(tmp_path / "later", {"r.log": COORDINATOR.format("inv-1"), "app.log": JAVA.replace("08:00", "08:04")})
    assert len(later) == 2
    both = COORDINATOR.format("inv-1") + COORDINATOR.format("inv-2")
    assert len(judge(tmp_path / "both", {"r.log": both, "app.log": JAVA})) == 3


def test_a_lone_refusal_of_redpanda_has_both_causes(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"redpanda.log": COORDINATOR.format("inv-1")})
    assert "Another instance" in one.explanation and "expired" in one.explanation
    assert "server.log" not in one.next_step
