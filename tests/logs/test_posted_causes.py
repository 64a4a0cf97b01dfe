"""The causes behind what people post: retries that ran out, unreachable brokers, missing replicas, other systems."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.text import time_text
from tests.logs.judging import judge

BUSY = "kafka server: The producer attempted to update a transaction while another concurrent operation on the same"
BUSY += " transaction was ongoing"


def retry(second: int, left: int) -> str:
    return (
        f"[sarama] 2025/02/03 08:10:{second:02} txnmgr/add-partition-to-txn retrying after 20ms... ({left} attempts "
        f"remaining) (transaction manager: failed to send partitions to txn: {BUSY})\n"
    )


def only(folder: Path, **files: str) -> Incident:
    (one,) = judge(folder, {f"{name.replace('_', '-')}.log": text for name, text in files.items()})
    return one


def test_counted_retries_that_ran_out_are_an_incident(tmp_path: Path) -> None:
    start = "[sarama] 2025/02/03 08:10:00 txnmgr/init-producer-id [toll-tx] obtained a ProducerId: 71 and "
    start += "ProducerEpoch: 3\n"
    end = f"2025/02/03 08:10:03 worker 2: produce: {BUSY}\n2025/02/03 08:12:00 tolls: 12 batches kept\n"
    one = only(tmp_path, tolls=start + retry(1, 2) + retry(2, 1) + end)
    assert (one.kind, one.severity) == ("transaction_not_completed", Severity.ERROR)
    assert one.subject["transactional.id"] == "toll-tx"


def test_counted_retries_that_succeeded_are_not_an_incident(tmp_path: Path) -> None:
    later = "2025/02/03 08:12:00 tolls: 12 batches sent\n"
    assert judge(tmp_path, {"tolls.log": retry(1, 3) + retry(2, 2) + later}) == []


WAITING = (
    "%4|17392435{second}.100|GETPID|rdkafka#producer-1| [thrd:main]: Failed to acquire transactional PID from broker "
    "TxnCoordinator/2: Broker: Producer attempted to update a transaction while another concurrent "
    "operation on the same "
    "transaction was ongoing: retrying\n"
)
TAKEN = (
    "%1|1739243572.600|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Producer fenced "
    "by newer instance: "
    "Failed to acquire transactional PID from broker TxnCoordinator/2: Broker: There is a newer producer with the same "
    "transactionalId which fences the current one (_FENCED)\n"
)


def test_a_fence_after_a_wait_begins_with_the_wait(tmp_path: Path) -> None:
    waits = "".join(WAITING.format(second=second) for second in (62, 65, 68, 71))
    one = only(tmp_path, router=waits + TAKEN)
    assert one.kind == "producer_fenced"
    assert one.t_start_ms == 1_739_243_562_100
    assert "CONCURRENT_TRANSACTIONS, 4 times" in one.explanation


def test_a_wait_before_a_fence_leaves_the_taker_open(tmp_path: Path) -> None:
    one = only(tmp_path, router=WAITING.format(second=71) + TAKEN)
    assert (one.root_cause, len(one.evidence)) == ("takeover-or-timeout", 2)
    assert "another instance took its id, or the coordinator raised the epoch itself" in one.explanation
    assert "still being completed (CONCURRENT_TRANSACTIONS, 1 time)" in one.explanation


def test_a_refused_end_does_not_claim_a_pause(tmp_path: Path) -> None:
    one = only(
        tmp_path,
        relay="[2025-03-02T04:05:06Z INFO  relay::tx] commit 9\n[2025-03-02T04:05:06Z ERROR "
        "rdkafka::client] librdkafka: "
        "TXNERR [thrd:main]: Fatal transaction error: Failed to end transaction: Broker: Producer attempted a "
        "transactional operation in an invalid state (INVALID_TXN_STATE)\n",
    )
    assert (one.kind, one.root_cause) == ("transaction_request_refused", "transaction-not-open")
    assert "resumed" not in one.explanation


LISTENER = (
    "2025-04-01T10:00:{second}Z ERROR 1 --- [ntainer#0-0-C-1] o.s.k.l.KafkaMessageListenerContainer    : "
    "Transaction rolled "
    "back\n\norg.springframework.kafka.listener.ListenerExecutionFailedException: Listener method threw exception\n"
    "\tat org.springframework.kafka.listener.KafkaMessageListenerContainer.run(KafkaMessageListenerContainer.java:1)\n"
    "Caused by: {cause}\n\t... 14 more\n\n"
)


def test_a_rollback_names_the_other_system_that_failed(tmp_path: Path) -> None:
    cause = "com.mongodb.MongoTimeoutException: Timed out after 30000 ms while waiting for a server at docs-db:27017"
    one = only(tmp_path, ledger=LISTENER.format(second="01.100", cause=cause))
    assert one.root_cause == "failure-outside-kafka"
    assert "docs-db:27017" in one.explanation


def test_a_rollback_names_the_exception_of_the_listener(tmp_path: Path) -> None:
    cause = "java.lang.IllegalArgumentException: amount"
    one = only(tmp_path, ledger=LISTENER.format(second="01.100", cause=cause))
    assert one.root_cause == "exception-of-the-listener"
    assert "IllegalArgumentException: amount" in one.explanation


def test_a_missing_dead_letter_topic_did_not_throw_first(tmp_path: Path) -> None:
    cause = "java.lang.IllegalStateException: unknown currency"
    missing = (
        "2025-04-01T10:0{}:20Z WARN 1 --- [ledger-tx-1] org.apache.kafka.clients.NetworkClient : [Producer "
        "clientId=ledger-tx-1, transactionalId=ledger-tx-1] Error while fetching metadata with correlation id 3 : "
        "{{pay.DLT=UNKNOWN_TOPIC_OR_PARTITION}}\n"
    )
    thrown = [LISTENER.format(second=f"0{second}.100", cause=cause) for second in range(3)]
    later = LISTENER.format(second="01.100", cause=cause).replace("10:00:", "10:01:")
    text = "".join((*thrown, missing.format(0), missing.format(1), later))
    found = {one.kind: one for one in judge(tmp_path, {"ledger.log": text})}
    thrower, missed = found["transaction_rolled_back_by_framework"], found["topic_not_found"]
    assert "IllegalStateException: unknown currency" in thrower.explanation and thrower.t_start_ms < missed.t_start_ms


SENT = "[2025-05-05 06:0{clock}] {level} [copy|task-1{scope}] {text}\n"
UNREACHED = (
    "[Producer clientId=connector-producer-copy-1] Connection to node {node} "
    "(far-{node}.example/10.1.1.{node}:9092) could "
    "not be established. Broker may not be available. (org.apache.kafka.clients.NetworkClient:814)"
)
EXPIRED = (
    "WorkerSourceTask{id=copy-1} failed to send record to far.ticks:  (org.apache.kafka.connect.runtime."
    "AbstractWorkerSourceTask:416)\norg.apache.kafka.common.errors.TimeoutException: Expiring 7 record(s) for "
    "far.ticks-3:120004 ms has passed since batch creation"
)
NOT_FLUSHED = (
    "WorkerSourceTask{id=copy-1} Failed to flush, timed out while waiting for producer to flush "
    "outstanding 320 messages "
    "(org.apache.kafka.connect.runtime.WorkerSourceTask:509)"
)


def test_unreachable_brokers_are_the_cause_of_timeouts(tmp_path: Path) -> None:
    lines = [
        SENT.format(clock="1:01,100", level="WARN", scope="", text=UNREACHED.format(node=1)),
        SENT.format(clock="1:03,100", level="WARN", scope="", text=UNREACHED.format(node=2)),
        SENT.format(clock="1:40,100", level="ERROR", scope="|offsets", text=NOT_FLUSHED),
        SENT.format(clock="3:05,100", level="ERROR", scope="", text=EXPIRED),
    ]
    one = only(tmp_path, mirror="".join(lines))
    assert (one.kind, one.root_cause) == ("send_timeout", "brokers-not-reached")
    assert one.subject["servers"] == ("far-1.example/10.1.1.1:9092", "far-2.example/10.1.1.2:9092")
    assert time_text(one.t_start_ms) == "2025-05-05T06:01:01.100Z"
    assert "could not be stored" in one.explanation


SHRUNK = (
    "[2025-06-01 01:00:00,000] INFO [Partition __transaction_state-7 broker=1] Shrinking ISR from 1,2,3 to 1. Leader: "
    "(highWatermark: 9, endOffset: 10). Out of sync replicas: (brokerId: 2, endOffset: 9) (brokerId: 3, endOffset: 9). "
    "(kafka.cluster.Partition)\n"
)
REFUSED = (
    "[2025-06-01 01:0{clock},000] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
    "__transaction_state-7 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The "
    "size of the current ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition "
    "__transaction_state-7\n"
)
DEAD = (
    "2025-06-01 01:0{clock} [tally-c0ffee00-1111-2222-3333-444455556666-StreamThread-1] {level} {text}\n"
    "org.apache.kafka.{error}: Timeout expired after 60000ms while awaiting InitProducerId\n"
)


def test_missing_replicas_explain_a_streams_client_that_died(tmp_path: Path) -> None:
    client = "tally-c0ffee00-1111-2222-3333-444455556666"
    waits = "o.a.k.s.p.internals.TaskManager - stream-thread [" + client + "-StreamThread-1] Timeout exception caught "
    waits += "trying to initialize transactions. The broker is either slow or in bad state"
    died = "o.apache.kafka.streams.KafkaStreams - stream-client [" + client + "] Encountered the following exception "
    died += "during processing and the registered exception handler opted to SHUTDOWN_CLIENT. The streams client is "
    died += "going to shut down now. "
    app = DEAD.format(clock="6:20.000", level="WARN ", text=waits, error="common.errors.TimeoutException")
    app += DEAD.format(clock="6:20.300", level="ERROR", text=died, error="common.errors.TimeoutException")
    app += (
        f"2025-06-01 01:06:20.400 [{client}-StreamThread-1] INFO  o.apache.kafka.streams.KafkaStreams - stream-client "
        f"[{client}] State transition from PENDING_ERROR to ERROR\n"
    )
    server = SHRUNK + "".join(REFUSED.format(clock=clock) for clock in ("5:00", "5:20", "5:40"))
    one = only(tmp_path, tally=app, kafka_1=server)
    assert one.kind == "not_enough_replicas"
    assert "because the replicas on brokers 2, 3 left the ISR" in one.explanation
    assert "all threads of the Streams client are dead" in one.explanation
    assert time_text(one.t_start_ms) == "2025-06-01T01:00:00.000Z"


FENCED = (
    "2025-07-01 10:0{minute}:00,000 WARN  org.apache.flink.runtime.taskmanager.Task [] - Sink: out "
    "(1/2)#0 switched from "
    "RUNNING to FAILED with failure cause:\norg.apache.flink.util.FlinkRuntimeException: Failed to send data to Kafka "
    "out-0@-1 with FlinkKafkaInternalProducer{{transactionalId='rates-out-{number}', inTransaction=true, "
    "closed=false}}\n"
    "Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
    "transactionalId which fences the current one.\n"
)


def test_a_job_with_the_same_prefix_is_named(tmp_path: Path) -> None:
    trial = "2025-07-01 10:00:30,000 INFO  com.example.Rates [] - sink topic=out transactionalIdPrefix=rates-out\n"
    job = "".join(FENCED.format(minute=minute, number=f"1-{40 + minute}") for minute in (1, 3, 5))
    one = only(tmp_path, rates=job, trial=trial)
    assert one.subject["transactional.ids"] == ("rates-out-1-41", "rates-out-1-43", "rates-out-1-45")
    assert one.confidence > 0.8
    assert "trial uses the same prefix" in one.explanation


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Job rates (0123456789abcdef0123456789abcdef) switched from state RUNNING to RESTARTING.", "job_restarted"),
        ("Job rates (0123456789abcdef0123456789abcdef) switched from state CREATED to RUNNING.", ""),
    ],
)
def test_a_failed_flink_job_is_not_silent(line: str, kind: str, tmp_path: Path) -> None:
    text = f"2025-07-01 10:00:30,000 INFO  org.apache.flink.runtime.executiongraph.ExecutionGraph [] - {line}\n"
    assert [one.kind for one in judge(tmp_path, {"jobmanager.log": text})] == ([kind] if kind else [])


def test_a_store_lost_in_a_kill_is_its_effect(tmp_path: Path) -> None:
    thread = "tally-c0ffee00-1111-2222-3333-444455556666-StreamThread-1"
    text = (
        "2025-08-01T00:00:00.000Z INFO  [main] com.example.Tally: restarted, last state OOMKilled exit=137\n"
        f"2025-08-01T00:00:05.000Z WARN  [{thread}] org.apache.kafka.streams.processor.internals.StreamThread: "
        f"stream-thread [{thread}] Detected the states of tasks [1_4] are corrupted. Will close the task as dirty and "
        "re-create and bootstrap from scratch.\norg.apache.kafka.streams.errors.TaskCorruptedException: "
        "Tasks [1_4] are "
        "corrupted and hence need to be re-initialized\n"
        f"2025-08-01T00:06:00.000Z INFO  [{thread}] org.apache.kafka.streams.KafkaStreams: stream-client "
        "[tally-c0ffee00-1111-2222-3333-444455556666] State transition from REBALANCING to RUNNING\n"
    )
    one = only(tmp_path, tally=text)
    assert (one.kind, one.severity) == ("out_of_memory", Severity.WARNING)
    assert "wiped and restored" in one.explanation


GAP = (
    "[2025-09-01 00:00:{second},000] ERROR [ReplicaManager broker=1] Error processing append operation "
    "on partition {name} "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence "
    "number for producer 90 at offset 44 in partition {name}: 60 (incoming seq. number), 50 (current end "
    "sequence number)\n"
)


def test_gaps_of_two_partitions_are_not_mixed(tmp_path: Path) -> None:
    elected = "".join(
        f"[2025-09-01 00:00:01,000] WARN [Controller id=1] Unclean leader election. Partition {name} has been assigned "
        "leader 1 from deposed leader 2. (kafka.controller.ZkPartitionStateMachine)\n"
        for name in ("gas-1", "gas-2")
    )
    gaps = "".join(GAP.format(second=10 + number, name=f"gas-{1 + number % 2}") for number in range(4))
    (one,) = judge(tmp_path, {"server.log": elected + gaps})
    assert (one.kind, one.subject["topic-partitions"]) == ("unclean_election", ("gas-1", "gas-2"))


def test_undated_lines_have_the_day_of_the_lines_around_them(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_text(
        "[pod/till/app] 09:10:00 INFO  Till: paid\n[pod/till/app] 09:10:05 WARN  [main] Sender: [Producer "
        "clientId=till-1] "
        "Got error produce response with correlation id 3 on topic-partition till-0, retrying (5 attempts "
        "left). Error: "
        "NOT_ENOUGH_REPLICAS\n[pod/kafka/kafka] 2024-02-02 09:10:05,300 INFO [KafkaServer id=1] started "
        "(kafka.server.KafkaServer)\n"
    )
    now = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    os.utime(path, (now, now))
    times = [time_text(event.time_ms or 0) for event in scan_paths([tmp_path]).events]
    assert [one[:16] for one in times] == ["2024-02-02T09:10"] * len(times)
