"""``eosctl logs submit`` and the choice of an engine: what is refused before any JVM starts, and in which words."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from eosctl.cli import main

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"


def test_a_dry_run_shows_the_command_and_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["logs", "submit", "/logs", "--out", str(tmp_path), "--master", "yarn", "--deploy-mode", "cluster"]
    settings = ["--conf", "spark.executor.memory=1g", "--conf", "spark.ssl.keyPassword=open sesame"]
    assert main([*arguments, *settings, "--zone", "Europe/Berlin", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "sesame" not in out
    command = shlex.split(out)
    assert command[0].endswith("spark-submit")
    assert command[command.index("--master") + 1] == "yarn"
    assert "spark.ssl.keyPassword=[hidden]" in command
    assert command[command.index("--zone") + 1] == "Europe/Berlin"
    job = next(part for part in command if part.endswith("main.py"))
    assert Path(job).is_file()
    assert command[command.index(job) + 1] == "/logs"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--master", "nonsense"], "no master of Spark"),
        (["--master", "spark://host:7077", "--deploy-mode", "cluster"], "client mode only"),
        (["--conf", "spark.executor.memory"], "sets nothing"),
        (["--zone", "Nowhere/Else"], "no time zone"),
    ],
)
def test_what_cannot_work_is_refused_at_once(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", "submit", "/logs", "--out", "/result", *options]) == 2
    assert words in capsys.readouterr().err


def test_without_java_spark_is_refused_and_the_scanner_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["logs", "exceptions", str(FIXTURES), "--engine", "spark"]) == 1
    assert "there is no Java" in capsys.readouterr().err
    assert main(["logs", "exceptions", str(FIXTURES)]) == 0


def test_a_java_that_is_too_old_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["logs", "report", str(FIXTURES), "--engine", "spark"]) == 1
    assert "is Java 11" in capsys.readouterr().err
