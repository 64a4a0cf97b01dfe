"""What a pasted text names is read out of it."""

from __future__ import annotations

import pytest

from eosctl.analysis.pasted_text import read_pasted
from eosctl.model.reference import LONGEST_PASTED

NESTED = """org.apache.kafka.streams.errors.StreamsException: Error encountered sending record to topic out due to:
org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old epoch.
    at org.apache.kafka.streams.processor.internals.RecordCollectorImpl.recordSendError(RecordCollectorImpl.java:313)
Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer
    at com.example.MyErrorHandlerException.run(X.java:1)
    ... 12 more
"""


def test_the_root_cause_comes_first_and_frames_are_ignored() -> None:
    names = read_pasted(NESTED).names
    assert names[0] == "ProducerFencedException"
    assert "InvalidProducerEpochException" in names
    assert "MyErrorHandlerException" not in names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kafka.errors.ProducerFencedError: [Error 90]", "ProducerFencedError"),
        ('KafkaError{code=_FENCED,val=-144,str="x"}', "_FENCED"),
        ("ec: tx_errc::coordinator_not_available", "coordinator_not_available"),
        ("failed: tx::errc::invalid_txn_state", "invalid_txn_state"),
        ("client error: sarama.ErrOutOfBrokers", "ErrOutOfBrokers"),
        ("is this kafka-17507 or kip-447?", "KAFKA-17507"),
        ("see librdkafka #3575", "librdkafka-3575"),
        ("finding eos-txn-001", "EOS-TXN-001"),
        ("with transaction.timeout.ms=5000", "transaction.timeout.ms"),
        ("loading __transaction_state-12", "__transaction_state"),
    ],
)
def test_names_are_found_in_their_clients_spelling(text: str, name: str) -> None:
    assert name in read_pasted(text).names


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("errorCode: 51", 51),
        ("[Error 22] IllegalGeneration", 22),
        ("[90] Producer Fenced: x", 90),
        ("error_code=-144", -144),
    ],
)
def test_numbers_of_errors_are_found(text: str, number: int) -> None:
    assert number in read_pasted(text).numbers


def test_an_error_that_no_broker_sent_has_no_number() -> None:
    text = "{ Error: Local: Broker transport failure\n  origin: 'local',\n  code: -1,\n  errno: -1 }"
    assert read_pasted(text).numbers == ()
    assert read_pasted(text.replace("local", "kafka")).numbers == (-1,)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Epoch of producer 4001 at offset 7 in orders-2 is 5, which is smaller than the last seen epoch 6",
            {"producer_id": "4001", "epoch": "5", "topic": "orders", "partition": "2", "topic_partition": "orders-2"},
        ),
        (
            "Completed rollback of ongoing transaction for transactionalId payments-7 due to timeout",
            {"transactional_id": "payments-7"},
        ),
        ("transactional.id=pay-1, group.id=billing", {"transactional_id": "pay-1", "group": "billing"}),
        ("fenced transactionalId 'pay 7'", {"transactional_id": "pay 7"}),
        ("[tx_id=ledger-7] end_txn failed for pid", {"transactional_id": "ledger-7"}),
        ("Topic: orders Partition: 3 Leader: none", {"topic": "orders", "partition": "3"}),
        (
            '{"topic":"orders","partition":3,"producerId":"4001"}',
            {"topic_partition": "orders-3", "producer_id": "4001"},
        ),
        ("error while consuming orders/3: kafka server", {"topic_partition": "orders-3"}),
        ("cannot commit orders[3]@120", {"topic_partition": "orders-3"}),
        ("Not authorized to access topics: [orders, pay]", {"topic": "orders"}),
        ("Not authorized to access group: billing", {"group": "billing"}),
        ("Group billing transitioned to Dead in generation 812 (__consumer_offsets-4)", {"group": "billing"}),
        (
            "WorkerSinkTask{id=jdbc-sink-0} Commit of offsets failed",
            {"connector": "jdbc-sink", "group": "connect-jdbc-sink"},
        ),
        ("stream-thread [app-1-StreamThread-1] task [0_2] Failed to lock", {"task": "0_2"}),
        ("stream-thread [app-5c1d7e4f-1111-2222-3333-444455556666-StreamThread-1] died", {"group": "app"}),
        ("[Producer clientId=producer-app-3, transactionalId=app-3] closing", {"transactional_id": "app-3"}),
        ("marking pid {producer_identity: id=8801, epoch=4} failed", {"producer_id": "8801", "epoch": "4"}),
        ("coordinatorEpoch: 7, producerEpoch: 5, coordinator epoch 8", {"epoch": "5"}),
    ],
)
def test_ids_are_found(text: str, values: dict[str, str]) -> None:
    found = read_pasted(text).values
    assert values.items() <= found.items()
    if not {"topic", "topic_partition"} & values.keys():
        assert not {"topic", "topic_partition"} & found.keys() or found["topic"].startswith("__")


@pytest.mark.parametrize(
    "text", ["[Controller id=3 epoch=12] no leader", "Feature: x FinalizedVersionLevel: 2 Epoch: 77"]
)
def test_the_epoch_of_a_controller_is_not_a_producers(text: str) -> None:
    assert "epoch" not in read_pasted(text).values


def test_terminal_codes_are_dropped_and_long_texts_are_cut() -> None:
    assert read_pasted("\x1b[31mKIP-98\x1b[0m").text == "KIP-98"
    assert len(read_pasted("x" * (LONGEST_PASTED + 1)).text) == LONGEST_PASTED
    assert read_pasted("fenced \udcff").text == "fenced ?"
