"""A sandbox with real brokers: started, inspected, disturbed, and stopped by the same commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.lab.apache.process import ProcessIdentity
from eosctl.sandbox.process.identity import is_same_process, wait_for_exit

Run = Callable[..., subprocess.CompletedProcess[str]]
NAME = ("--name", "real")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    state = tmp_path_factory.mktemp("state")

    def eosctl(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "eosctl", *words],
            env=os.environ | {"XDG_STATE_HOME": str(state)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    yield eosctl
    eosctl("sandbox", "down", "--all")


@pytest.fixture(scope="module")
def sandbox(run: Run) -> dict[str, Any]:
    started = run("sandbox", "up", "--engine", "apache", "--brokers", "1", *NAME, "--ephemeral", "-o", "json")
    (item,) = json.loads(started.stdout)["items"]
    assert item["kafka"] == "4.4.0"
    return dict(item)


def status(run: Run) -> dict[str, Any]:
    (item,) = json.loads(run("sandbox", "status", *NAME, "-o", "json").stdout)["items"]
    return dict(item["cluster"])


def test_it_shows_what_its_clients_do(run: Run, sandbox: dict[str, Any]) -> None:
    run("sandbox", "scenario", "zombie", *NAME)
    seen = status(run)
    assert seen["transaction_version"] == 2
    assert [broker["ready"] for broker in seen["brokers"]] == [True]
    payments = [row for row in seen["partitions"] if row["topic"] == "payments"]
    assert {row["leader"] for row in payments} == {1}
    # What the fenced instance wrote was aborted, and the second one's transaction is committed: nothing is open.
    assert sum(row["last_stable_offset"] for row in payments) > 3
    assert all(row["last_stable_offset"] == row["high_watermark"] for row in payments)
    assert "TransactionCoordinator" in run("sandbox", "logs", *NAME, "-n", "500").stdout
    assert sandbox["bootstrap"] in run("sandbox", "exec", *NAME, "--", "printenv", "BOOTSTRAP_SERVERS").stdout


def test_its_broker_obeys_the_words_of_faults(run: Run, sandbox: dict[str, Any]) -> None:
    run("sandbox", "fault", "kill", "node=1", *NAME)
    assert [broker["running"] for broker in status(run)["brokers"]] == [False]
    run("sandbox", "heal", *NAME)
    assert [broker["ready"] for broker in status(run)["brokers"]] == [True]
    refused = run("sandbox", "fault", "slow", "node=1", "ms=5", *NAME, code=1)
    assert "sandbox proxy" in refused.stderr


def test_what_a_killed_process_leaves_behind_is_ended(run: Run, sandbox: dict[str, Any]) -> None:
    options = ("--kafka-version", "3.9.2", "--brokers", "1", "--name", "left", "--ephemeral")
    run("sandbox", "up", "--engine", "apache", *options)
    items = json.loads(run("sandbox", "status", "-o", "json").stdout)["items"]
    left = next(item for item in items if item["name"] == "left")
    assert {item["kafka"] for item in items} == {"3.9.2", "4.4.0"}, "releases run side by side"
    (record,) = Path(left["data_dir"]).glob("node-*/node.pid")
    broker = ProcessIdentity(*map(int, record.read_text().split()))
    os.kill(left["pid"], signal.SIGKILL)
    assert is_same_process(*broker)
    result = run("sandbox", "down", "--name", "left").stdout
    assert "a broker that it had left behind was ended" in result
    assert wait_for_exit(*broker, 30)


def test_options_of_the_sandboxes_own_brokers_are_refused(run: Run) -> None:
    refused = run("sandbox", "up", "--engine", "apache", "--fast", "--bug", "kafka-20734", code=2)
    assert "--fast, --bug cannot be used with --engine apache" in refused.stderr
    assert "one or three" in run("sandbox", "up", "--engine", "apache", "--brokers", "2", code=2).stderr
    assert "4.3.1" in run("sandbox", "up", "--engine", "apache", "--kafka-version", "1.0.0", code=2).stderr


def test_a_kept_sandbox_of_real_brokers_starts_again(run: Run, tmp_path: Path) -> None:
    words = ("--name", "kept", "--engine", "apache", "--brokers", "1", "--data-dir", str(tmp_path / "data"))
    seen = []
    for _ in range(2):
        run("sandbox", "up", *words)
        run("sandbox", "scenario", "zombie", "--name", "kept")
        (item,) = json.loads(run("sandbox", "status", "--name", "kept", "-o", "json").stdout)["items"]
        seen.append(item["cluster"]["cluster_id"])
        run("sandbox", "down", "--name", "kept")
    assert seen[0] == seen[1]
    refused = run("sandbox", "up", *words[:2], *words[6:], code=2)
    assert "are those of real Kafka 4.4.0" in refused.stderr
