"""What `spark-submit` writes has the texts of records and files; it reaches no terminal as commands."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pytest

from eosctl.command_line.invocation import note
from eosctl.render.progress import show_progress
from eosctl.services.callbacks import Callbacks
from eosctl.services.spark_job import DeployMode, run_job, scan_job
from spark_log_analytics import submission

HOSTILE = r"""
import sys
print("out \x1b]0;planted\x07 \x9b31m")
print("error \x1b[2J \u202e", file=sys.stderr)
sys.stderr.write("\r[Stage 0:>   (0 + 2) / 2]\r")
sys.stderr.flush()
sys.stderr.buffer.write(b"bytes \xff\xfe\n")
sys.exit(5)
"""


@pytest.fixture
def spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "spark" / "bin" / "spark-submit"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\n# -*- coding: utf-8 -*-\n{HOSTILE}", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(submission, "find_spark_submit", lambda _: program)
    monkeypatch.setattr("eosctl.services.spark_job.spark_obstacle", lambda: None)
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    return program


@pytest.mark.usefixtures("spark_home")
def test_lines_of_spark_submit_are_inert(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    job = scan_job([str(tmp_path)], str(tmp_path / "out"), "local[1]", DeployMode.CLIENT, (), ())
    steps: list[str] = []
    ending = run_job(job, Callbacks(remark=note, progress=steps.append))
    written = capfd.readouterr()
    assert ending.status == 5
    assert not written.out
    assert "[Stage 0:>   (0 + 2) / 2]" in steps
    assert {"out", "error", "bytes"} <= set(written.err.split())
    assert r"\x1b]0;planted\x07" in written.err
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(written.err)


def test_progress_on_a_terminal_is_inert() -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with show_progress(stream) as progress:
        progress("[Stage \x1b]0;planted\x07")
        progress("")
    assert r"\x1b]0;planted\x07" in stream.getvalue()
