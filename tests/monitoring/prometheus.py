"""A real Prometheus on loopback, for one test."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

requires_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is missing (Debian: prometheus)"
)
DEADLINE_S = 120


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["data"]


def firing(url: str) -> frozenset[str]:
    """Return the names of the alerts that fire now."""
    return frozenset(
        one["labels"]["alertname"] for one in ask(f"{url}/api/v1/alerts")["alerts"] if one["state"] == "firing"
    )


def scraped(url: str) -> dict[str, str]:
    """Return the health of each target: ``up``, ``down`` or ``unknown``."""
    found = ask(f"{url}/api/v1/targets?state=active")["activeTargets"]
    return {one["labels"]["instance"]: one["health"] for one in found}


@contextmanager
def running_prometheus(folder: Path, jobs: Mapping[str, Sequence[str]], rules: object, every_ms: int) -> Iterator[str]:
    """Run Prometheus over some targets; yields its address when it answers.

    Args:
        folder: Where it keeps its files.
        jobs: The ``HOST:PORT`` of each job's targets.
        rules: The content of a rules file.
        every_ms: How often it scrapes and evaluates.
    """
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules), "utf-8")
    configuration = {
        "global": {"scrape_interval": f"{every_ms}ms", "evaluation_interval": f"{every_ms}ms",
                   "scrape_timeout": f"{every_ms}ms"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [
            {"job_name": name, "static_configs": [{"targets": list(targets)}]} for name, targets in jobs.items()
        ],
    }  # fmt: skip
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration), "utf-8")
    port = free_port()
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yaml", "--storage.tsdb.path=data", "--log.level=warn",
             f"--web.listen-address=127.0.0.1:{port}"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(url, process, folder)
            yield url
        finally:
            process.kill()
            process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    ends_at = time.monotonic() + DEADLINE_S
    while time.monotonic() < ends_at:
        assert process.poll() is None, (folder / "prometheus.log").read_text("utf-8")
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=60):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError("Prometheus does not become ready")
