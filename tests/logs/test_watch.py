"""``eosctl logs watch``: what matters is shown while it is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eosctl.cli import main

FENCED = (
    "2026-11-21 09:31:18.670 ERROR [main] a.Relay - refused\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
)
JOINED = "2026-11-21 09:31:19.670 INFO  [main] o.a.k.c.c.i.ConsumerCoordinator - Successfully joined group\n"


def test_what_is_there_is_shown_from_the_start_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "relay.log").write_text(FENCED + JOINED)
    assert main(["logs", "watch", str(tmp_path), "--from-start", "--duration", "0"]) == 0
    assert "PRODUCER_FENCED  relay  refused  [ProducerFencedException]" in capsys.readouterr().out
    assert main(["logs", "watch", str(tmp_path), "--duration", "0"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["logs", "watch", str(tmp_path), "--from-start", "--duration", "0", "--all", "--jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["category"] for line in lines] == ["PRODUCER_FENCED", "REBALANCE_DONE"]
    assert main(["logs", "watch", str(tmp_path), "--category", "NEVER"]) == 2


def test_an_event_is_shown_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "relay.log"
    path.write_text(JOINED)
    command = [sys.executable, "-m", "eosctl", "logs", "watch", str(path), "--interval", "20ms", "--jsonl", "--all"]
    with subprocess.Popen(
        [*command, "--from-start"], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as watch:
        try:
            assert watch.stdout is not None
            assert json.loads(watch.stdout.readline())["category"] == "REBALANCE_DONE"
            with path.open("a") as file:
                file.write(FENCED + JOINED)
            fenced = json.loads(watch.stdout.readline())
            assert (fenced["category"], fenced["line"]) == ("PRODUCER_FENCED", 2)
        finally:
            watch.terminate()
            watch.wait(60)


def test_standard_input_cannot_be_followed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "watch", "-"]) == 2
    assert "cannot be followed" in capsys.readouterr().err
