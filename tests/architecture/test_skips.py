"""A skipped test is reported with its reason, and fails the run if its tools are required."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def run_real_kafka_test(root: Path, programs: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one test of the real-Kafka tier on a PATH without Java."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "EOSCTL_REQUIRE")}
    options = ("-p", "no:cacheprovider", "--no-cov", "-k", "refusal")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests/apache/test_launcher.py"],
        cwd=root,
        env=inherited | {"PATH": str(programs)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_java_the_tests_are_skipped_with_the_reason(project_root: Path, tmp_path: Path) -> None:
    done = run_real_kafka_test(project_root, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped" in done.stdout
    assert "java is missing" in done.stdout


def test_where_java_is_required_a_skip_fails_the_run(project_root: Path, tmp_path: Path) -> None:
    done = run_real_kafka_test(project_root, tmp_path, EOSCTL_REQUIRE="java")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "EOSCTL_REQUIRE is set: 1 skipped tests fail the run" in done.stdout


PLANTED = """
import pytest, socket

def test_skipped():
    pytest.skip("planted")

@pytest.mark.parametrize("name", ["zsh", "kcat", "kcat"])
def test_wants(name):
    pytest.skip(f"{name} is missing (Debian: {name})")

def test_leaves_files(tmp_path):
    import tempfile
    (tmp_path / "left").touch()
    tempfile.mkdtemp()

def test_fails(tmp_path):
    raise AssertionError

def test_leaves_the_machine():
    socket.create_connection(("192.0.2.1", 80), 1)
"""


def temporary(folder: Path) -> Path:
    directory = folder.parent / f"{folder.name}-temporary"
    directory.mkdir(exist_ok=True)
    return directory


def run_planted(root: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run planted tests under our conftest, as the suite is run in CI."""
    (folder / "conftest.py").write_text((root / "tests" / "conftest.py").read_text("utf-8"), "utf-8")
    (folder / "test_planted.py").write_text(PLANTED, "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", *options, "."],
        cwd=folder,
        env=os.environ | {"EOSCTL_REQUIRE": "java", "TMPDIR": str(temporary(folder))},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_skip_is_counted_in_every_worker(workers: str, project_root: Path, tmp_path: Path) -> None:
    done = run_planted(project_root, tmp_path, "-n", workers, "-k", "skipped")
    assert done.returncode == 1, done.stdout
    assert "1 skipped tests fail the run" in done.stdout


def test_a_connection_that_would_leave_the_machine_is_refused(project_root: Path, tmp_path: Path) -> None:
    done = run_planted(project_root, tmp_path, "-k", "leaves")
    assert done.returncode == 1
    assert "a test tried to connect to ('192.0.2.1', 80)" in done.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_missing_requirements_are_listed_with_install_commands(
    workers: str, project_root: Path, tmp_path: Path
) -> None:
    done = run_planted(project_root, tmp_path, "-n", workers, "-k", "wants or skipped")
    assert "3 tests were skipped because optional packages are missing" in done.stdout
    assert "apt-get install kcat zsh\n" in done.stdout


def test_packages_that_tests_lack_are_optional_in_the_readme(project_root: Path) -> None:
    sources = "".join(path.read_text("utf-8") for path in (project_root / "tests").rglob("*.py"))
    named = set(re.findall(r"\(Debian: ([a-z.-]+)\)", sources)) - {"default-jre-headless"}  # in the README's command
    readme = (project_root / "README.md").read_text("utf-8")
    assert {"kcat", "prometheus"} <= named
    assert [name for name in named if f"`{name}`" not in readme] == []


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_leaves_no_files(workers: str, project_root: Path, tmp_path: Path) -> None:
    done = run_planted(project_root, tmp_path, "-n", workers, "-k", "leaves_files")
    assert done.returncode == 0, done.stdout
    assert list(temporary(tmp_path).iterdir()) == []


def test_a_run_that_fails_says_where_the_files_are(project_root: Path, tmp_path: Path) -> None:
    done = run_planted(project_root, tmp_path, "-k", "fails or leaves_files")
    assert done.returncode == 1
    (scratch,) = temporary(tmp_path).iterdir()
    assert f"Temporary files of the failed tests: {scratch}\n" in done.stdout
