"""A real Prometheus on loopback, for one test."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.free_port import free_port

requires_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is missing (Debian: prometheus)"
)
DEADLINE_S = 120
#: How long the healthy load lasts; from ten minutes on the rules are as they are exported, else holds and windows are
#: divided (``make prove alerts``).
HEALTHY_S = float(os.environ.get("EOSCTL_ALERTS_HEALTHY_S", "3"))
FASTER = 1 if HEALTHY_S >= 600 else 30


def serving_port(lines: Iterable[str]) -> int:
    """Return the port that the command reports; what it printed instead is in the error."""
    read: list[str] = []
    for line in lines:
        read.append(line)
        if found := re.search(r"serving https://127\.0\.0\.1:(\d+)/metrics", line):
            return int(found[1])
    pytest.fail("".join(read))


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["data"]


def firing(url: str) -> frozenset[str]:
    """Return the names of the alerts that fire now."""
    return frozenset(
        one["labels"]["alertname"] for one in ask(f"{url}/api/v1/alerts")["alerts"] if one["state"] == "firing"
    )


def firing_by_job(url: str) -> dict[str, set[str]]:
    """Return the names of the alerts that fire now, by their label ``job``."""
    found: dict[str, set[str]] = {}
    for one in ask(f"{url}/api/v1/alerts")["alerts"]:
        if one["state"] == "firing":
            found.setdefault(one["labels"]["job"], set()).add(one["labels"]["alertname"])
    return found


def scraped(url: str) -> dict[str, str]:
    """Return the health of each target: ``up``, ``down`` or ``unknown``."""
    found = ask(f"{url}/api/v1/targets?state=active")["activeTargets"]
    return {one["labels"]["instance"]: one["health"] for one in found}


@contextmanager
def running_prometheus(
    folder: Path, jobs: Mapping[str, Sequence[str]], rules: object, every_ms: int, *, own_labels: bool = False
) -> Iterator[str]:
    """Run Prometheus over some targets; yields its address when it answers.

    Args:
        folder: Where it keeps its files.
        jobs: The ``HOST:PORT`` of each job's targets.
        rules: The content of a rules file.
        every_ms: How often it scrapes and evaluates.
        own_labels: Whether the pages say themselves what job and instance they are of, and each job's has its name.
    """
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules), "utf-8")
    configuration = {
        "global": {"scrape_interval": f"{every_ms}ms", "evaluation_interval": f"{every_ms}ms",
                   "scrape_timeout": f"{every_ms}ms"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [
            {"job_name": name, "static_configs": [{"targets": list(targets)}],
             **({"honor_labels": True, "metrics_path": f"/{name}"} if own_labels else {})}
            for name, targets in jobs.items()
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
        except (urllib.error.URLError, ConnectionError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # not ready yet; what holds its answer holds a socket
            time.sleep(0.05)
    raise AssertionError("Prometheus does not become ready")
