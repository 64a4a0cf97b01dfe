"""The program on a system that is not Linux: without Linux's functions, and with the name of macOS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
#: Loaded by every Python process of the test before anything else. Modules that are native to a platform are imported
#: before the platform changes; everything that decides later decides for macOS.
PLATFORM = """
import os, select, signal, sys
import asyncio, multiprocessing, selectors, shutil, subprocess, threading, urllib.request
import psutil, sysconfig

sysconfig.get_config_vars()

LINUX_ONLY = {
    os: ("pidfd_open", "posix_fadvise", "posix_fallocate", "preadv", "RWF_NOWAIT", "sched_getaffinity", "memfd_create",
         "eventfd", "copy_file_range", "splice", "sendfile"),
    signal: ("pidfd_send_signal",),
    select: ("epoll",),
}
for module, names in LINUX_ONLY.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
sys.platform = "darwin"
"""

Eosctl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def eosctl(tmp_path: Path) -> Eosctl:
    (tmp_path / "sitecustomize.py").write_text(PLATFORM)
    path = os.pathsep.join(filter(None, (str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", ""))))
    home = {name: str(tmp_path / name) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    environment = {**os.environ, **home, "PYTHONPATH": path}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "eosctl", "--debug", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


def test_a_sandbox_starts_is_diagnosed_and_stops(eosctl: Eosctl) -> None:
    started = eosctl("sandbox", "up", "--name", "mac", "--brokers", "1", "--ttl", "10m")
    assert started.returncode == 0, started.stderr
    try:
        (sandbox,) = json.loads(eosctl("sandbox", "status", "-o", "json").stdout)["items"]
        done = eosctl("doctor", "-b", sandbox["bootstrap"], "-o", "json")
        assert done.stdout, done.stderr
        assert json.loads(done.stdout)["evidence"]["complete"], done.stderr
        files = eosctl("fsck", f"{sandbox['data_dir']}/broker-1", "-o", "json")
        assert files.returncode == 0, files.stderr
    finally:
        stopped = eosctl("sandbox", "down", "--name", "mac")
    assert stopped.returncode == 0, stopped.stderr
    assert json.loads(eosctl("sandbox", "status", "-o", "json").stdout)["items"] == []


def test_the_platform_is_another_one(eosctl: Eosctl) -> None:
    """Without this, the tests above would pass on Linux alone."""
    done = eosctl("version", "-o", "json")
    assert done.returncode == 0, done.stderr
    code = "import sys; from eosctl.sandbox.process.identity import HAS_PIDFDS; print(sys.platform, HAS_PIDFDS)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    fake = subprocess.run(
        [sys.executable, "-c", f"{PLATFORM}\n{code}"], env=environment, capture_output=True, text=True, check=True
    )
    assert (plain.stdout.split()[1], fake.stdout.split()) == ("True", ["darwin", "False"])
