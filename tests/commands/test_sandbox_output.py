"""sandbox logs and sandbox status --name: the output of a running sandbox."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl


@pytest.fixture
def running(own_home: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: eosctl("sandbox", "down", "--all"))
    assert eosctl("sandbox", "up", "--brokers", "2", "--ttl", "5m", "--emulate", "3.9").code == 0


def test_logs_of_all_nodes_of_one_and_of_the_process(running: None) -> None:
    everything = eosctl("sandbox", "logs", "-n", "1000")
    assert everything.code == 0
    assert {line.split()[0] for line in everything.out.splitlines()} == {"broker-1", "broker-2", "controller-100"}
    stamps = [line.split("[", 1)[1] for line in everything.out.splitlines()]
    assert [stamp[:23] for stamp in stamps] == sorted(stamp[:23] for stamp in stamps)
    one = eosctl("sandbox", "logs", "--broker", "2", "-n", "1000").out
    assert all(line.startswith("[20") for line in one.splitlines())
    assert "[KafkaRaftServer nodeId=2] Kafka Server started" in one
    assert "Kafka version: 3.9.2" in one
    for name in ("broker-2", "node-2"):
        assert eosctl("sandbox", "logs", "--broker", name, "-n", "1000").out == one
    assert eosctl("sandbox", "logs", "-n", "1").out.count("\n") == 1
    assert eosctl("sandbox", "logs", "--process").code == 0
    for name in ("7", "controller-2"):
        unknown = eosctl("sandbox", "logs", "--broker", name)
        assert (unknown.code, unknown.out) == (2, "")
        assert "broker-1, broker-2, controller-100" in unknown.err


def test_following_ends_with_the_sandbox_and_has_its_last_words(running: None) -> None:
    command = [sys.executable, "-m", "eosctl", "sandbox", "logs", "--broker", "1", "-n", "1", "--follow"]
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as follower:
        assert follower.stdout is not None
        first = follower.stdout.readline()
        assert first.startswith("[20")
        assert eosctl("sandbox", "down").code == 0
        rest = follower.stdout.read()
    assert "[BrokerServer id=1] shut down completed" in rest
    assert first not in rest
    assert follower.returncode == 0
    # The files stay with the data, and can be read afterwards.
    assert "shut down completed" in eosctl("sandbox", "logs", "--broker", "1", "-n", "1").out


def test_one_sandbox_on_a_page(running: None) -> None:
    page = eosctl("sandbox", "status", "--name", "default").out
    assert page.startswith("Sandbox default: Kafka 3.9, transaction.version 0, 0 partitions; 0 open transactions\n")
    assert "controller 100 (active, epoch 1)" in page
    assert [line.split()[2] for line in page.splitlines() if line[:2] in ("1 ", "2 ")] == ["ready", "ready"]


def test_watching_is_for_people() -> None:
    done = eosctl("sandbox", "status", "--watch", "-o", "json")
    assert (done.code, done.json["what"]) == (2, "--watch draws a page for people.")
    assert eosctl("sandbox", "status", "--watch").code == 2, "there is no sandbox to watch"
