"""What follows from a fault is a part of its incident, and names from a log's beginning are in its subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

STARTED = "2026-04-02 10:00:03,412 INFO ocr.consumer subscribed to ['scan-jobs'] group=ocr-gpu\n"
LEFT = (
    "%4|1775124373.118|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval (300000ms) exceeded "
    "by 255ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"
)
REFUSED = (
    "2026-04-02 10:14:41,003 ERROR ocr.consumer commit failed: KafkaError{code=UNKNOWN_MEMBER_ID,val=25,"
    'str="Commit failed: Broker: Unknown member"}\n'
)
SILENT = (
    "2026-02-24 03:36:02,118 WARNING kafka.coordinator Heartbeat session expired, marking coordinator dead\n"
    "2026-02-24 03:36:02,301 ERROR kafka.coordinator.consumer OffsetCommit failed for group costs due to group error "
    "([Error 25] UnknownMemberIdError: costs), will rejoin\n"
    "2026-02-24 03:36:30,008 WARNING kafka.coordinator.consumer Auto offset commit failed: [Error 25] "
    "UnknownMemberIdError: costs\n"
)
DENIED = (
    "[2026-01-01 10:00:00,000] INFO [Producer clientId=p, transactionalId=t-1] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.TransactionalIdAuthorizationException: Transactional Id authorization failed. "
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
TEST = "Gradle Test Run :core:test > Gradle Test Executor 4 > FooTest > bar() {}\n"


def test_a_refused_commit_is_an_effect_of_a_slow_poll(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": STARTED + LEFT + REFUSED})
    assert (found.kind, found.subject["group"]) == ("poll_interval_exceeded", "ocr-gpu")
    assert "Effect (member_fenced)" in found.explanation and len(found.evidence) == 2


def test_offsets_are_refused_only_if_a_commit_failed(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": STARTED + LEFT})
    assert "refused" not in found.explanation


def test_a_client_that_reports_its_expired_session_was_removed(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": SILENT})
    assert (found.kind, found.root_cause) == ("member_evicted", "heartbeats-missed")
    assert "it had not rejoined" in found.explanation


@pytest.mark.parametrize(("result", "kind"), [("PASSED", "test_run"), ("FAILED", "transactional_id_authorization")])
def test_only_tests_that_passed_have_expected_errors(result: str, kind: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"console.log": TEST.format("STARTED") + DENIED + TEST.format(result)})
    assert found.kind == kind


def test_a_test_does_not_cover_the_errors_of_other_hours(tmp_path: Path) -> None:
    ran = "[2026-01-01 {}:00:00,000] INFO Tests run: 3, Failures: 0, Errors: 0 (selftest)\n"
    (found,) = judge(tmp_path, {"app.log": ran.format("08") + DENIED + ran.format("12")})
    assert found.kind == "transactional_id_authorization"


STUCK = (
    "08:22:03.511 [batch-1] ERROR c.m.Sender - failed to publish\n"
    "org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state\n"
)
EXPIRED = (
    "08:12:03.466 [kafka-producer-network-thread | p] INFO  o.a.k.c.p.internals.TransactionManager - [Producer "
    "clientId=p, transactionalId={}] Transiting to abortable error state due to "
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id.\n"
)
BEGUN = (
    "08:20:00.000 [main] INFO  o.a.k.c.p.internals.TransactionManager - [Producer clientId=p, transactionalId={}] "
    "ProducerId set to 4001 with epoch 3\n"
)
ELECTION = (
    "2025-10-07 10:3{}:01 INFO  [kafka-4-raft-io-thread] KafkaRaftClient:3136 - [RaftManager id=4] Election timed out "
    "before receiving sufficient vote responses to become candidate. Current epoch election state: "
    "EpochElection(voterStates={{}})\n"
)
WAITED = (
    "2025-10-07 10:53:55 ERROR [main] BrokerServer:72 - [BrokerServer id=2] Received a fatal error while waiting for "
    "the controller to acknowledge that we are caught up\njava.util.concurrent.CancellationException: null\n"
)
ELECTED = (
    "2025-10-07 10:40:00 INFO  [kafka-4-raft-io-thread] QuorumState:139 - [RaftManager id=4] Completed transition to "
    "FollowerState(fetchTimeoutMs=2000, epoch=9, leader=3, leaderEndpoints={}, voters=[3, 4, 5]) from Unattached\n"
)
SLOW = (
    "2026-01-22T14:54:03Z D! [sarama] consumer/broker/1 abandoned subscription to klogs/9 because consuming was taking "
    "too long\n2026-01-22T14:55:07Z D! [sarama] consumer/broker/1 abandoned subscription to klogs/9 because consuming "
    "was taking too long\n"
    "2026-01-22T14:56:20Z W! [outputs.influxdb] Metric buffer overflow; 30000 metrics have been dropped\n"
)


def test_a_producer_in_its_error_state_is_an_effect(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": EXPIRED.format("t-1") + STUCK})
    assert found.kind == "transactional_id_expired" and "Effect (producer_error)" in found.explanation


def test_a_new_producer_has_errors_of_its_own(tmp_path: Path) -> None:
    found = judge(tmp_path, {"app.log": EXPIRED.format("t-1") + BEGUN.format("t-1") + STUCK})
    assert {one.kind for one in found} == {"transactional_id_expired", "producer_error"}


def test_an_overflow_belongs_to_a_slow_consumer(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"telegraf.log": SLOW})
    assert found.kind == "consumer_too_slow" and "Effect (records_dropped)" in found.explanation


@pytest.mark.parametrize(("before", "count"), [("", 1), (ELECTED, 2)])
def test_a_broker_waits_for_a_lost_quorum(before: str, count: int, tmp_path: Path) -> None:
    lost = ELECTION.format(0) + ELECTION.format(1) + ELECTION.format(2) + before
    found = judge(tmp_path, {"controller-4.log": lost, "broker-2.log": WAITED})
    assert (found[0].kind, len(found)) == ("controller_quorum_lost", count)
    assert (found[0].subject.get("waiting.brokers") == ("2",)) == (count == 1)


STORE = "Feb 21 15:02:16 dc1 storage[81144]: ERROR storage.producer : [Kafka] [thrd:main]: "
FAILED = STORE + "Current transaction failed in state InTransaction: Transactional operation failed ({})\n"
WAITING = (
    "Feb 21 15:02:16 dc1 storage[81144]: NOTICE storage.producer : [Kafka] [thrd:TxnCoordinator]: TxnCoordinator/0: "
    "Timed out AddPartitionsToTxnRequest in flight (after 60058ms, timeout #0)\n"
)
UNREACHED = (
    "[2022/10/27 18:32:44] [error] [output:kafka:kafka.0] fluent-bit#producer-1: [thrd:kfk-a:9092/bootstrap]: "
    "kfk-a:9092/bootstrap: Connect to ipv4#10.9.1.4:9092 failed: Connection timed out (after 31022ms)\n"
)
GIVEN_UP = (
    "[2022/10/27 18:32:55] [ warn] [engine] chunk '1-1666895562.735639511.flb' cannot be retried: task_id=35, "
    "input=tail.0 > output=kafka.0\n"
)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("_TIMED_OUT", "coordinator-did-not-answer"),
        ("NOT_COORDINATOR, requires epoch bump", "coordinator-not-available"),
        ("POLICY_VIOLATION", "unexplained"),
    ],
)
def test_a_failed_transaction_names_its_error(error: str, cause: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"journal.txt": WAITING + FAILED.format(error)})
    assert found.root_cause == cause
    assert ("AddPartitionsToTxn" in found.explanation) == (cause != "unexplained")


def test_given_up_records_name_the_lost_connection(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"shipper.log": UNREACHED + GIVEN_UP})
    assert (found.root_cause, found.subject["servers"]) == ("brokers-not-reached", ("kfk-a:9092",))
    assert found.subject["component"] == "kafka.0"


def test_a_later_connection_is_not_the_cause(tmp_path: Path) -> None:
    later = UNREACHED.replace("18:32:44", "18:40:44")
    found = judge(tmp_path, {"shipper.log": GIVEN_UP + later})
    assert {one.root_cause for one in found} == {"handler-continues-after-a-failed-write"}


JOINED = (
    '{{"level":"INFO","timestamp":"2026-05-28T08:{}Z","logger":"kafkajs","message":"[ConsumerGroup] Consumer has '
    'joined the group","groupId":"notifier","memberId":"api-1","isLeader":true}}\n'
)
EXPELLED = (
    '{{"level":"ERROR","timestamp":"2026-05-28T08:{}Z","logger":"kafkajs","message":"[Runner] The coordinator is not '
    'aware of this member, re-joining the group","groupId":"notifier","memberId":"api-1"}}\n'
)


@pytest.mark.parametrize(
    ("second", "cause"), [("12:16.870", "handler-blocks-heartbeats"), ("14:16.870", "member-not-in-its-generation")]
)
def test_a_fixed_cycle_is_a_blocked_handler(second: str, cause: str, tmp_path: Path) -> None:
    first = JOINED.format("10:02.114") + EXPELLED.format("11:07.870") + EXPELLED.format("11:07.871")
    again = JOINED.format("11:10.900") + EXPELLED.format(second)
    (found,) = judge(tmp_path, {"app.log": first + again})
    assert found.root_cause == cause and "(2 times)" in found.explanation


@pytest.mark.parametrize(
    ("times", "cause"),
    [
        (("11:07.870", "12:16.870", "13:25.870", "14:34.870"), "handler-blocks-heartbeats"),
        (("11:07.870", "11:46.870", "13:25.870", "14:34.870"), "members-refused-after-each-rejoin"),
    ],
)
def test_a_loop_of_one_member_may_be_a_blocked_handler(times: tuple[str, ...], cause: str, tmp_path: Path) -> None:
    heartbeat = (
        '{{"level":"ERROR","timestamp":"2026-05-28T08:{}Z","logger":"kafkajs","message":"[Connection] Response '
        'Heartbeat(key: 12, version: 3)","clientId":"api","error":"The coordinator is not aware of this member"}}\n'
    )
    joins = ("10:02.870", "11:10.870", "12:19.870", "13:28.870")
    rounds = (
        JOINED.format(join) + heartbeat.format(at) + EXPELLED.format(at) for join, at in zip(joins, times, strict=True)
    )
    (found,) = judge(tmp_path, {"app.log": "".join(rounds)})
    assert found.root_cause == cause and "4 times in" in found.explanation
