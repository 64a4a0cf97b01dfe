"""``config lint`` and ``doctor`` of standard input and of pipes, whose format shows only in their text."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from eosctl.settings.files.piped import ending_of
from tests.commands.conftest import eosctl

STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  streams.properties: |\n" + "".join(
    f"    {line}\n" for line in STREAMS.splitlines()
)


def lint_pipe(folder: Path, text: str) -> tuple[int, list[str]]:
    """Return the exit code and the findings of a lint of a named pipe."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text, "utf-8"))
    writer.start()
    done = eosctl("config", "lint", pipe, "-o", "json")
    writer.join()
    return done.code, [item["id"] for item in done.json["items"]]


@pytest.mark.parametrize("text", [STREAMS, CONFIG_MAP, f"\ufeff{CONFIG_MAP}"])
def test_a_pipe_is_judged_as_a_file_of_its_format(text: str, tmp_path: Path) -> None:
    assert lint_pipe(tmp_path, text) == (3, ["EOS-CFG-001"])


@pytest.mark.parametrize("text", ["", "Error: connection refused\n", "kafka: [\n"])
def test_a_pipe_without_settings_does_not_pass(text: str, tmp_path: Path) -> None:
    assert lint_pipe(tmp_path, text) == (2, [])


def test_output_of_a_tool_is_taken_from_a_pipe(tmp_path: Path) -> None:
    name = "unclean.leader.election.enable=true"
    shown = f"{name} sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:{name}}}"
    printed = f"Dynamic configs for broker 1 are:\n  {shown}\n"
    code, found = lint_pipe(tmp_path, printed)
    assert (code, "EOS-CFG-037" in found) == (3, True)


@pytest.mark.parametrize("command", [("config", "lint"), ("doctor",)])
def test_standard_input_is_a_dash(command: tuple[str, ...]) -> None:
    started = (sys.executable, "-m", "eosctl", *command, "-", "-o", "json")
    done = subprocess.run(started, input=CONFIG_MAP, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "standard-input.yaml" in done.stdout
    assert "EOS-CFG-001" in done.stdout


def test_doctor_refuses_paths_that_it_cannot_read(tmp_path: Path) -> None:
    twice = eosctl("doctor", "-", "--logs", "-")
    assert (twice.code, "- was given twice" in twice.err) == (2, True)
    missing = eosctl("doctor", tmp_path / "client.properties")
    assert (missing.code, "does not exist" in missing.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("# comment\nacks = all\nlinger.ms: 5\n", ".properties"),
        ("---\nspring:\n  kafka:\n    bootstrap-servers: a:9092\n", ".yaml"),
        ("- name: orders\n  partitions: 3\n", ".yaml"),
        ("kafka:\n  # a = b\n  url: jdbc:a?b=c\n", ".yaml"),
        ('[{"acks": "all"}]', ".json"),
        ('{"acks": "all", "cut', ".json"),
        ('resource "kafka_topic" "a" {\n  name = "a"\n}\n', ".tf"),
        ("SET 'execution.checkpointing.interval' = '1 min';\nCREATE TABLE a (b INT);\n", ".sql"),
        ("; librdkafka\n[default]\nacks=all\n", ".ini"),
    ],
)
def test_the_format_shows_in_the_text(text: str, ending: str) -> None:
    assert ending_of(text) == ending
