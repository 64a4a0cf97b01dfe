"""The demo's applications against a sandbox: from their logs and the brokers' the log mining names both faults."""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.analysis.incidents.judge import judge_incidents
from eosctl.lab.scenarios.hanging import run_hanging
from eosctl.lab.scenarios.scenario import Stage
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.process import manage, places
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.settings.endpoints import parse_endpoints
from spark_log_analytics.scan import scan_paths

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
LONG_S = 120


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningSandbox]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = (("transaction.partition.verification.enable", "false"), ("num.partitions", "1"))
    running = manage.start(SandboxSpec("demo", str(tmp_path / "data"), brokers=1, settings=settings))
    yield running
    manage.stop(running)


def start(script: str, log: Path, *options: str) -> subprocess.Popen[str]:
    with log.open("w") as errors:
        words = [sys.executable, str(EXAMPLES / script), *options]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)


def wait_for(words: str, log: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + LONG_S
    while words not in log.read_text():
        assert time.monotonic() < deadline
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
            raise AssertionError(f"it ended before it said {words!r}")


def finish(process: subprocess.Popen[str], status: int) -> str:
    output, _ = process.communicate("\n", timeout=LONG_S)
    assert process.returncode == status
    return output


async def play_hanging(bootstrap: str) -> str:
    config = ClientConfig(parse_endpoints(bootstrap, "the sandbox"))
    return str((await run_hanging(Stage(config, lambda: 0, random.Random(1)))).partition)


def test_the_zombie_and_the_hanging_transaction_are_found_in_logs(sandbox: RunningSandbox, tmp_path: Path) -> None:
    logs = places.logs_dir(Path(sandbox.data_dir))
    service = ("--bootstrap", sandbox.bootstrap)
    first_log = logs / "payments-a.log"
    first = start("payments.py", first_log, *service, "--stand-still")
    try:
        wait_for("standing still", first_log, first)
        finish(start("payments.py", logs / "payments-b.log", *service), 0)
        finish(first, 1)
    finally:
        first.kill()
    hanging = asyncio.run(play_hanging(sandbox.bootstrap))
    options = (*service, "--topic", "orders", "--patience-seconds", "8")
    assert f"{hanging} at 2 of" in finish(start("read_committed.py", logs / "reader.log", *options), 0)

    scan = scan_paths([logs])
    incidents = judge_incidents(scan.events, scan.sources)
    found = {(incident.kind, incident.root_cause): incident.subject for incident in incidents}
    assert found["producer_fenced", "duplicate-transactional-id"]["transactional.id"] == "payment-service"
    stuck = found["hanging_transaction", "late-append-after-end-of-transaction"]
    assert (stuck["topic-partition"], stuck["startOffset"]) == (hanging, "2")
    assert len(found) == 2
