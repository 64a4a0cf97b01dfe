"""Programs that fence one another, clients that resume after a rollback, and sinks that come back too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.layouts import detect_layouts
from eosctl.logs.records.sieve import sift_records
from tests.logs.judging import judge

FENCED = (
    "{pod}  | 2026-04-02 11:0{minute}:00,100 ERROR shop.loop [Producer clientId=p, transactionalId=tx-s] fenced: "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId\n"
)
ROLLED_BACK = (
    "[2026-04-02 11:00:00,000] INFO [TransactionCoordinator id=2] Completed rollback of ongoing transaction for "
    "transactionalId {} due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
STARTED = (
    "[2026-04-02 11:00:10,000] INFO [TransactionCoordinator id=2] Initialized transactionalId tx-g with producerId 7 "
    "and producer epoch 5 on partition __transaction_state-9 (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
RESUMED = (
    '{"level":"info","ts":"2026-04-02T10:59:00Z","logger":"kgo","msg":"beginning transaction",'
    '"transactional_id":"tx-g"}\n'
    '{"level":"info","ts":"2026-04-02T11:00:25Z","logger":"kgo","msg":"batch in a produce request failed",'
    '"topic":"tolls","partition":4,"err":"INVALID_PRODUCER_EPOCH: Producer attempted to produce with an old epoch."}\n'
)
NOT_COMMITTED = (
    "2026-04-02 13:00:00,000 WARN  org.apache.flink.connector.kafka.sink.internal.KafkaCommitter [] - Unable to commit "
    "transaction (CommitRequestImpl{{committable=KafkaCommittable{{producerId=70, epoch=0, transactionalId={}}}, "
    "state=RECEIVED}}) because its producer is already fenced.\n"
)
DESCRIBED = (
    "$ kafka-transactions.sh describe --transactional-id tx-d\n"
    "3\ttx-d\t55\t1\tPrepareCommit\t60000\t1775127600000\t600000\t__consumer_offsets-3,bids-12\n\n"
    "$ kafka-topics.sh --describe --unavailable-partitions\n"
    "\tTopic: {}\tPartition: 12\tLeader: none\tReplicas: 7\tIsr: 7\n"
)


@pytest.mark.parametrize(("pods", "certain"), [("aba", True), ("abab", True), ("ab", False), ("aab", False)])
def test_two_programs_that_are_fenced_in_turn_share_an_id(pods: str, certain: bool, tmp_path: Path) -> None:
    text = "".join(FENCED.format(pod=f"shop-{pod}", minute=minute) for minute, pod in enumerate(pods))
    found = judge(tmp_path, {"compose.log": text})
    assert {one.root_cause for one in found} == {"duplicate-transactional-id"}
    assert [one.subject.get("applications") for one in found if one.confidence > 0.5] == [
        ("shop-a", "shop-b")
    ] * certain


def test_fences_of_different_days_are_not_turns(tmp_path: Path) -> None:
    days = zip(("02", "03", "04"), "aba", strict=True)
    text = "".join(FENCED.format(pod=f"shop-{pod}", minute=0).replace("04-02", f"04-{day}") for day, pod in days)
    found = judge(tmp_path, {"compose.log": text})
    assert [(one.kind, one.t_end_ms - one.t_start_ms) for one in found] == [("producer_fenced", 0)] * 3
    assert not any("in turn" in one.explanation for one in found)


def test_an_earlier_initialization_is_evidence_not_the_start(tmp_path: Path) -> None:
    took = (
        "2026-04-0{} INFO  o.a.k.c.p.i.TransactionManager - [Producer clientId={}, transactionalId=tx-s] "
        "ProducerId set to 7 with epoch {}\n"
    )
    fenced = FENCED.format(pod="", minute=0).partition("| ")[2]
    found = judge(tmp_path, {"a/app.log": took.format("1 10:00:00,000", "p", 3) + fenced, "b/app.log": ""})
    assert len(found) == 1
    other = took.format("1 12:00:00,000", "q", 4)
    (one,) = judge(tmp_path, {"a/app.log": took.format("1 10:00:00,000", "p", 3) + fenced, "b/app.log": other})
    assert "initialized again (epoch 4)" in one.explanation
    assert len(one.evidence) == 3
    assert one.t_start_ms == one.t_end_ms


def test_a_client_that_resumes_after_its_rollback_is_evidence(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "resumed", {"broker/server.log": ROLLED_BACK.format("tx-g"), "toll.log": RESUMED})
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "tx-g")
    assert "25 s later" in found.explanation and len(found.evidence) == 2 and found.confidence > 0.5
    server = ROLLED_BACK.format("tx-g") + STARTED
    (found, *_) = judge(tmp_path / "started", {"broker/server.log": server, "toll.log": RESUMED})
    assert "later and was refused" not in found.explanation


def test_commits_after_the_rollback_are_one_loss(tmp_path: Path) -> None:
    names = ("sink-0-9", "sink-1-9")
    files = {"server.log": "".join(map(ROLLED_BACK.format, names)), "tm.log": "".join(map(NOT_COMMITTED.format, names))}
    (found,) = judge(tmp_path, files)
    assert (found.kind, found.root_cause) == ("commit_lost", "aborted-before-its-commit")
    assert found.subject["transactional.ids"] == names and "2 h before" in found.explanation


def test_the_warning_before_a_lost_commit_is_its_evidence(tmp_path: Path) -> None:
    warned = (
        "2026-04-02 12:59:59,900 WARN  Transaction KafkaTransactionState [transactionalId={}, producerId=70, epoch=0] "
        "has been open for 7500000 ms. This is close to or even exceeding the transaction timeout of 900000 ms.\n"
    )
    job = warned.format("sink-0-9") + NOT_COMMITTED.format("sink-0-9")
    (found,) = judge(tmp_path / "own", {"server.log": ROLLED_BACK.format("sink-0-9"), "tm.log": job})
    assert found.kind == "commit_lost" and len(found.evidence) == 3
    job = warned.format("sink-1-9") + NOT_COMMITTED.format("sink-0-9")
    found, other = judge(tmp_path / "other", {"server.log": ROLLED_BACK.format("sink-0-9"), "tm.log": job})
    assert (found.kind, other.subject["transactional.id"]) == ("commit_lost", "sink-1-9")


def test_a_loss_without_an_id_is_that_of_its_producer(tmp_path: Path) -> None:
    fenced = (
        "2026-04-02 12:58:59,990 INFO  org.apache.kafka.clients.producer.internals.TransactionManager [] - [Producer "
        "clientId=producer-sink-0-9, transactionalId=sink-0-9] Transiting to fatal error state due to "
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
        "transactionalId which fences the current one.\n"
    )
    lost = NOT_COMMITTED.format("").replace(
        "CommitRequestImpl{committable=KafkaCommittable{producerId=70, epoch=0, transactionalId=}, state=RECEIVED}",
        "org.apache.flink.CommitRequestImpl@6f1c",
    )
    (found,) = judge(
        tmp_path, {"server.log": ROLLED_BACK.format("sink-0-9"), "tm.log": fenced + lost.replace("13:00", "12:59")}
    )
    assert (found.root_cause, found.subject["transactional.id"]) == ("aborted-before-its-commit", "sink-0-9")
    assert "another job" not in found.next_step


@pytest.mark.parametrize(("topic", "cause"), [("bids", "partition-without-leader"), ("asks", "markers-not-written")])
def test_a_partition_without_a_leader_holds_its_transaction(topic: str, cause: str, tmp_path: Path) -> None:
    found = judge(tmp_path, {"commands.txt": DESCRIBED.format(topic)})
    (held,) = (one for one in found if one.kind == "open_transaction")
    assert held.root_cause == cause
    assert [one.subject["topic-partition"] for one in found if one.kind == "partition_offline"] == (
        [] if topic == "bids" else ["asks-12"]
    )


def test_the_fast_path_reads_a_partition_without_a_leader() -> None:
    quiet = "2026-04-02 11:00:00,000 INFO [main] shop.loop - all is well\n"
    data = (quiet * 900 + "\tTopic: bids\tPartition: 12\tLeader: none\tReplicas: 7\tIsr: 7\n" + quiet * 900).encode()
    records = sift_records(data, detect_layouts(data), small_bytes=0)
    assert [record.message.split("\t")[0] for record in records] == ["all is well", "Topic: bids", "all is well"]
