"""A real broker and the sandbox write the same log lines for the same requests; ids and times are masked."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from tests.apache.conftest import SETTINGS, VERIFICATION
from tests.lab.scenarios.observer import stage_at
from tests.lab.scenarios.stage.zombie import run_zombie

EMULATIONS = {"3.9.2": "3.9", "4.3.1": "4.3"}
NAME = "logged"
LONG_S = 120
LOGGERS = (
    "kafka.coordinator.transaction.TransactionCoordinator",
    "kafka.server.ReplicaManager",
    "kafka.coordinator.group.GroupCoordinator",
    "org.apache.kafka.coordinator.group.GroupMetadataManager",
)
#: The lines that must occur; a slow machine may add others on either side, such as one more rebalance.
KINDS = (
    *("Initialized transactionalId", "Completed rollback", "Error processing append operation"),
    *("Created a new member id", "Adding to the group now", "Adding new member", "Stabilized group"),
    *("Assignment received", "has left group", "is now empty"),
)


@contextmanager
def sandbox(version: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningSandbox]:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    settings = tuple((SETTINGS | {VERIFICATION: "false"}).items())
    running = manage.start(SandboxSpec("logs", str(folder / "data"), emulate=EMULATIONS[version], settings=settings))
    try:
        yield running
    finally:
        manage.stop(running)


def provoke(bootstrap: str, logs: Iterable[Path]) -> list[str]:
    """Fence a producer, let a transaction time out, and let a member join and leave; return the logs."""
    asyncio.run(run_zombie(stage_at(bootstrap, []), topic=f"{NAME}-payments", transactional_id=f"{NAME}-service"))
    late = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": f"{NAME}-late", "transaction.timeout.ms": 1000}
    )
    late.init_transactions(LONG_S)
    late.begin_transaction()
    late.produce(f"{NAME}-payments", b"late", partition=0)
    assert late.flush(LONG_S) == 0
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": f"{NAME}-readers", "client.id": f"{NAME}-reader"})
    reader.subscribe([f"{NAME}-payments"])
    deadline = time.monotonic() + LONG_S
    while not reader.assignment():
        assert time.monotonic() < deadline
        reader.poll(0.2)
    reader.close()
    files = list(logs)
    # Wait for the lines of this test; a shared broker has logged others before.
    while not all(any(words in line for line in lines_of(files)) for words in ("due to timeout", "is now empty")):
        assert time.monotonic() < deadline, lines_of(files)
        time.sleep(0.1)
    return lines_of(files)


def lines_of(files: Iterable[Path]) -> list[str]:
    return masked("".join(path.read_text() for path in files))


def masked(text: str) -> list[str]:
    """Return each kind of log line, with the exception below it."""
    found = set()
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        logger = line.rpartition("(")[2].rstrip(")")
        if logger not in LOGGERS or NAME not in line or not any(words in line for words in KINDS):
            continue
        said = line[len("[2026-11-21 14:03:11,123] ") :]
        said += f"\n{below}" if below and not below.startswith("[") else ""
        said = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", said)
        said = re.sub(r"partition [\w-]{22}:", "partition ID:", said)
        found.add(re.sub(r"\d+", "N", said))
    return sorted(found)


def test_the_same_lines_are_written(
    apache: ApacheNodes, partition_verification_off: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = apache.name.split()[1]
    with partition_verification_off(apache):
        (server_log,) = [path for path in apache.logs()[1] if path.name == "server.log"]
        real = provoke(apache.bootstrap, [server_log])
    with sandbox(version, tmp_path, monkeypatch) as running:
        ours = provoke(running.bootstrap, [paths.logs_dir(Path(running.data_dir)) / "broker-1" / "server.log"])
    assert ours == real
    assert any("Error processing append operation" in line for line in real)
    assert len(real) >= 8
