"""What a fault of a client leads to, in its program and at its coordinator, is a part of its incident."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

NOT_ADMITTED = (
    "2026-04-02 08:00:02.201 ERROR 1 --- [net] o.a.k.clients.NetworkClient : [Producer clientId=bill-1] Connection to "
    "node -1 (mq-1.prod/10.0.0.5:9093) failed authentication due to: Authentication failed: Invalid username or "
    "password\n"
)
EXPIRED = (
    "2026-04-02 08:02:03.001 ERROR 1 --- [net] c.a.Billing : send failed\norg.apache.kafka.common.errors."
    "TimeoutException: Expiring 3 record(s) for bills-0:120000 ms has passed since batch creation\n"
)
UNMAPPED = (
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id."
)
FATAL = (
    "2026-06-02 09:14:02,507 ERROR [ids-StreamThread-2] o.a.k.c.p.i.TransactionManager - [Producer "
    "clientId=ids-StreamThread-2-1_5-producer, transactionalId=ids-1_5] Transiting to fatal error state due to "
    f"{UNMAPPED}\n"
)
HTTP = (
    "2026-06-02 09:14:12,341 ERROR [http-nio-8080-exec-3] c.a.Api - request timed out waiting for id allocation\n"
    "java.util.concurrent.TimeoutException: null\n"
)
DEAD = (
    "2026-06-02 09:16:32,602 ERROR [{0}-StreamThread-2] o.a.k.s.KafkaStreams - stream-client [{0}] Encountered the "
    "following exception during processing and the registered exception handler opted to SHUTDOWN_CLIENT. The streams "
    "client is going to shut down now.\norg.apache.kafka.streams.errors.StreamsException: Exception caught in process. "
    "taskId=1_5\n"
    "2026-06-02 09:16:32,721 ERROR [{0}-StreamThread-2] o.a.k.s.KafkaStreams - stream-client [{0}] All stream threads "
    "have died. The instance will be in error state and should be closed.\n"
)
LOST = (
    "2026-06-04 06:02:12,655 ERROR org.apache.kafka.clients.producer.internals.TransactionManager [] - [Producer "
    "clientId=producer-fx-0-81, transactionalId=fx-0-81] Transiting to fatal error state due to " + UNMAPPED + "\n"
    "2026-06-04 06:02:12,660 ERROR org.apache.flink.connector.kafka.sink.KafkaCommitter [] - Unable to commit "
    "transaction (org.apache.flink.streaming.runtime.operators.sink.committables.CommitRequestImpl@5c) because it's in "
    "an invalid state. Most likely the transaction has been aborted for some reason. Please check the Kafka logs for "
    "more details.\n" + UNMAPPED + "\n"
)
INITIALIZED = (
    "2026-06-05 13:14:02,001 INFO [main] o.a.k.c.p.i.TransactionManager - [Producer clientId=p, transactionalId=al-0] "
    "ProducerId set to 1674 with epoch 0\n"
)
UNPERMITTED = (
    "2026-06-05 13:14:18,167 ERROR [net] o.a.k.c.p.i.TransactionManager - [Producer clientId=p, transactionalId=al-0] "
    "Transiting to fatal error state due to org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized "
    "to access topics: [warnings]\n"
)
ROLLED_BACK = (
    "[2026-06-05 13:15:18,004] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for "
    "transactionalId {} due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
NOT_CREATED = "".join(
    f"[2026-06-01 09:00:{second},633] INFO [ReplicationControlManager id=1] CreateTopics result(s): "
    "CreatableTopic(name='__{}', numPartitions=50, replicationFactor=3): INVALID_REPLICATION_FACTOR (Unable to "
    "replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because only 1 "
    "broker(s) are registered.) (org.apache.kafka.controller.ReplicationControlManager)\n"
    for second in ("06", "36")
)
WAITED = (
    "2026-06-01 09:00:06.101  INFO 1 --- [main] o.a.k.c.p.KafkaProducer : [Producer clientId=p-1, "
    "transactionalId=pay-0] Instantiated a transactional producer.\n"
    "2026-06-01 09:01:06.201 ERROR 1 --- [main] o.s.boot.SpringApplication : Application run failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000 milliseconds while awaiting "
    "InitProducerId\n"
)
NO_GROUP = (
    "2026-06-03T10:00:02Z ERROR rdkafka [thrd:main]: Group authorization failed: group feed: Broker: Group "
    "authorization failed\n"
    '2026-06-03T10:00:04Z ERROR feeder consume: KafkaError{{code=GROUP_AUTHORIZATION_FAILED,val=30,str="'
    'FindCoordinator response error: Broker: Group authorization failed"}}\n'
    "2026-06-03T10:00:40Z FATAL feeder {}\n"
)
REFUSED_SEQUENCE = (
    "[2026-06-07 03:{},120] ERROR [ReplicaManager broker=2] Error processing append operation on partition shops-0 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence "
    "number for producer {} at offset 1641969 in partition shops-0: {} (incoming seq. number), 155 (current end "
    "sequence number)\n"
)
RENEWED = (
    "[2026-06-07 03:20:00,000] INFO [TransactionCoordinator id=2] Initialized transactionalId shop with producerId "
    "29003 and producer epoch 3 on partition __transaction_state-1 "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)
IN_SYNC = (
    "[2026-06-07 03:17:02,004] INFO [Partition shops-0 broker=2] Expanding ISR from 2,1 to 2,1,3 "
    "(kafka.cluster.Partition)\n"
)
NODE_LOST = (
    "2026-06-06 01:37:41,402 WARN [net] o.a.k.c.NetworkClient - [Producer clientId={}, transactionalId=lt-0] "
    "Connection to node 3 (b-3.l/10.7.3.9:9098) could not be established. Node may not be available.\n"
)
FENCED = (
    "2026-06-06 01:37:{},118 ERROR [net] o.a.k.c.p.i.TransactionManager - [Producer clientId=lp, transactionalId=lt-0] "
    "Transiting to fatal error state due to org.apache.kafka.common.errors.ProducerFencedException: There is a newer "
    "producer with the same transactionalId which fences the current one.\n"
)


def test_timeouts_of_a_client_that_no_broker_admits(tmp_path: Path) -> None:
    (one,) = judge(tmp_path / "same", {"app.log": NOT_ADMITTED + EXPIRED})
    assert (one.kind, one.subject["topic-partition"]) == ("authentication_failed", "bills-0")
    assert "Effect (send_timeout): at 2026-04-02T08:02:03.001Z, most likely because of it" in one.explanation
    assert len(judge(tmp_path / "other", {"app.log": NOT_ADMITTED, "ship.log": EXPIRED})) == 2


def test_a_streams_client_dies_of_its_producers_error(tmp_path: Path) -> None:
    (one,) = judge(tmp_path / "same", {"app.log": FATAL + HTTP + DEAD.format("ids")})
    assert (one.kind, one.severity) == ("transactional_id_expired", Severity.CRITICAL)
    assert "ended the Streams client at 2026-06-02T09:16:32.602Z" in one.explanation
    assert "id allocation" not in one.explanation
    assert len(judge(tmp_path / "other", {"app.log": FATAL, "b.log": DEAD.format("other")})) == 2


def test_a_lost_commit_follows_from_its_expired_id(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"jobmanager.log": LOST})
    assert (one.kind, one.severity) == ("transactional_id_expired", Severity.CRITICAL)
    assert "readers never see its records" in one.explanation
    assert one.next_step.startswith("Stop the restarts")


def test_a_rollback_follows_from_the_producers_fault(tmp_path: Path) -> None:
    app = INITIALIZED + UNPERMITTED
    (one,) = judge(tmp_path / "same", {"app.log": app, "server.log": ROLLED_BACK.format("al-0")})
    assert one.kind == "topic_authorization"
    assert "so the coordinator rolled it back at 2026-06-05T13:15:18.004Z" in one.explanation
    assert len(judge(tmp_path / "other", {"app.log": app, "server.log": ROLLED_BACK.format("al-1")})) == 2


def test_a_producer_waits_for_a_topic_that_is_not_created(tmp_path: Path) -> None:
    files = {"server.log": NOT_CREATED.format(*["transaction_state"] * 2), "app.log": WAITED}
    (one,) = judge(tmp_path / "same", files)
    assert (one.kind, one.subject["transactional.id"]) == ("internal_topic_not_created", "pay-0")
    assert "pay-0 waited for the coordinator, and gave up at 2026-06-01T09:01:06.201Z" in one.explanation
    files["server.log"] = NOT_CREATED.format(*["consumer_offsets"] * 2)
    assert len(judge(tmp_path / "other", files)) == 2


@pytest.mark.parametrize(("at", "count"), [("11:0", 1), ("03:3", 1), ("11:1", 2)])
def test_a_producer_may_wait_in_another_zone(at: str, count: int, tmp_path: Path) -> None:
    waited = WAITED.replace(" 09:0", f" {at}")
    files = {"server.log": NOT_CREATED.format(*["transaction_state"] * 2), "app.log": waited}
    found = judge(tmp_path, files)
    assert len(found) == count
    if count == 1:
        assert "gave up at" not in found[0].explanation and found[0].t_end_ms - found[0].t_start_ms < 60_000


@pytest.mark.parametrize(
    ("words", "is_effect"),
    [("subscription not established after 40s, giving up", True), ("database migration failed, exiting", False)],
)
def test_the_last_words_of_a_program_are_an_effect(words: str, is_effect: bool, tmp_path: Path) -> None:
    one = judge(tmp_path, {"feeder.log": NO_GROUP.format(words)})[0]
    assert one.kind == "group_authorization"
    assert (f'the program reports "feeder {words}"' in one.explanation) is is_effect


@pytest.mark.parametrize(("between", "count"), [("", 1), (IN_SYNC, 1), (RENEWED, 2)], ids=["nothing", "isr", "new"])
def test_a_stuck_producer_is_one_incident(between: str, count: int, tmp_path: Path) -> None:
    later = REFUSED_SEQUENCE.format("40:10", 29003, 161) + REFUSED_SEQUENCE.format("59:11", 29003, 164)
    found = judge(tmp_path, {"server.log": REFUSED_SEQUENCE.format("14:58", 29003, 158) + between + later})
    assert len(found) == count


def test_another_producer_is_another_incident(tmp_path: Path) -> None:
    text = REFUSED_SEQUENCE.format("14:58", 29003, 158) + REFUSED_SEQUENCE.format("40:10", 29004, 161)
    assert len(judge(tmp_path, {"server.log": text})) == 2


@pytest.mark.parametrize(("client", "second", "is_named"), [("lp", 44, True), ("other", 44, False), ("lp", 59, False)])
def test_a_lost_broker_may_trigger_a_fault(client: str, second: int, is_named: bool, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"app.log": NODE_LOST.format(client) + FENCED.format(second)})
    assert one.kind == "producer_fenced"
    lost = "had lost its connection to b-3.l/10.7.3.9:9098 at 2026-06-06T01:37:41.402Z: that may have triggered it."
    assert (lost in one.explanation) is is_named


DESYNCHRONIZED = (
    "%3|1765000000.100|FAIL|rdkafka#producer-1| [thrd:kb3:9093/3]: kb3:9093/3: Connect to ipv4#10.60.4.33:9093 failed: "
    "Connection refused (after 2ms in state CONNECT)\n"
    "%1|1765000162.300|FATAL|rdkafka#producer-1| [thrd:kb3:9093/3]: Fatal error: Broker: Broker received an out of "
    "order sequence number: ProduceRequest for parts [12] with 1 message failed due to sequence desynchronization with "
    "broker {} (PID{{Id:30817,Epoch:0}}, base seq 41, idemp state change 8185430ms ago, last partition error NONE)\n"
)


@pytest.mark.parametrize(("broker", "is_named"), [(3, True), (1, False)])
def test_the_broker_that_refuses_may_have_been_lost(broker: int, is_named: bool, tmp_path: Path) -> None:
    found = judge(tmp_path, {"app.log": DESYNCHRONIZED.format(broker)})
    gap = next(one for one in found if one.kind == "out_of_order_sequence")
    assert gap.subject["broker"] == str(broker)
    assert ("In the 2 min 42 s before, the same client had lost" in gap.explanation) == is_named
