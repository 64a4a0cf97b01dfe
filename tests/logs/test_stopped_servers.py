"""Clients that outlive a server in the same log, as in a test with an embedded broker."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.severity import Severity
from tests.logs.judging import judge

NAME = "[Producer clientId=meters-1] "
SIGNED = "[2026-05-04 10:00:{:02},100] {} {}{} ({})\n"
NETWORK = "org.apache.kafka.clients.NetworkClient"
PRODUCER = "org.apache.kafka.clients.producer.KafkaProducer"
SERVER = "kafka.server.KafkaServer"
LOST = "Connection to node 0 (localhost/127.0.0.1:41017) could not be established. Broker may not be available."
STARTED = SIGNED.format(1, "INFO", NAME, "Instantiated an idempotent producer.", PRODUCER)
STOPPING = SIGNED.format(10, "INFO", "[KafkaServer id=0] ", "shutting down", SERVER)
STOPPED = SIGNED.format(12, "INFO", "[KafkaServer id=0] ", "shut down completed", SERVER)
RESTARTED = SIGNED.format(14, "INFO", "[KafkaServer id=0] ", "started", SERVER)
FAILING = "".join(SIGNED.format(second, "WARN", NAME, LOST, NETWORK) for second in (11, 13, 15, 17, 19))
CLOSED = SIGNED.format(20, "INFO", NAME, "Closing the Kafka producer with timeoutMillis = 30000 ms.", PRODUCER)


def in_order(*texts: str) -> str:
    """Return the lines of texts in order of their stamps."""
    return "".join(sorted("".join(texts).splitlines(keepends=True)))


def test_a_client_that_is_closed_after_its_server_is_healthy(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"it.log": in_order(STARTED, STOPPING, STOPPED, FAILING, CLOSED)})
    assert (one.severity, one.root_cause) == (Severity.INFO, "server-stopped-before-its-clients")
    assert "on purpose at 2026-05-04T10:00:10.100Z" in one.explanation and "10:00:20.100Z" in one.explanation


def test_a_client_that_runs_on_misses_its_server(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"it.log": in_order(STARTED, STOPPING, STOPPED, FAILING)})
    assert (one.severity, one.root_cause) == (Severity.WARNING, "connections-fail")


def test_a_server_that_did_not_stop_is_still_missed(tmp_path: Path) -> None:
    found = judge(tmp_path, {"it.log": in_order(STARTED, FAILING, CLOSED)})
    assert all(one.root_cause != "server-stopped-before-its-clients" for one in found)


def test_a_server_that_started_again_is_missed(tmp_path: Path) -> None:
    found = judge(tmp_path, {"it.log": in_order(STARTED, STOPPING, STOPPED, RESTARTED, FAILING, CLOSED)})
    assert all(one.root_cause != "server-stopped-before-its-clients" for one in found)


def test_a_server_of_another_file_may_still_be_needed(tmp_path: Path) -> None:
    files = {"server.log": STOPPING + STOPPED, "it.log": in_order(STARTED, FAILING, CLOSED)}
    assert all(one.root_cause != "server-stopped-before-its-clients" for one in judge(tmp_path, files))
