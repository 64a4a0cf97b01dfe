"""A full disk while Spark writes: the job fails, and partial output is not mistaken for a result."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.apache

ROOT = Path(__file__).parents[2]
LIMIT_BYTES = 1_000_000
"""Large enough for the libraries that Spark unpacks at its start."""
PROGRAM = f"""
import os, resource, signal, sys
sys.path.insert(0, {str(ROOT)!r})
sys.dont_write_bytecode = True
# A limit of the kernel on the size of files cuts a write off like a full disk, in the middle and with an error.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT_BYTES}, {LIMIT_BYTES}))
from spark_log_analytics.main import main
sys.exit(main(sys.argv[1:]))
"""


def write_errors(path: Path, count: int) -> None:
    chance = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            noise = chance.randbytes(200).hex()
            file.write(f"[2026-11-21 09:{number // 60 % 60:02}:{number % 60:02},000] ERROR lost {noise} (a.B)\n")


@pytest.mark.parametrize("form", ["parquet", pytest.param("json", marks=pytest.mark.long)])
def test_a_full_disk_leaves_nothing_that_can_be_read_as_a_result(form: str, tmp_path: Path) -> None:
    logs, out = tmp_path / "logs", tmp_path / "out"
    logs.mkdir()
    out.mkdir()
    (out / "incidents.json").write_text("[]")  # of an earlier run
    write_errors(logs / "a.log", 5)  # a task that can write what it has
    write_errors(logs / "b.log", 8_000)
    command = [sys.executable, "-c", PROGRAM, str(logs), "--out", str(out), "--format", form]
    done = subprocess.run([*command, "--split-bytes", "4000000"], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr[-2000:]
    # Tasks that still run when the job fails log their own end, maybe after this line.
    reported = [line for line in done.stderr.splitlines() if line.startswith("The job failed")]
    assert reported == ["The job failed, and its result is not complete: java.io.IOException: File too large"]
    assert [path for path in out.rglob("*") if path.is_file()] == []
