"""franz-go behaves on the sandbox as on real brokers."""

from __future__ import annotations

import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.testing import SandboxThread

MODULE = Path(__file__).with_name("go")
EMULATIONS = {"3.9.2": "3.9", "4.3.1": "4.3"}


@pytest.fixture(scope="session")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the program with the modules that its go.sum names."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is missing: franz-go cannot be tried")
    program = tmp_path_factory.mktemp("go") / "scenario"
    command = [go, "build", "-mod=readonly", "-o", str(program), "."]
    done = subprocess.run(command, cwd=MODULE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run_program(program: Path, bootstrap: str) -> list[str]:
    name = f"scenario-{uuid.uuid4().hex[:8]}"
    command = [str(program), bootstrap, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_franz_go_sees_no_difference(apache: ApacheNodes, scenario: Path) -> None:
    real = run_program(scenario, apache.bootstrap)
    with SandboxThread(emulate=EMULATIONS[apache.name.split()[1]], fast=False) as sandbox:
        ours = run_program(scenario, sandbox.bootstrap)
    assert ours == real
    assert len(real) == 6
    assert real[4].startswith("zombie fenced true")
