"""Records outside of the period, and inputs without content, are not evidence of health."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

LOG = sorted((Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392").rglob("*.log"))[0]
OUTSIDE = [
    ("--from", "2099-01-01T00:00:00Z"), ("--to", "1999-01-01T00:00:00Z"), ("--from", "-1h"),
    ("--from", "2099-01-01T00:00:00Z", "--to", "2099-01-02T00:00:00Z"),
]  # fmt: skip


@pytest.mark.parametrize("period", OUTSIDE, ids=" ".join)
@pytest.mark.parametrize("output", ["table", "json", "html", "markdown", "sarif", "github"])
def test_a_report_of_another_time_is_incomplete(output: str, period: tuple[str, ...]) -> None:
    done = eosctl("logs", "report", LOG, *period, "-o", output)
    assert done.code == 4
    assert "no record lies in the period" in (done.out + done.err).lower()
    assert eosctl("logs", "scan", LOG, *period).code == 4


def test_a_time_with_records_is_judged() -> None:
    assert eosctl("logs", "report", LOG, "--from", "2026-11-21T00:00:00Z").code == 0


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "is empty"), (b"\0" * 5_000, "binary"), (b"\x89PNG\r\n\x1a\n\0\1\2" * 99, "")]
)
def test_no_stack_trace_in_nothing_is_incomplete(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(content)
    for place in (path, tmp_path):
        done = eosctl("logs", "exceptions", place)
        assert done.code == 4
        assert str(path) in done.err
        assert reason in done.err


def test_a_folder_without_files_has_no_count(tmp_path: Path) -> None:
    assert eosctl("logs", "exceptions", tmp_path).code == 4


@pytest.mark.parametrize(
    "command", [("logs", "report"), ("logs", "exceptions"), ("diagnose",), ("explain",), ("decode", "segment")]
)
def test_a_closed_input_is_named(command: tuple[str, ...]) -> None:
    shell = f'exec "{sys.executable}" -m eosctl {" ".join(command)} - <&-'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Standard input is closed." in done.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("server.log", b"\0\1\2\3" * 2_000), ("00000000000000000000.log", b"\0\1\2\3" * 2_000),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\1\2" * 99), ("app.log", b"The quick fox jumps.\n" * 60),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [("logs", "report"), ("logs", "scan"), ("logs", "exceptions")])
def test_a_named_file_that_is_not_a_log_was_not_read(
    command: tuple[str, ...], name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = eosctl(*command, LOG, path)
    assert done.code == 4
    assert name in done.out + done.err
