"""Programs with several transactional producers: whose error it is, and whose success comes after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

STARTED = "2026-05-06 08:26:10,552 INFO relay transactional.id=relay-1 initialized\n"
OTHER = STARTED.replace("relay-1", "relay-2")
REFUSED = (
    '2026-05-06 08:26:17,600 ERROR relay tx=relay-2 KafkaError{code=OUT_OF_ORDER_SEQUENCE_NUMBER,val=45,str="Broker: '
    'Out of order sequence number"}\n'
)
COMMITTED = "2026-05-06 08:2{}:18,100 INFO relay tx={} committed {} records\n"
BROKER = (
    "broker | [2026-05-06 08:26:17,{}] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
    "alerts-0 (kafka.server.ReplicaManager)\nbroker | org.apache.kafka.common.errors.OutOfOrderSequenceException: Out "
    "of order sequence number for producer {} at offset 90811 in partition alerts-0: 31 (incoming seq. number), 29 "
    "(current end sequence number)\n"
)
SARAMA = "svc | [sarama] 2026/05/06 08:26:1{}.{} {}\n"
OBTAINED = "txnmgr/init-producer-id [alerts-tx-{}] obtained a ProducerId: {} and ProducerEpoch: 0"
RETRYING = (
    "producer/broker/1 state change to [retrying] on alerts/0 because kafka server: The broker received an out of "
    "order sequence number"
)


@pytest.mark.parametrize(
    ("owner", "count", "is_back"), [("relay-2", 14, True), ("relay-1", 14, False), ("relay-2", 0, False)]
)
def test_only_the_same_producer_shows_its_return(owner: str, count: int, is_back: bool, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"relay.log": STARTED + OTHER + REFUSED + COMMITTED.format(7, owner, count)})
    assert one.subject["transactional.id"] == "relay-2"
    assert ("continued its work" in one.explanation) == is_back
    assert one.next_step.startswith("It works again.") == is_back


def test_an_id_that_only_the_success_names_is_another_one(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"relay.log": OTHER + REFUSED + COMMITTED.format(7, "relay-1", 14)})
    assert one.subject["transactional.id"] == "relay-2" and "continued its work" not in one.explanation


def test_the_work_of_each_producer_is_kept(tmp_path: Path) -> None:
    work = COMMITTED.format(6, "relay-1", 12) + COMMITTED.format(6, "relay-2", 18)
    (one,) = judge(tmp_path, {"relay.log": STARTED + OTHER + REFUSED + work})
    assert "tx=relay-2 committed 18 records" in one.explanation


def test_a_broker_says_whose_batch_a_client_retries(tmp_path: Path) -> None:
    log = (
        SARAMA.format(0, "552101", OBTAINED.format(3, 2214))
        + SARAMA.format(0, "552933", OBTAINED.format(4, 2215))
        + BROKER.format(702, 2214)
        + SARAMA.format(7, "704410", RETRYING)
        + BROKER.format(881, 2215)
    )
    found = {str(one.subject["transactional.id"]): len(one.evidence) for one in judge(tmp_path, {"compose.log": log})}
    assert found == {"alerts-tx-3": 2, "alerts-tx-4": 1}


def test_a_name_of_a_topic_is_not_that_of_a_producer(tmp_path: Path) -> None:
    moved = COMMITTED.format(7, "", 14).replace("tx= ", "to topic relay-1 and relay-2: ")
    (one,) = judge(tmp_path, {"relay.log": STARTED + OTHER + REFUSED + moved})
    assert "continued its work" not in one.explanation


FLUSHED = "2024-09-05 10:{}.220 [collector-2] INFO  org.silo.Sink - flushed 1200 rows{}\n"
EXPIRED = (
    "2024-09-05 10:14:03.098 [kafka-producer-network-thread | weights-1] ERROR org.silo.Sink - send failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Expiring 14 record(s) for weights-5:120000 ms has passed since "
    "batch creation\n"
)


@pytest.mark.parametrize(("named", "is_over"), [("", False), (" to topic=weights partition=5", True)])
def test_other_threads_do_not_show_that_a_producer_works(named: str, is_over: bool, tmp_path: Path) -> None:
    log = FLUSHED.format("11:58", "") + EXPIRED + FLUSHED.format("14:09", named)
    (one,) = judge(tmp_path, {"silo.log": log})
    assert one.kind == "send_timeout"
    assert ("continued its work" in one.explanation) == is_over
