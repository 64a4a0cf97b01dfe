"""Faults of programs on the JVM whose records read like those of another fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

LINE = "2026-10-02 {} {} [{}] {} - {}\n"


def line(clock: str, message: str, level: str = "INFO") -> str:
    return LINE.format(f"{clock},000", f"{level:5}", "main", "a.b.Feed", message)


GAVE_UP = "CLIENT_GAVE_UP"
PASSING = "org.apache.kafka.clients.consumer.RetriableCommitFailedException: retriable\nCaused by: "


@pytest.mark.parametrize(
    ("thrown", "category"),
    [
        ("org.apache.kafka.clients.consumer.CommitFailedException: kicked out", "COMMIT_FAILED"),
        (f"{PASSING}org.apache.kafka.common.errors.TimeoutException: Failed to send request", "TIMEOUT_OTHER"),
        (f"{PASSING}org.apache.kafka.common.errors.NotCoordinatorException: not here", "COORDINATOR_UNAVAILABLE"),
        ("akka.kafka.CommitTimeoutException: Kafka commit took longer than: 15 seconds", "TIMEOUT_OFFSETS"),
        ("org.apache.kafka.common.errors.TimeoutException: Timeout expired while fetching topic metadata", GAVE_UP),
    ],
)
def test_passing_failures_of_commits_have_their_reason(thrown: str, category: str, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line("09:00:00", f"it failed\n{thrown}", "WARN"))
    assert [event.category for event in scan_paths([tmp_path]).events] == [category]


UNREACHED = "[Consumer clientId=scan-1, groupId=null] Connection to node -1 ({}) could not be established."
ENDED = "[Consumer clientId={}, groupId=null] Bootstrap broker kb1:9092 (id: -1 rack: null) disconnected"


@pytest.mark.parametrize(
    ("peer", "client", "cause"),
    [
        ("kb1/10.0.0.1:9092", "scan-1", "connections-fail"),
        ("kb2/10.0.0.2:9092", "scan-1", "connection-ended-by-the-broker"),
        ("kb1/10.0.0.1:9092", "scan-2", "connection-ended-by-the-broker"),
    ],
    ids=["same", "another broker", "another client"],
)
def test_a_connection_not_made_is_not_ended_by_a_broker(peer: str, client: str, cause: str, tmp_path: Path) -> None:
    text = "".join(
        line(at, UNREACHED.format(peer), "WARN") + line(at, ENDED.format(client), "WARN")
        for at in ("09:00:00", "09:00:30", "09:01:00", "09:01:30")
    )
    ended = [one for one in judge(tmp_path, {"scan.log": text}) if "kb1:9092" in str(one.subject)]
    assert {one.root_cause for one in ended} == {cause}


REFUSED = (
    "[Producer clientId=meter-4] Got error produce response with correlation id {} on topic-partition reads-8, "
    "retrying ({} attempts left). Error: OUT_OF_ORDER_SEQUENCE_NUMBER"
)


@pytest.mark.parametrize(
    ("clocks", "left", "is_stuck"),
    [
        (("09:00:00", "09:01:00", "09:02:00"), (900, 700, 400), True),
        (("09:00:00", "09:00:01", "09:00:02"), (900, 899, 898), False),
        (("09:00:00", "09:01:00", "09:02:00"), (900, 899, 900), False),
    ],
    ids=["one batch for minutes", "soon over", "several batches"],
)
def test_a_batch_refused_for_minutes_is_a_fault(
    clocks: tuple[str, ...], left: tuple[int, ...], is_stuck: bool, tmp_path: Path
) -> None:
    text = "".join(line(at, REFUSED.format(7, count), "WARN") for at, count in zip(clocks, left, strict=True))
    found = judge(tmp_path, {"meter.log": line("08:59:00", "up") + text})
    assert [one.kind for one in found] == (["out_of_order_sequence"] if is_stuck else [])
    assert all("for 2 min: its records are not written meanwhile" in one.explanation for one in found)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (r"Failed to create dir: H:\tmp\streams\play\0_2\seen:15: Invalid argument", "state_directory_error"),
        (r"Corruption: Bad table magic number in \tmp\streams\play\0_2\seen\1.sst", "state_store_corrupt"),
    ],
)
def test_a_store_that_windows_does_not_create(reason: str, kind: str, tmp_path: Path) -> None:
    text = (
        line("09:00:00", "stream-thread [play-StreamThread-1] the thread is going to shut down: ", "ERROR")
        + "org.apache.kafka.streams.errors.ProcessorStateException: Error opening store seen:15 at location "
        + f"\\tmp\\streams\\play\\0_2\\seen\nCaused by: org.rocksdb.RocksDBException: {reason}\n"
    )
    (one,) = judge(tmp_path, {"play.log": text})
    assert (one.kind, one.subject["application.id"]) == (kind, "play")


EMPTY = "{} transaction error\norg.apache.kafka.common.errors.InvalidTxnStateException: in an invalid state."


@pytest.mark.parametrize(("call", "kind"), [("commit", "transaction_request_refused"), ("send", "transaction_timeout")])
def test_a_refused_commit_may_be_of_an_empty_transaction(call: str, kind: str, tmp_path: Path) -> None:
    text = line("09:00:00", "up") + line("09:30:00", EMPTY.format(call), "ERROR")
    (one,) = judge(tmp_path, {"pipe.log": text})
    assert one.kind == kind


GOT = (
    "java.lang.IllegalArgumentException: requirement failed: Got wrong record for spark-executor-lake reads-0 even"
    " after seeking to offset 2 got offset {} instead."
)


@pytest.mark.parametrize(("got", "cause"), [(3, "offsets-without-records"), (1, "none-within-the-poll-time")])
def test_offsets_without_records_are_not_missing(got: int, cause: str, tmp_path: Path) -> None:
    text = "".join(line(at, f"Exception in task\n{GOT.format(got)}", "ERROR") for at in ("09:00:00", "09:00:04"))
    (one,) = judge(tmp_path, {"driver.log": text})
    assert (one.root_cause, one.subject["topic-partition"]) == (cause, "reads-0")


FOUND = "[Producer clientId=p-1, transactionalId=tx-1] Discovered transaction coordinator kb3:9092 (id: 3 rack: null)"
LEFT = "[Producer clientId=p-1, transactionalId=tx-1] Node 3 disconnected."
NO_ID = (
    "POST failed\norg.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting "
    "InitProducerId"
)


@pytest.mark.parametrize(
    ("before", "is_named"), [((FOUND,), True), ((FOUND, LEFT), False), ((), False)], ids=["found", "lost", "none"]
)
def test_a_coordinator_that_was_found_is_named(before: tuple[str, ...], is_named: bool, tmp_path: Path) -> None:
    text = "".join(line(f"09:00:0{number}", message) for number, message in enumerate(before))
    (one,) = judge(tmp_path, {"orders.log": text + line("09:01:00", NO_ID, "ERROR")})
    assert one.kind == "init_producer_id_timeout"
    assert ("its transaction coordinator, broker 3," in one.explanation) == is_named


def test_a_message_may_begin_below_its_exception(tmp_path: Path) -> None:
    text = line("09:00:00", "WorkerSinkTask{id=lake-0} Task threw an uncaught and unrecoverable exception", "ERROR")
    below = "com.lake.LakeException: \n[LAKE] Exception: Failed to upload file\n\tat com.lake.Put.put(Put.java:52)\n"
    (one,) = judge(tmp_path, {"worker.log": text + below})
    assert "Its last cause: LakeException: [LAKE] Exception: Failed to upload file." in one.explanation


ROLLED_BACK = (
    "Transaction rolled back\norg.springframework.kafka.listener.ListenerExecutionFailedException: Listener failed\n"
    "Caused by: {}: it failed"
)


@pytest.mark.parametrize(
    ("thrown", "cause"),
    [
        ("java.lang.IllegalArgumentException", "exception-of-the-listener"),
        ("org.springframework.kafka.KafkaException", "unexplained"),
    ],
)
def test_a_listener_that_throws_is_not_a_fault_of_kafka(thrown: str, cause: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"seats.log": line("09:00:00", ROLLED_BACK.format(thrown), "ERROR")})
    assert (one.kind, one.root_cause) == ("transaction_rolled_back_by_framework", cause)


NOT_CREATED = (
    "Error while attempting to create/find topic(s) '{}'\norg.apache.kafka.common.errors."
    "InvalidReplicationFactorException: Replication factor: 3 larger than available brokers: 1."
)


@pytest.mark.parametrize(("topic", "is_internal"), [("stock.moves", False), ("__transaction_state", True)])
def test_only_internal_topics_have_settings_of_brokers(topic: str, is_internal: bool, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"jdbc.log": line("09:00:00", NOT_CREATED.format(topic), "ERROR")})
    assert one.subject["topic"] == topic
    assert ("transaction.state.log" in one.next_step) == is_internal


def test_the_reason_of_an_ended_handshake_is_one_clause(tmp_path: Path) -> None:
    ended = (
        "[AdminClient clientId=mirror] Connection to node -1 (kb1/10.5.0.7:9093) terminated during authentication."
        " This may happen due to any of the following reasons: (1) Firewall blocking (eg only HTTPS), (2) Other."
    )
    (one,) = judge(tmp_path, {"mm2.log": line("09:00:00", ended, "WARN") + line("09:01:00", ended, "WARN")})
    assert one.subject["server"] == "kb1/10.5.0.7:9093"
    assert "could not authenticate (terminated during authentication)," in one.explanation
