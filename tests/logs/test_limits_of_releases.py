"""Records that expired: the limit is the one that the client's release has, as its words show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

LINE = "2026-03-01 10:00:0{},000 [worker-1] ERROR a.b.Loader - send failed, row {}\n{}\n"
EXPIRING = "org.apache.kafka.common.errors.TimeoutException: Expiring 69 record(s) for ticks.hist-0{}"
SETTING = "delivery.timeout.ms"


def log_of(text: str) -> str:
    return "".join(LINE.format(second, second, text) for second in range(3))


@pytest.mark.parametrize(
    "text",
    [
        EXPIRING.format(": 30001 ms has passed since batch creation plus linger time"),
        EXPIRING.format(": 30026 ms has passed since last append"),
    ],
)
def test_a_batch_that_was_never_sent_is_not_in_kafka(text: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"load.log": log_of(text)})
    assert (one.kind, one.root_cause) == ("send_timeout", "records-expired-in-the-client")
    assert one.subject["topic-partition"] == "ticks.hist-0"
    assert "request.timeout.ms" in one.explanation and "not in Kafka" in one.next_step
    assert SETTING not in one.explanation + one.next_step


@pytest.mark.parametrize(
    "text",
    [
        EXPIRING.format(": 30010 ms has passed since last attempt plus backoff time"),
        "org.apache.kafka.common.errors.TimeoutException: Batch Expired",
        (
            "org.apache.kafka.common.errors.TimeoutException: Batch containing 6 record(s) expired due to timeout "
            "while requesting metadata from brokers for ticks.hist-0"
        ),
    ],
)
def test_older_clients_may_have_sent_the_batch(text: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"load.log": log_of(text)})
    assert (one.kind, one.root_cause) == ("send_timeout", "not-acknowledged-within-request-timeout")
    assert "request.timeout.ms" in one.explanation and SETTING not in one.explanation + one.next_step


def test_a_transaction_with_such_records_must_be_aborted(tmp_path: Path) -> None:
    producer = "[Producer clientId=p, transactionalId=tx-1] Transiting to abortable error state due to "
    text = producer + EXPIRING.format(": 30001 ms has passed since batch creation plus linger time")
    (one,) = judge(tmp_path, {"load.log": f"2026-03-01 10:00:01,000 INFO [io] a.b.C - {text}\n"})
    assert "never sent them, so the transaction of tx-1 must be aborted." in one.explanation


def test_clients_since_2_1_have_their_own_limit(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"load.log": log_of(EXPIRING.format(":120004 ms has passed since batch creation"))})
    assert one.root_cause == "records-not-acknowledged-in-time" and f"({SETTING} in the Java client)" in one.explanation


def test_librdkafka_names_its_limit_otherwise(tmp_path: Path) -> None:
    text = "2026-03-01T10:00:01Z ERROR relay: delivery failed: MessageTimedOut (Local: Message timed out)\n"
    (one,) = judge(tmp_path, {"relay.log": text})
    assert (
        one.root_cause == "not-acknowledged-within-message-timeout" and "within message.timeout.ms" in one.explanation
    )
    assert "queue.buffering.max.messages" in one.next_step
