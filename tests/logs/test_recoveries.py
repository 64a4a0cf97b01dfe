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
