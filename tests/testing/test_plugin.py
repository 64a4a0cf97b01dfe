"""The pytest plugin in another project: installed, with nothing to import or declare."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

OTHER_PROJECT = """
import socket
import pytest

def answers(bootstrap):
    for address in bootstrap.split(","):
        host, port = address.split(":")
        socket.create_connection((host, int(port)), 5).close()

def test_one_broker(eos_cluster):
    answers(eos_cluster.bootstrap)
    assert len(eos_cluster.status()["brokers"]) == 1

@pytest.mark.eos_cluster(brokers=3, emulate="3.9", config={"num.partitions": "4"})
def test_three_brokers(eos_cluster):
    answers(eos_cluster.bootstrap)
    assert eos_cluster.status()["transaction_version"] == 0
    assert [broker["id"] for broker in eos_cluster.status()["brokers"]] == [1, 2, 3]

@pytest.mark.eos_cluster(3)
def test_positional(eos_cluster):
    pass
"""


def run_pytest(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", "-W", "error"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}  # our own run's
    return subprocess.run(
        [*command, *options], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )


def test_the_fixture_and_its_marker_are_there_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(OTHER_PROJECT)
    done = run_pytest(tmp_path, "-p", "no:randomly", "-p", "no:xdist")
    assert "2 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "the marker eos_cluster takes its options by name" in done.stdout


def test_the_plugin_costs_nothing_where_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n    assert 'eosctl.testing.plugin' in sys.modules\n"
        "    assert not [name for name in sys.modules if name.startswith(('eosctl.sandbox', 'eosctl.wire'))]\n"
    )
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_modules_of_eosctl_are_imported_as_they_are() -> None:
    """Rewriting their assertions would parse each again, and two threads doing so in parallel can fail (gh-106905)."""
    module = importlib.import_module("eosctl.lab.history.summary")
    assert type(module.__loader__).__name__ == "SourceFileLoader"
