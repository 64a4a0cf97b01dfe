"""Every command of the Makefile names programs that exist, and is listed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

COMMANDS = (
    *("demo", "test", "coverage", "static", "lint", "test-kafka", "transcripts", "prove", "bench", "docs"),
    *("diagnosis-matrix", "logs-matrix", "mutate-checks", "differential", "book", "test-lowest", "dist", "audit"),
    *("test-compiled", "environment", "absorb", "wheels", "test-slow", "slow-tests", "compiled"),
)


def test_make_alone_lists_every_command(project_root: Path) -> None:
    listed = subprocess.run(["make", "-s"], cwd=project_root, capture_output=True, text=True, check=True).stdout
    assert sorted(line.split()[0] for line in listed.splitlines()) == sorted([*COMMANDS, "help"])


def test_every_program_that_make_runs_exists(project_root: Path) -> None:
    planned = subprocess.run(
        ["make", "-n", *COMMANDS], cwd=project_root, capture_output=True, text=True, check=True
    ).stdout
    files = set(re.findall(r"\b(?:scripts|benchmarks|tests)/[\w./-]+\w", planned))
    modules = {f"{name.replace('.', '/')}" for name in re.findall(r"-m (scripts[\w.]*)", planned)}
    assert {"scripts/bootstrap", "tests/apache"} <= files
    missing = [name for name in files if not (project_root / name).exists()]
    missing += [name for name in modules if not list(project_root.glob(f"{name}*"))]
    assert missing == []
