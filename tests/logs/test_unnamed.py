"""A librdkafka client need not log its transactional id: servers' logs give it if only one is possible."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

BROKER = (
    "[2026-11-21 11:{},978] INFO [TransactionCoordinator id=1] {} "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)
INIT = "Initialized transactionalId {} with producerId {} and producer epoch 0 on partition __transaction_state-3"
ROLLBACK = "Completed rollback of ongoing transaction for transactionalId {} due to timeout"
OWN = BROKER.format("07:22", INIT.format("c-7", 1)) + BROKER.format("07:42", ROLLBACK.format("c-7"))
PAUSED = """\
2026-11-21 11:07:22,732 INFO [MainThread] pump: started
%1|1795259278.258|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Failed to end transaction: Local: \
This instance has been fenced by a newer instance (_FENCED)
2026-11-21 11:07:58,301 ERROR [MainThread] pump: stopped
Traceback (most recent call last):
  File "pump.py", line 27, in <module>
    p.commit_transaction(10)
cimpl.KafkaException: KafkaError{FATAL,code=_FENCED,val=-144,str="Failed to end transaction"}
"""
OTHER = (
    "2026-11-21 11:07:25,100 INFO [main] o.a.k.c.p.i.TransactionManager: [Producer clientId=x, transactionalId=d-8] "
    "ProducerId set to 2 with epoch 0\n"
)
DENIED = (
    "[2026-11-21 11:09:55,500] INFO Principal = User:app is Denied operation = DESCRIBE from host = 10.0.0.7 on "
    "resource = TransactionalId:LITERAL:{} for request = FindCoordinator (kafka.authorizer.logger)\n"
)
REFUSED = """\
2026-11-21 11:09:55,449 INFO [MainThread] pump: started
%1|1795259395.542|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Failed to find transaction \
coordinator: Broker: Transactional Id authorization failed (TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
"""


def test_a_paused_client_is_the_one_initialized_at_its_start(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"broker-1/server.log": OWN, "pump.log": PAUSED})
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "c-7")


def test_of_two_ids_the_one_without_another_client_counts(tmp_path: Path) -> None:
    turned = BROKER.format("07:42", ROLLBACK.format("d-8"))
    both = OWN + BROKER.format("07:24", INIT.format("d-8", 2)) + turned
    found = judge(tmp_path, {"broker-1/server.log": both, "pump.log": PAUSED})
    assert [one.subject.get("transactional.id") for one in found if one.subject.get("application")] == [None]
    found = judge(tmp_path, {"other.log": OTHER})
    assert [one.subject["transactional.id"] for one in found if one.subject.get("application")] == ["c-7"]
    assert {one.subject["transactional.id"] for one in found} == {"c-7", "d-8"}


def test_of_two_ids_the_one_that_was_rolled_back_counts(tmp_path: Path) -> None:
    files = {"broker-1/server.log": OWN + BROKER.format("07:24", INIT.format("d-8", 2)), "pump.log": PAUSED}
    (found,) = judge(tmp_path, files)
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "c-7")


def test_a_denial_without_a_name_is_the_brokers(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"broker-1/kafka-authorizer.log": DENIED.format("secured-7/x"), "pump.log": REFUSED})
    assert (found.kind, found.subject["transactional.id"]) == ("transactional_id_authorization", "secured-7/x")
    assert len({place.file for place in found.evidence}) == 2


def test_rejected_unnamed_clients_are_identified_by_their_fields(tmp_path: Path) -> None:
    too_long = (
        "%1|1795432220.188|TXNERR|{}#producer-1| [thrd:main]: Fatal transaction error: Failed to acquire transactional "
        "PID from broker TxnCoordinator/1007: Broker: Transaction timeout is larger than the maximum value allowed by "
        "the broker's max.transaction.timeout.ms (INVALID_TRANSACTION_TIMEOUT)\n"
    )
    files = {"pump.log": REFUSED, "lift.log": REFUSED.replace("rdkafka", "lift-4"), "long.log": too_long.format("slow")}
    found = judge(tmp_path, files)
    assert {(one.kind, *one.subject.values()) for one in found} == {
        ("transactional_id_authorization", "pump"),
        ("transactional_id_authorization", "lift", "lift-4"),
        ("invalid_transaction_timeout", "long", "slow"),
    }


def test_an_unnamed_group_is_the_one_that_the_broker_denied(tmp_path: Path) -> None:
    denied = DENIED.format("x").replace("TransactionalId:LITERAL:x", "Group:LITERAL:eu orders").replace("Find", "Join")
    refused = "%3|1795259395.542|JOIN|rdkafka#consumer-1| [thrd:main]: Broker: Group authorization failed\n"
    (found,) = judge(tmp_path, {"broker-1/kafka-authorizer.log": denied, "pump.log": refused})
    assert (found.kind, found.subject) == ("group_authorization", {"group": "eu orders", "principal": "User:app"})
