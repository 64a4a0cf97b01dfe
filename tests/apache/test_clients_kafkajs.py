"""KafkaJS (Node) behaves on the sandbox as on real brokers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.testing import SandboxThread

STORY = Path(__file__).with_name("node") / "scenario.js"
KAFKAJS = "kafkajs@2.2.4"
EMULATIONS = {"3.9.2": "3.9", "4.3.1": "4.3"}


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install KafkaJS into a folder of this run."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing: KafkaJS cannot be tried")
    folder = tmp_path_factory.mktemp("node")
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), KAFKAJS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "node_modules"


def run_program(bootstrap: str, node_modules: Path) -> list[Any]:
    name = f"scenario-{uuid.uuid4().hex[:8]}"
    done = subprocess.run(
        ["node", str(STORY), bootstrap, name],
        env=os.environ | {"NODE_PATH": str(node_modules), "KAFKAJS_NO_PARTITIONER_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_kafkajs_sees_no_difference(apache: ApacheNodes, node_modules: Path) -> None:
    real = run_program(apache.bootstrap, node_modules)
    with SandboxThread(emulate=EMULATIONS[apache.name.split()[1]], fast=False) as sandbox:
        ours = run_program(sandbox.bootstrap, node_modules)
    assert ours == real
    assert ["zombie", "refused"] in real
    assert ["offset after abort", "-1"] in real
    assert ["offset after commit", "5"] in real
