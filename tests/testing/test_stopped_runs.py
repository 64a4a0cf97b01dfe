"""A run of the tests that is stopped leaves no process and no temporary files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
PLANTED = """
import subprocess, sys, time

def test_waits(tmp_path):
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print("\\nleft", process.pid, tmp_path, file=sys.__stdout__, flush=True)
    process.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are marked by /proc")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_remains_of_a_stopped_run(stop: signal.Signals, tmp_path: Path) -> None:
    folder, temporary = tmp_path / "planted", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    (folder / "conftest.py").write_text(CONFTEST.read_text("utf-8"), "utf-8")
    (folder / "test_planted.py").write_text(PLANTED, "utf-8")
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--rootdir", ".", "."]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        _, pid, path = next(line.split() for line in running.stdout if line.startswith("left "))
        left = psutil.Process(int(pid))
        assert Path(path).is_dir()
        running.send_signal(stop)
        # The pipe has its end when the process that was left is gone, too.
        running.stdout.read()
    psutil.wait_procs([left])
    while list(temporary.glob("eosctl-tests-*")):
        time.sleep(0.05)
