"""What follows from a fault in the same program is a part of its incident; another fault stays an incident."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

SHORT = (
    "[2026-06-02 04:00:{:02},100] WARN [Producer clientId=tank-1, transactionalId=tank-1] Got error produce response "
    "with correlation id 8 on topic-partition levels-4, retrying (9 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)
EXPIRED = (
    "[2026-06-02 04:02:02,120] ERROR Error when sending message to topic levels with key: 6 bytes, value: 412 bytes "
    "with error: (org.apache.kafka.clients.producer.internals.ErrorLoggingCallback)\n"
    "org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for levels-4:120000 ms has passed since "
    "batch creation\n"
)
NOT_ENDED = (
    "[2026-06-02 04:01:02,400] ERROR Commit failed, will abort (com.acme.Tank)\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting EndTxn(true)\n"
)


def test_a_commit_that_waited_for_replicas_is_an_effect(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"tank.log": "".join(map(SHORT.format, (2, 20, 40))) + NOT_ENDED + EXPIRED})
    assert (found.kind, found.subject["topic-partition"]) == ("not_enough_replicas", "levels-4")
    assert "Effect (send_timeout): the client gave up waiting for its writes" in found.explanation


DOWN = (
    "%3|1781236800.{}|FAIL|pump#producer-1| [thrd:kb{}:9092/{}]: kb{}:9092/{}: Connect to ipv4#10.1.0.1:9092 failed: "
    "Connection refused (after 0ms in state CONNECT)\n"
)
NOT_ADDED = (
    "%1|1781236860.900|TXNERR|pump#producer-1| [thrd:main]: Current transaction failed in state InTransaction: failed "
    "to add offsets to transaction: Local: {}\n"
)


@pytest.mark.parametrize(
    ("error", "cause"),
    [("Timed out (_TIMED_OUT)", "brokers-not-reached"), ("Invalid argument (_INVALID_ARG)", "unexplained")],
)
def test_a_transaction_that_failed_without_brokers(error: str, cause: str, tmp_path: Path) -> None:
    down = "".join(DOWN.format(f"{number}00", *(number,) * 4) for number in (1, 2))
    found = judge(tmp_path, {"pump.log": down + NOT_ADDED.format(error)})
    (failed,) = [one for one in found if one.kind == "producer_error"]
    assert (failed.root_cause == "brokers-not-reached") == (cause == "brokers-not-reached")
    if cause == "brokers-not-reached":
        assert failed.explanation.startswith("The client could not connect to kb1:9092, kb2:9092")


DENIED = (
    "2026-06-03 10:00:00.010 ERROR [C-1] org.apache.kafka.clients.Metadata : [Consumer clientId=c-0, groupId=tides] "
    "Topic authorization failed for topics [tides.v2]\n"
)
WATCHDOG = "2026-06-03 10:15:00.010 ERROR [w-1] c.acme.Watchdog : kafka consumer of {} has been down for 15 minutes\n"
JOINED = (
    "2026-06-03 10:05:00.010 INFO [C-1] o.a.k.c.c.internals.ConsumerCoordinator : [Consumer clientId=c-0, "
    "groupId=tides] Successfully joined group with generation Generation{generationId=3, memberId='c-0-1'}\n"
)


def test_a_watchdog_repeats_a_fault_that_stays(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "denied", {"tides.log": DENIED + WATCHDOG.format("tides")})
    assert found.kind == "topic_authorization"
    found_later = judge(tmp_path / "joined", {"tides.log": DENIED + JOINED + WATCHDOG.format("tides")})
    assert [one.kind for one in found_later] == ["topic_authorization", "error_outside_catalog"]


KILLED = (
    "[2026-06-04 01:{}:00,120] ERROR [ore|task-0] WorkerSinkTask{{id=ore-0}} Task threw an uncaught and unrecoverable "
    "exception. Task is being killed and will not recover until manually restarted. Error: {} "
    "(org.apache.kafka.connect.runtime.WorkerSinkTask:636)\n"
    "org.apache.kafka.connect.errors.ConnectException: {}\nCaused by: {}\n"
)
REFUSED = "java.sql.SQLException: Connection to pg:5432 refused."
TYPE = "java.lang.ClassCastException: class java.lang.Long cannot be cast to class java.lang.String"


@pytest.mark.parametrize(("second", "count"), [(REFUSED, 1), (TYPE, 2)])
def test_a_task_that_fails_again_after_a_restart(second: str, count: int, tmp_path: Path) -> None:
    text = "".join(KILLED.format(minute, of, of, of) for minute, of in (("00", REFUSED), ("11", second)))
    found = judge(tmp_path, {"connect.log": text})
    assert [one.kind for one in found] == ["connect_task_failed"] * count


OLD = (
    "Producer attempted an operation with an old epoch. Either there is a newer producer with the same "
    "transactionalId, or the producer's transaction has been expired by the broker"
)
NODE = (
    '{{"level":"ERROR","timestamp":"2026-06-05T04:05:00.000Z","logger":"kafkajs","message":"[Connection] Response '
    'EndTxn(key: 26, version: 1)","broker":"kb1:9092","clientId":"fx","error":"{}","correlationId":7,"size":10}}\n'
    '{{"level":"ERROR","timestamp":"2026-06-05T04:05:{}Z","logger":"kafkajs","message":"[Consumer] Crash: '
    'KafkaJSProtocolError: {}","groupId":"fx","retryCount":0,"stack":"KafkaJSProtocolError: {}"}}\n'
)


def test_a_consumer_that_ends_with_its_producers_error(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "now", {"fx.json": NODE.format(OLD, "00.004", OLD, OLD)})
    assert found.kind == "producer_fenced"
    assert "Effect (consumer_ended)" in found.explanation
    late = judge(tmp_path / "late", {"fx.json": NODE.format(OLD, "50.004", "Boom", "Boom")})
    assert {one.kind for one in late} == {"consumer_ended", "producer_fenced"}


def test_a_stream_thread_that_waited_for_its_producer(tmp_path: Path) -> None:
    text = (
        "2026-06-06T01:00:00.000Z WARN  stream-thread [wave-1-StreamThread-1] [wave-1-StreamThread-1-producer] Timeout "
        "exception caught trying to initialize transactions. "
        "(org.apache.kafka.streams.processor.internals.StreamsProducer)\n"
        "2026-06-06T01:05:00.000Z ERROR stream-thread [wave-1-StreamThread-1] Encountered the following exception "
        "during processing and the thread is going to shut down: "
        "(org.apache.kafka.streams.processor.internals.StreamThread)\n"
        "org.apache.kafka.common.errors.TimeoutException: Task 0_0 did not make progress within 300000 ms.\n"
        "2026-06-06T01:05:00.100Z ERROR stream-client [wave-1] All stream threads have died. The instance will be in "
        "error state and should be closed. (org.apache.kafka.streams.KafkaStreams)\n"
    )
    (found,) = judge(tmp_path, {"wave.log": text})
    assert (found.kind, found.severity) == ("init_producer_id_timeout", Severity.CRITICAL)
