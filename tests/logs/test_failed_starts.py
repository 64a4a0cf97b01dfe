"""What a program did after its producer failed to start is read from its records, and who is down is named."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

CLIENT = "[Producer clientId=till-0, transactionalId=till-0]"
CREATED = (
    f"2026-06-01 07:{{}},810 INFO [main] o.a.k.clients.producer.KafkaProducer - {CLIENT} Instantiated a transactional "
    "producer.\n"
)
NO_ID = (
    "2026-06-01 07:01:00,900 ERROR [main] till.Main - could not start\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000milliseconds while awaiting "
    "InitProducerId\n"
)
HAS_ID = (
    f"2026-06-01 07:02:11,840 INFO [main] o.a.k.c.p.internals.TransactionManager - {CLIENT} ProducerId set to 2 with "
    "epoch 0\n"
)
REFUSED = (
    "[2026-06-01 07:00:{},500] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
    "__transaction_state-20 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: "
    "The size of the current ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition "
    "__transaction_state-20\n"
)


def test_a_producer_that_failed_to_start_was_not_killed(tmp_path: Path) -> None:
    log = CREATED.format("00:00") + NO_ID + CREATED.format("01:10") + HAS_ID
    assert "unclean_stop" not in {one.kind for one in judge(tmp_path / "failed", {"till.log": log})}
    silent = CREATED.format("00:00") + HAS_ID + CREATED.format("03:10")
    assert "unclean_stop" in {one.kind for one in judge(tmp_path / "silent", {"till.log": silent})}


def test_a_client_without_an_id_is_an_effect_of_the_shortage(tmp_path: Path) -> None:
    log = CREATED.format("00:00") + NO_ID + CREATED.format("01:10") + HAS_ID
    (one,) = judge(tmp_path / "one", {"kb-1.log": REFUSED.format("01") + REFUSED.format("31"), "till.log": log})
    assert (one.kind, one.subject["transactional.id"]) == ("not_enough_replicas", "till-0")
    (one,) = judge(tmp_path / "two", {"kb-1.log": REFUSED.format("01") + REFUSED.format("45"), "till.log": log})
    assert (one.kind, one.subject["transactional.id"]) == ("not_enough_replicas", "till-0")
    assert "till-0 got no producer id at " in one.explanation and "initialize its producer again" in one.explanation


FETCH = (
    "[2026-08-08 19:2{}:01,040] WARN [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Error in response for fetch "
    "request (type=FetchRequest, replicaId=1) (kafka.server.ReplicaFetcherThread)\n"
    "java.io.IOException: Connection to kb-3:9092 (id: 3 rack: null) failed.\n"
)


def test_the_broker_that_another_one_cannot_reach_is_named(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": "".join(FETCH.format(minute) for minute in range(3))})
    assert (one.kind, one.subject["server"], one.severity) == ("brokers_not_reached", "kb-3:9092", "error")
    assert "connect to kb-3:9092" in one.explanation


UNREACHED = (
    "2026-12-12 06:00:{},100 ERROR aiokafka Unable connect to node with id 3: [Errno 111] Connect call failed "
    "('10.1.0.3', 9092)\n"
)
TIMED_OUT = (
    "2026-12-12 06:00:40,210 ERROR kiln.app batch 72 failed, aborting: KafkaTimeoutError()\n"
    "aiokafka.errors.KafkaTimeoutError: KafkaTimeoutError\n"
)


def test_the_node_of_a_timed_out_batch_is_named(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"kiln.log": UNREACHED.format("10") + UNREACHED.format("11") + TIMED_OUT})
    assert (one.kind, one.root_cause, one.subject["servers"]) == ("send_timeout", "brokers-not-reached", ("node 3",))


def test_a_commit_that_timed_out_in_a_programs_words(tmp_path: Path) -> None:
    line = "2026-12-12 06:0{}:00,000 ERROR press: Failed to commit transaction within 60000ms: Local: Timed out\n"
    (one,) = judge(tmp_path, {"press.log": line.format(1) + line.format(2)})
    assert one.kind == "transaction_end_timeout"
