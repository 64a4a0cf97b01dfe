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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\0" * 5_000, "a binary file"), (b"The quick fox.\nJumps.\n" * 50, "no log record was recognized"),
        ((FENCED + JOINED).encode("cp037"), "no log record was recognized"), (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "no log record was recognized"), (b" \n\n", "the file is empty"),
        (b"\xff" * 3_000, "no log record was recognized"), (b"PK\x03\x04" + b"\1" * 300, "archive"),
        (b"\x28\xb5\x2f\xfd" + b"\7" * 30, "no log record was recognized"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_log_that_is_not_understood_is_named(
    content: bytes, reason: str, is_folder: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(content)
    place = str(tmp_path if is_folder else path)
    for words in (("--from-start",), ()):
        assert main(["logs", "watch", place, *words, "--duration", "0"]) == 4
        done = capsys.readouterr()
        assert done.out == ""
        assert f"Not followed: {path}: " in done.err
        assert reason in done.err


def test_a_log_next_to_other_files_is_understood(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "relay.log").write_text(FENCED + JOINED)
    (tmp_path / "empty.log").write_text("")
    assert main(["logs", "watch", str(tmp_path), "--from-start", "--duration", "0"]) == 0
    (tmp_path / "other.log").write_text("The quick fox.\n" * 40)
    assert main(["logs", "watch", str(tmp_path), "--from-start", "--duration", "0"]) == 4
    done = capsys.readouterr()
    assert "PRODUCER_FENCED" in done.out
    assert f"{tmp_path / 'other.log'}: no log record was recognized" in done.err


def test_a_folder_without_a_log_is_not_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "watch", str(tmp_path), "--duration", "0"]) == 4
    assert "no log file" in capsys.readouterr().err
