"""Failures of a diagnosis give a message and an exit code, and are never reported as health."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from msgspec.structs import replace

from eosctl.sandbox.process import manage
from eosctl.sandbox.process.identity import send_signal, wait_for_exit
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from tests.commands.conftest import eosctl
from tests.commands.doctor.recording_proxy import RecordingProxy


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    """A cluster with one topic and one transaction that ended."""
    with SandboxThread(brokers=3, fast=False) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap})
        admin.create_topics([NewTopic("orders", 2)])["orders"].result(20)
        producer = Producer({"bootstrap.servers": running.bootstrap, "transactional.id": "orders-writer"})
        producer.init_transactions(20)
        producer.begin_transaction()
        producer.produce("orders", b"paid")
        producer.commit_transaction(20)
        yield running


# What each refusal looks like on the wire when the principal lacks Describe on the resource (KafkaApis).
def deny_producers(answer: Any) -> Any:
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    topics = [
        replace(topic, partitions=[replace(part, error_code=denied, active_producers=()) for part in topic.partitions])
        for topic in answer.topics
    ]
    return replace(answer, topics=topics)


def deny_transactions(answer: Any) -> Any:
    denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    states = [
        type(state)(error_code=denied, transactional_id=state.transactional_id) for state in answer.transaction_states
    ]
    return replace(answer, transaction_states=states)


def deny_configs(answer: Any) -> Any:
    codes = {2: ErrorCode.TOPIC_AUTHORIZATION_FAILED, 4: ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
    results = [replace(one, error_code=codes[one.resource_type], configs=()) for one in answer.results]
    return replace(answer, results=results)


def deny_quorum(answer: Any) -> Any:
    return replace(answer, error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, topics=())


DENIALS = (
    (ApiKey.DESCRIBE_PRODUCERS, deny_producers, "TOPIC_AUTHORIZATION_FAILED", "EOS-TXN-001"),
    (ApiKey.DESCRIBE_TRANSACTIONS, deny_transactions, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "EOS-TXN-001"),
    (ApiKey.DESCRIBE_CONFIGS, deny_configs, "AUTHORIZATION_FAILED", "EOS-BRK-001"),
)


@pytest.mark.parametrize(("api_key", "deny", "error", "check_id"), DENIALS, ids=[d[0].name for d in DENIALS])
def test_unauthorized_evidence_is_skipped_and_never_passes(
    api_key: ApiKey, deny: Callable[[Any], Any], error: str, check_id: str, cluster: SandboxThread
) -> None:
    whole = eosctl("doctor", "-b", cluster.bootstrap, "-o", "json")
    assert whole.json["evidence"]["complete"]
    with RecordingProxy(cluster.bootstrap, {api_key: deny}) as proxy:
        done = eosctl("doctor", "-b", proxy.bootstrap, "-o", "json")
        required = eosctl("doctor", "-b", proxy.bootstrap, "--require-complete")
        assert api_key in proxy.apis
    assert done.code == whole.code == 0, done.err
    assert required.code == 4
    gaps = [gap for gap in done.json["evidence"]["gaps"] if gap["reason"] == "not-authorized"]
    assert gaps, done.json["evidence"]["gaps"]
    assert all(error in gap["error"] for gap in gaps)
    assert all(gap["next_step"] for gap in gaps)
    before = {check["id"]: check for check in whole.json["checks"]}
    after = {check["id"]: check for check in done.json["checks"]}
    assert before[check_id]["status"] == "passed"
    assert after[check_id]["status"] == "skipped" or after[check_id]["incomplete"], after[check_id]
    lost = [check for check in after.values() if check["status"] != before[check["id"]]["status"]]
    assert {check["status"] for check in lost} <= {"skipped"}
    assert all(check["reason"] for check in lost)


def exchange(address: str, data: bytes) -> bytes:
    """Send bytes and return everything up to the moment when the broker hangs up."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
        return received


GARBAGE = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
    "TLS hello": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "huge size": struct.pack(">i", 0x7FFFFFFF) + b"x",
    "negative size": struct.pack(">i", -1),
    "empty frame": struct.pack(">i", 0),
    "unknown API": struct.pack(">ihhih", 10, 9999, 0, 1, -1),
    "cut message": struct.pack(">ihhih", 10, ApiKey.PRODUCE, 3, 1, -1),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_closes_its_own_connection_and_nothing_else(data: bytes, cluster: SandboxThread) -> None:
    for address in cluster.bootstrap.split(","):
        assert exchange(address, data) == b""
    assert eosctl("doctor", "-b", cluster.bootstrap).code == 0


def test_another_service_is_distinguished_from_a_silent_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        done = eosctl("doctor", "-b", address, "--timeout", "1s")
    assert (done.code, done.out) == (1, "")
    assert address in done.err
    assert "why: " in done.err
    assert "next: " in done.err


def start_sandbox() -> int:
    """Start a sandbox from a process of its own, which outlives its parent as it does in a shell."""
    command = [sys.executable, "-m", "eosctl", "sandbox", "up", "--brokers", "1", "--ephemeral"]
    return subprocess.run(command, check=False, capture_output=True).returncode


@pytest.mark.usefixtures("own_sandboxes")
class TestSandbox:
    """A sandbox that cannot start, or is gone."""

    def test_a_port_in_use(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = eosctl("sandbox", "up", "--brokers", "1", "--ephemeral", "--port-base", str(port))
        assert (done.code, done.out) == (1, "")
        assert f"Port {port} of 127.0.0.1 cannot be used" in done.err
        assert "--port-base" in done.err
        assert manage.find_all() == []

    def test_a_data_directory_that_may_not_be_written(self, tmp_path: Path) -> None:
        if os.geteuid() == 0:
            directory = Path("/sys/kernel/eosctl")  # permissions do not bind root; this file system takes no folders
        else:
            (tmp_path / "closed").mkdir(mode=0o500)
            directory = tmp_path / "closed" / "data"
        done = eosctl("sandbox", "up", "--brokers", "1", "--data-dir", directory)
        assert (done.code, done.out) == (1, "")
        assert f"Cannot write to the data directory {directory}" in done.err
        assert "--data-dir" in done.err
        assert manage.find_all() == []

    def test_a_killed_process(self) -> None:
        assert start_sandbox() == 0
        (found,) = manage.find_all()
        sandbox = found.sandbox
        send_signal(sandbox.pid, sandbox.process_start_ticks, signal.SIGKILL)
        assert wait_for_exit(sandbox.pid, sandbox.process_start_ticks, 10)
        asked = eosctl("sandbox", "scenario", "zombie")
        assert asked.code == 2
        assert f"its process {sandbox.pid} is gone" in asked.err
        assert "eosctl sandbox down --name default" in asked.err
        assert eosctl("doctor", "-b", sandbox.bootstrap, "--timeout", "2s").code == 1
        down = eosctl("sandbox", "down")
        assert (down.code, down.out) == (0, "Sandbox default: gone\n")
        assert not Path(sandbox.data_dir).exists()
        assert manage.find_all() == []
        assert start_sandbox() == 0
