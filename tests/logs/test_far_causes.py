"""Faults whose effects are in other logs: a coordinator that read half of its log, an unclean election."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

LOAD = (
    "[2026-02-03 09:00:01,434] ERROR [Transaction State Manager 5]: Error loading transactions from transaction log "
    "__transaction_state-27 (kafka.coordinator.transaction.TransactionStateManager)\n"
    "org.apache.kafka.common.errors.CorruptRecordException: Record size 0 is less than the minimum record "
    "overhead (14)\n"
)
_CLIENT = "[Producer clientId=book-2, transactionalId=book-2]"
_MANAGER = "[kafka-producer-network-thread | book-2] o.a.k.c.p.i.TransactionManager"
BOOKER = (
    f"2026-02-03 09:00:00,934 INFO  {_MANAGER} - {_CLIENT} Discovered transaction coordinator kb:9092 (id: {{}} "
    "rack: null)\n"
    f"2026-02-03 09:00:03,334 INFO  {_MANAGER} - {_CLIENT} Transiting to fatal error state due to org.apache.kafka."
    "common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is not currently "
    "assigned to its transactional id.\n"
)
CONTROLLER = (
    "[2026-02-03 09:03:11,870] INFO [Controller id=2] Newly added brokers: , deleted brokers: 1, bounced brokers: , "
    "all live brokers: 2,3 (kafka.controller.KafkaController)\n"
    "[2026-02-03 09:03:11,890] INFO [Controller id=2] Broker failure callback for 1 "
    "(kafka.controller.KafkaController)\n"
    "[2026-02-03 09:10:02,070] INFO [Controller id=2] Starting replica leader election (UNCLEAN) for partitions bids-5 "
    "triggered by AdminClientTriggered (kafka.controller.KafkaController)\n"
)
RETURNED = (
    "[2026-02-03 09:25:05,470] WARN [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Truncating {}-5 to offset "
    "2188104 below high watermark 2201877 (kafka.server.ReplicaFetcherThread)\n"
)


def test_an_id_behind_an_unreadable_record_has_not_expired(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"broker-5.log": LOAD, "book-2.log": BOOKER.format(5)})
    assert found.kind == "coordinator_load_failed"
    assert (found.subject["broker"], found.subject["transactional.id"]) == ("5", "book-2")
    assert "has not expired" in found.explanation


def test_another_coordinator_does_not_explain_an_unknown_id(tmp_path: Path) -> None:
    found = judge(tmp_path, {"broker-5.log": LOAD, "book-2.log": BOOKER.format(4)})
    assert {one.kind for one in found} == {"coordinator_load_failed", "transactional_id_expired"}


@pytest.mark.parametrize(("topic", "count"), [("bids", 1), ("asks", 3)])
def test_an_unclean_election_with_what_it_removed(topic: str, count: int, tmp_path: Path) -> None:
    found = judge(tmp_path, {"controller-2.log": CONTROLLER, "broker-1.log": RETURNED.format(topic)})
    assert len(found) == count
    if count == 1:
        (one,) = found
        assert (one.kind, one.subject["topic-partition"]) == ("unclean_election", "bids-5")
        assert "requested through the AdminClient" in one.explanation and "13,773" in one.explanation
        assert "had died at 2026-02-03T09:03:11.890Z" in one.explanation
