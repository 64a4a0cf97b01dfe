"""The health check of the exporter's container: it fails without an exporter, and passes with one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eosctl.testing import SandboxThread

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
PORT = "9308"


@pytest.fixture
def port() -> str:
    """A port that is free now: the container's own may be in use on this machine."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def is_healthy(port: str) -> bool:
    (words,) = re.findall(r"^HEALTHCHECK .*\\\n    CMD (\[.*\])$", CONTAINERFILE, re.MULTILINE)
    program, *arguments = json.loads(words)
    assert program == "python"
    probe = [sys.executable, *(word.replace(f":{PORT}/", f":{port}/") for word in arguments)]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def test_the_health_check_sees_whether_metrics_are_served(port: str) -> None:
    (words,) = re.findall(r"^CMD (\[.*\])$", CONTAINERFILE, re.MULTILINE)
    arguments = [word.replace(f"0.0.0.0:{PORT}", f"127.0.0.1:{port}") for word in json.loads(words)]
    assert f"127.0.0.1:{port}" in arguments
    assert not is_healthy(port)
    with SandboxThread() as cluster:
        command = [sys.executable, "-m", "eosctl", *arguments, "-b", cluster.bootstrap]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT) as exporter:
            try:
                while exporter.poll() is None and not is_healthy(port):
                    pass
                assert exporter.poll() is None, exporter.stderr and exporter.stderr.read()
            finally:
                exporter.terminate()
