"""Faults whose end the log shows: a ZooKeeper session, a source of a connector."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

EXPIRED = (
    "[2026-02-03 09:{:02}:25,123] INFO [ZooKeeperClient Kafka server] Session expired. "
    "(kafka.zookeeper.ZooKeeperClient)\n"
)
CONNECTED = (
    "[2026-02-03 09:00:26,523] INFO Session establishment complete on server zk1/192.0.2.1:2181, session id = 0x1001, "
    "negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)\n"
)
IN_USE = (
    "[2026-02-03 09:00:22,123] ERROR [src|task-0] WorkerSourceTask{id=src-0} Task threw an uncaught and unrecoverable "
    "exception (org.apache.kafka.connect.runtime.WorkerTask)\n"
    'Caused by: org.postgresql.util.PSQLException: ERROR: replication slot "cdc" is active for PID 4711\n'
)
RESUMED = (
    "[2026-02-03 09:02:24,123] INFO [src|task-0] WAL resume position 'LSN{2A/AFCDD550}' discovered "
    "(io.debezium.connector.postgresql.PostgresStreamingChangeEventSource)\n"
)


@pytest.mark.parametrize(
    ("text", "severity", "words"),
    [
        (EXPIRED.format(0) + CONNECTED, Severity.WARNING, "again at 2026-02-03T09:00:26.523Z"),
        (EXPIRED.format(0), Severity.ERROR, ""),
        (EXPIRED.format(0) + CONNECTED + EXPIRED.format(3), Severity.ERROR, ""),
        (IN_USE + RESUMED, Severity.WARNING, "from its source again at 2026-02-03T09:02:24.123Z"),
        (IN_USE, Severity.ERROR, ""),
    ],
    ids=["session", "no session", "session lost again", "source", "no source"],
)
def test_an_end_that_the_log_shows_is_reported(text: str, severity: Severity, words: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": text})
    assert found.severity is severity
    assert words in found.explanation and ("again at" in found.explanation) == bool(words)


UNREACHED = {
    "sarama": (
        (
            "2026/02/03 09:0{}:10 [sarama] Failed to connect to broker kb-1:9092: dial tcp 192.0.2.1:9092: connect: "
            "connection refused\n"
        ),
        "2026/02/03 09:04:10 [sarama] Connected to broker at kb-1:9092 (registered as #1)\n",
    ),
    "franz-go": (
        (
            '{{"level":"error","ts":"2026-02-03T09:0{}:10Z","msg":"unable to open connection to broker","addr":'
            '"kb-1:9092","err":"dial tcp 192.0.2.1:9092: connect: connection refused"}}\n'
        ),
        '{"level":"info","ts":"2026-02-03T09:04:10Z","msg":"new group session begun","added":"map[a:[0]]"}\n',
    ),
    "librdkafka": (
        (
            "2026-02-03 09:0{}:10,000 ERROR app: rdkafka: app#producer-1: kb-1:9092/1: Connect to ipv4#192.0.2.1:9092 "
            "failed: Connection refused (after 0ms in state CONNECT)\n"
        ),
        "2026-02-03 09:04:10,000 INFO app: kafka connection restored, delivered 120 buffered messages\n",
    ),
}


@pytest.mark.parametrize("client", UNREACHED)
@pytest.mark.parametrize("again", [True, False], ids=["works again", "still away"])
def test_brokers_that_are_reached_again(client: str, again: bool, tmp_path: Path) -> None:
    failed, worked = UNREACHED[client]
    text = "".join(failed.format(minute) for minute in (0, 1, 2, 3)) + (worked if again else "")
    (found,) = judge(tmp_path, {"app.log": text})
    assert found.kind == "brokers_not_reached"
    assert ("The client worked again at 2026-02-03T09:04:10.000Z (" in found.explanation) == again
    assert (found.severity is Severity.WARNING) == again


def test_a_producer_that_reports_that_it_works_again(tmp_path: Path) -> None:
    text = (
        "2026-02-03 09:00:10,123 ERROR [sender] c.s.Pub - send failed\n"
        "org.apache.kafka.common.errors.TimeoutException: Expiring 12 record(s) for bills-3:120004 ms has passed since "
        "batch creation\n"
    )
    again = "2026-02-03 09:02:10,123 INFO [main] c.s.Pub - producer {}\n"
    (found,) = judge(tmp_path, {"pub.log": text + again.format("recovered")})
    assert "works again" in found.explanation
    (found,) = judge(tmp_path, {"pub.log": text + again.format("has not recovered")})
    assert "works again" not in found.explanation
