"""Pauses behind lost sessions, instances in one file, coordinators that move, and exceptions without a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

GC_LINE = "[2023-08-01T04:10:{}+0000][gc] GC({}) Pause {} 8100M->{}M(8192M) {}ms\n"
SESSION = """\
[2023-08-01 04:09:30,000] INFO [GroupCoordinator 6]: Stabilized group g generation 2 (__consumer_offsets-4) with 3 \
members (kafka.coordinator.group.GroupCoordinator)
[2023-08-01 04:10:41,020] WARN Client session timed out, have not heard from server in 31007ms for sessionid 0x1f \
(org.apache.zookeeper.ClientCnxn)
[2023-08-01 04:10:42,300] WARN Unable to reconnect to ZooKeeper service, session 0x1f has expired \
(org.apache.zookeeper.ClientCnxn)
"""
RENEWED = "[2023-08-01 04:10:42,700] INFO [ZooKeeperClient Kafka server] Connected. (kafka.zookeeper.ZooKeeperClient)\n"
BUSY = (
    "[2023-08-01 04:10:20,000] INFO [GroupCoordinator 6]: Stabilized group g generation 3 (__consumer_offsets-4) with "
    "3 members (kafka.coordinator.group.GroupCoordinator)\n"
)


def test_a_pause_of_the_collector_ends_a_session(tmp_path: Path) -> None:
    pauses = GC_LINE.format("09.900", 7, "Young", 8000, "90.1") + GC_LINE.format("41.001", 8, "Full", 5100, "31002.5")
    (one,) = judge(tmp_path, {"b6/server.log": SESSION + RENEWED, "b6-gc.log": pauses})
    assert (one.kind, one.root_cause) == ("zookeeper_session_expired", "pause-beyond-session-timeout")
    assert (one.severity, one.subject["broker"]) == (Severity.WARNING, "6")
    assert one.t_end_ms - one.t_start_ms > 31_000


def test_a_pause_of_another_process_does_not_end_it(tmp_path: Path) -> None:
    pauses = GC_LINE.format("41.001", 8, "Full", 5100, "31002.5")
    head, _, tail = SESSION.partition("[2023-08-01 04:10:41")
    (one,) = judge(tmp_path, {"b6/server.log": f"{head}{BUSY}[2023-08-01 04:10:41{tail}", "other-gc.log": pauses})
    assert (one.root_cause, one.severity) == ("zookeeper-not-reached", Severity.ERROR)


TWO_INSTANCES = """\
%6|1718093412.507|GETPID|rdkafka#producer-1| [thrd:main]: Acquired transactional PID{Id:88,Epoch:11}
%3|1718106116.183|ADDPARTS|rdkafka#producer-1| [thrd:main]: TxnCoordinator/1: Failed to add partition "paid" [4] to \
transaction: Broker: There is a newer producer with the same transactionalId which fences the current one
%6|1718106115.310|GETPID|rdkafka#producer-1| [thrd:main]: Acquired transactional PID{Id:88,Epoch:12}
"""
COORDINATOR = (
    "[2024-06-11 11:4{}:55,281] INFO [TransactionCoordinator id=1] Initialized transactionalId gate with producerId 88 "
    "and producer epoch 12 on partition __transaction_state-17 (kafka.coordinator.transaction.TransactionCoordinator)\n"
)


def test_two_instances_in_one_file_fence_each_other(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"issue.log": TWO_INSTANCES + COORDINATOR.format(1)})
    assert (one.kind, one.root_cause) == ("producer_fenced", "duplicate-transactional-id")
    assert one.subject["transactional.id"] == "gate"
    assert one.confidence > 0.5
    assert "epoch 12" in one.explanation


def test_one_instance_may_have_timed_out_after_long(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"issue.log": TWO_INSTANCES + COORDINATOR.format(0)})
    assert one.confidence <= 0.5


SARAMA = "2025/02/17 08:12:{:02d} [sarama] txnmgr/{} [ledger-3] retrying after 100ms... ({} attempts remaining) ({})\n"
MOVES = "kafka server: Request was for a consumer group that is not coordinated by this broker"
LOADS = "kafka server: The coordinator is still loading offsets and cannot currently process requests"


@pytest.mark.parametrize("reason", [MOVES, LOADS])
def test_a_transaction_that_waits_for_a_move_is_a_note(tmp_path: Path, reason: str) -> None:
    waited = "".join(SARAMA.format(10 + number, "endtxn", 40 - number, reason) for number in range(4))
    later = "".join(f"2025/02/17 08:13:{second:02d} tx {second} committed (9 records)\n" for second in range(40))
    (one,) = judge(tmp_path, {"go.log": waited + later})
    assert (one.kind, one.root_cause, one.severity) == (
        "coordinator_unavailable",
        "coordinator-moved",
        Severity.INFO,
    )
    assert one.subject["transactional.id"] == "ledger-3"


UNCAUGHT = """\
worker-1    | 2025-04-02 12:00:08,016 INFO billing: creating producer transactional.id=bill-1
broker-1    | [2025-04-02 12:00:09,406] INFO [QuorumController id=1] CreateTopics result(s): CreatableTopic(\
name='__transaction_state', numPartitions=50, replicationFactor=3, assignments=[], configs=[]): \
INVALID_REPLICATION_FACTOR (Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be \
reached because only 1 broker(s) are registered.) (org.apache.kafka.controller.ReplicationControlManager)
worker-1    | Traceback (most recent call last):
worker-1    |   File "/app/bill.py", line 41, in <module>
worker-1    |     producer.init_transactions(60)
worker-1    | cimpl.KafkaException: KafkaError{code=_TIMED_OUT,val=-185,str="Failed to initialize Producer ID: Local: \
Timed out"}
worker-1 exited with code 1
"""


def test_an_exception_without_a_time_has_none(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"compose.log": UNCAUGHT})
    assert (one.kind, one.subject["transactional.id"]) == ("internal_topic_not_created", "bill-1")
    assert "gave up." in one.explanation
    assert "exited with code 1" in one.explanation


def test_a_part_of_a_long_fault_keeps_its_evidence(tmp_path: Path) -> None:
    broker = next(line for line in UNCAUGHT.splitlines() if line.startswith("broker"))
    repeated = "".join(f"{broker.replace('12:00:09', f'12:00:{second}')}\n" for second in range(10, 60))
    head, _, tail = UNCAUGHT.partition("worker-1    | Traceback")
    incidents = judge(tmp_path, {"compose.log": f"{head}{repeated}worker-1    | Traceback{tail}"})
    assert [one.kind for one in incidents] == ["internal_topic_not_created"]


REFUSED = (
    "[2025-03-04 10:00:01,{}] WARN Auto topic creation failed for __transaction_state with error '{}' "
    "(kafka.server.DefaultAutoTopicCreationManager)\n"
)


@pytest.mark.parametrize("error", ["TOPIC_ALREADY_EXISTS': Topic '__transaction_state' already exists.", "NONE': "])
def test_a_topic_that_exists_already_is_not_missing(error: str, tmp_path: Path) -> None:
    assert judge(tmp_path, {"server.log": REFUSED.format("100", error)}) == []


@pytest.mark.parametrize("error", ["POLICY_VIOLATION", "TOPIC_AUTHORIZATION_FAILED", "INVALID_CONFIG"])
def test_a_refused_internal_topic_names_the_error(error: str, tmp_path: Path) -> None:
    log = "".join(REFUSED.format(millis, f"{error}': A rule.") for millis in ("100", "600"))
    (one,) = judge(tmp_path, {"server.log": log})
    assert (one.kind, one.root_cause) == ("internal_topic_not_created", "refused-by-the-controller")
    assert f"__transaction_state for a broker ({error})" in one.explanation


SHRUNK = (
    "[2024-12-01 18:49:19,001] INFO [Partition bills-{} broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: "
    "4, endOffset: 5). Out of sync replicas: (brokerId: 2, endOffset: 4) (kafka.cluster.Partition)\n"
)
GROWN = "[2024-12-01 18:49:51,{}] INFO [Partition bills-{} broker=1] ISR updated to 1,2 (kafka.cluster.Partition)\n"
RETRIED = (
    "[2024-12-01 18:49:{},001] WARN [Producer clientId=bills] Got error produce response with correlation id 8 on "
    "topic-partition bills-{}, retrying (2147483646 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)


@pytest.mark.parametrize(("returned", "is_over"), [("01", True), ("0", False)])
def test_a_shortage_ends_with_the_last_of_its_partitions(tmp_path: Path, returned: str, is_over: bool) -> None:
    client = "".join(RETRIED.format(second, second % 2) for second in range(22, 50))
    broker = SHRUNK.format(0) + SHRUNK.format(1) + "".join(GROWN.format(f"10{name}", name) for name in returned)
    (one,) = judge(tmp_path, {"client.log": client, "server.log": broker})
    assert one.subject["topic-partitions"] == ("bills-0", "bills-1")
    assert ("in sync again" in one.explanation) is is_over


DESYNCHRONIZED = """\
%5|1730772936.549|REQTMOUT|ingest#producer-1| [thrd:b2.grid:9093/2]: b2.grid:9093/2: Timed out 2 in-flight, 0 \
retry-queued, 41 out-queue, 0 partially-sent requests
%3|1730772936.551|FAIL|ingest#producer-1| [thrd:b2.grid:9093/2]: b2.grid:9093/2: 43 request(s) timed out: disconnect \
(after 82135ms in state UP)
%0|1730772937.452|FATAL|ingest#producer-1| [thrd:b2.grid:9093/2]: Fatal error: Broker: Broker received an out of order \
sequence number: ProduceRequest for readings [11] with 64 message(s) failed due to sequence desynchronization with \
broker 2 (PID{Id:22404,Epoch:0}, base seq 918233)
"""


def test_requests_that_timed_out_may_trigger_a_gap(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"ingest.log": DESYNCHRONIZED})
    assert (one.kind, one.subject["topic-partition"]) == ("out_of_order_sequence", "readings-11")
    assert "lost its connection to b2.grid:9093" in one.explanation


REFUSED_EPOCH = """\
2025-03-11 09:00:06,934 INFO  [net] TransactionManager - [Producer clientId=led-1, transactionalId=led-a] ProducerId \
set to 7007 with epoch 3
2025-03-11 09:08:33,691 INFO  [net] TransactionManager - [Producer clientId=led-1, transactionalId=led-a] Transiting \
to abortable error state due to org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to \
produce with an old epoch.
"""
OWN_BUMP = (
    "2025-03-11 09:08:33,790 INFO  [net] TransactionManager - [Producer clientId=led-1, transactionalId=led-a] "
    "Invoking InitProducerId with current producer ID and epoch ProducerIdAndEpoch(producerId=7007, epoch=3) in order "
    "to bump the epoch\n"
)
NEW_PRODUCER = (
    "2025-03-11 09:08:33,790 INFO  [net] KafkaProducer - [Producer clientId=led-1, transactionalId=led-a] Instantiated "
    "a transactional producer.\n"
)
NEW_EPOCH = (
    "2025-03-11 09:08:33,934 INFO  [net] TransactionManager - [Producer clientId=led-1, transactionalId=led-a] "
    "ProducerId set to 7007 with epoch 5\n"
)


def test_a_producer_that_raises_its_epoch_was_not_replaced(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"led.log": REFUSED_EPOCH + OWN_BUMP + NEW_EPOCH})
    assert (one.kind, one.severity) == ("transaction_timeout", Severity.WARNING)
    assert one.subject["transactional.id"] == "led-a"
    assert "no other instance" in one.explanation


def test_a_new_producer_does_not_show_the_reason(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"led.log": REFUSED_EPOCH + NEW_PRODUCER + NEW_EPOCH})
    assert one.confidence <= 0.5


OVERDUE = """\
2024-07-28 01:12:18,466 WARN  org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction [] - \
Transaction KafkaTransactionState [transactionalId=bills-1, producerId=25, epoch=6] has been open for 42551680 ms. \
This is close to or even exceeding the transaction timeout of 10000 ms.
2024-07-28 01:12:19,902 WARN  org.apache.flink.streaming.connectors.kafka.FlinkKafkaProducer [] - Encountered error \
org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch. while \
recovering transaction KafkaTransactionState [transactionalId={}, producerId={}, epoch=6]. Presumably this \
transaction has been already committed before
"""


@pytest.mark.parametrize(("named", "expected"), [("bills-1", ["transaction_timeout"]), ("other-7", None)])
def test_a_refusal_after_a_timeout_is_a_part_of_it(tmp_path: Path, named: str, expected: list[str] | None) -> None:
    incidents = judge(tmp_path, {"task.log": OVERDUE.format(named, 25 if expected else 99)})
    kinds = [one.kind for one in incidents]
    assert kinds == (expected or ["transaction_timeout", "producer_fenced"])


MEMORY = """\
kafka2 | [2024-04-14 10:20:30,111] ERROR [KafkaApi-2] Unexpected error handling request (kafka.server.KafkaApis)
kafka2 | java.lang.OutOfMemoryError: Java heap space
kafka2 | [2024-04-14 10:20:30,119] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
"""


def test_a_broker_that_ends_without_memory_is_one(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"compose.log": MEMORY})
    assert (one.kind, one.subject["broker"], len(one.evidence)) == ("out_of_memory", "2", 2)


INVALID = (
    '{{"level":"info","ts":{},"msg":"batch in a produce request failed","broker":"2","topic":"bills","partition":{},'
    '"err":"INVALID_RECORD: This record has failed the validation on the broker and hence been rejected."}}\n'
)


@pytest.mark.parametrize(("second", "count"), [(1666173090.02, 1), (1666173390.02, 2)])
def test_two_partitions_at_one_moment_are_one_fault(tmp_path: Path, second: float, count: int) -> None:
    text = INVALID.format(1666173090.01, 0) + INVALID.format(second, 4)
    incidents = judge(tmp_path, {"svc.json": text})
    assert len(incidents) == count
    named = {name for one in incidents for name in (*one.subject.get("topic-partitions", ()),)}
    assert named == ({"bills-0", "bills-4"} if count == 1 else set())
