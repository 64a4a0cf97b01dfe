"""What a client's own log has before its fault: a request without an answer, a lost broker, another coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

CLIENT = "[Producer clientId=connector-producer-st-2, transactionalId=connect-st-2]"
LOST = "[2026-05-12 10:05:10,017] INFO [st|task-2] {} Node 5 disconnected. (org.apache.kafka.clients.NetworkClient)\n"
FOUND = (
    "[2026-05-12 10:05:41,402] INFO [st|task-2] {} Discovered transaction coordinator k-{}.lake:9092 (id: {} rack: c) "
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
FAILED = (
    f"[2026-05-12 10:06:02,911] INFO [st|task-2] {CLIENT} Transiting to fatal error state due to "
    "org.apache.kafka.common.KafkaException: Unexpected error in EndTxnResponse: The server experienced an unexpected "
    "error when processing the request. (org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
RDKAFKA = "%{}|1773744{}.391|{}|pay#producer-1| [thrd:kb-4:9093/4]: {}\n"
FENCED = "Fatal transaction error: Producer fenced by newer instance: Broker: There is a newer producer (_FENCED)"


@pytest.mark.parametrize(("node", "is_named"), [("6", True), ("5", False)])
def test_a_coordinator_on_another_broker_is_a_trigger(node: str, is_named: bool, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"worker.log": LOST.format(CLIENT) + FOUND.format(CLIENT, node, node) + FAILED})
    assert one.kind == "request_failed"
    assert ("lost its connection to node 5" in one.explanation) == is_named
    assert (f"found its coordinator on broker {node}" in one.explanation) == is_named


def test_the_move_of_another_producer_is_not_a_trigger(tmp_path: Path) -> None:
    other = CLIENT.replace("st-2", "zz-9")
    (one,) = judge(tmp_path, {"worker.log": LOST.format(other) + FOUND.format(other, 6, 6) + FAILED})
    assert "coordinator on broker" not in one.explanation


@pytest.mark.parametrize(("waited", "is_named"), [("31214", True), ("214", False)])
def test_a_request_without_an_answer_outlives_a_timeout(waited: str, is_named: bool, tmp_path: Path) -> None:
    words = f"kb-4:9093/4: Timed out ProduceRequest in flight (after {waited}ms, timeout #0)"
    log = (
        "2026-03-17 09:14:01,902 INFO pay.main config transactional.id=pay-sender transaction.timeout.ms=30000\n"
        "2026-03-17 10:44:07,031 INFO pay.loop committed transaction 17, 122 records\n"
        "2026-03-17 10:44:08,046 INFO pay.loop begin transaction 18\n"
        + RDKAFKA.format(5, 280, "REQTMOUT", words)
        + RDKAFKA.format(1, 281, "TXNERR", FENCED)
    )
    (one,) = judge(tmp_path, {"pay.log": log})
    assert (one.kind, one.subject["transactional.id"]) == ("transaction_timeout", "pay-sender")
    assert ("did not answer its client for 31 s" in one.explanation) == is_named
    assert one.next_step.startswith("Find why that broker did not answer" if is_named else "Make the transactions")


def test_a_nameless_record_belongs_to_the_refusal_of_its_moment(tmp_path: Path) -> None:
    log = "".join(
        f"app    | [sarama] 2026/05/06 08:26:10.55{number} txnmgr/init-producer-id [bill-tx-{number}] obtained a "
        f"ProducerId: 221{number} and ProducerEpoch: 0\n"
        for number in (3, 4)
    )
    for number, at in ((3, "17.702"), (4, "17.881")):
        log += (
            f"broker | [2026-05-06 08:26:{at.replace('.', ',')}] ERROR [ReplicaManager broker=1] Error processing "
            "append operation on partition bills-0 (kafka.server.ReplicaManager)\n"
            "broker | org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for "
            f"producer 221{number} at offset 9 in partition bills-0: 31 (incoming seq. number), 29 (current end "
            "sequence number)\n"
            f"app    | [sarama] 2026/05/06 08:26:{at}4 producer/broker/1 state change to [retrying] on bills/0 because "
            "kafka server: The broker received an out of order sequence number\n"
        )
    found = judge(tmp_path, {"compose.log": log})
    assert {(one.subject["transactional.id"], len(one.evidence)) for one in found} == {
        ("bill-tx-3", 2),
        ("bill-tx-4", 2),
    }
