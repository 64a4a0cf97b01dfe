"""The wheel holds everything, and what it installs into a clean environment runs."""

from __future__ import annotations

import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from eosctl import __version__
from eosctl.lab.apache.releases import RELEASES
from scripts.generate_wire.modules import generate
from scripts.release.archives import build_archives

pytestmark = pytest.mark.slow

COMMIT_TIME_S = 1_700_000_000
#: The pip of this environment, on another one: to give each its own takes seconds.
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python")
PACKAGES = ("eosctl", "spark_log_analytics", "config_profiles")


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(module_source_copy: Path) -> tuple[Path, Path]:
    """The wheel, and the source archive."""
    wheel, sources = build_archives(module_source_copy, module_source_copy / "dist", COMMIT_TIME_S)
    return wheel, sources


@pytest.fixture(scope="module")
def wheel(archives: tuple[Path, Path]) -> Path:
    return archives[0]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin directory of an environment in which nothing but the wheel was asked for."""
    directory = tmp_path_factory.mktemp("clean")
    venv.create(directory)
    run(
        *PIP,
        directory / "bin" / "python",
        "install",
        "-q",
        "--no-compile",
        "--only-binary",
        ":all:",
        wheel,
        cwd=directory,
    )
    return directory / "bin"


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path, module_source_copy: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    ours = {
        path.relative_to(module_source_copy).as_posix()
        for package in PACKAGES
        for path in (module_source_copy / package).rglob("*")
        if path.is_file()
    }
    assert ours - packed == set()
    assert {f"eosctl/wire/{name}" for name in generate()} - packed == set()
    assert {name.partition("/")[0] for name in packed} == {*PACKAGES, f"eosctl-{__version__}.dist-info"}
    assert any(name.endswith("/LICENSE") for name in packed)


def test_the_source_archive_builds_the_same_wheel(archives: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, sources = archives
    subprocess.run(["tar", "-xf", sources, "-C", tmp_path], check=True)
    (unpacked,) = tmp_path.iterdir()
    assert [path.name for path in (unpacked / "eosctl" / "wire" / "generated").iterdir()] == ["__init__.py"]
    [again] = build_archives(unpacked, tmp_path / "dist", COMMIT_TIME_S, kinds=("wheel",))
    assert again.read_bytes() == wheel.read_bytes()


def test_a_clean_installation_prints_its_version(installed: Path) -> None:
    assert __version__ in run(installed / "eosctl", "--version", cwd=installed)
    assert __version__ in run(installed / "python", "-m", "eosctl", "--version", cwd=installed)


def test_a_clean_installation_finds_its_data(installed: Path) -> None:
    reads = "from eosctl.lab.apache.jars import read_lock\nfrom eosctl.lab.apache.releases import RELEASES\n"
    count = "print(all(len(read_lock(release)) > 20 for release in RELEASES.values()), len(RELEASES))"
    assert run(installed / "python", "-c", reads + count, cwd=installed) == f"True {len(RELEASES)}\n"


def test_a_clean_installation_has_consistent_requirements(installed: Path) -> None:
    run(*PIP, installed / "python", "check", cwd=installed)


def test_a_clean_installation_runs_the_whole_demo(installed: Path, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    result = subprocess.run(
        [str(installed / "eosctl"), "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    # Both faults, and nothing else, from the logs alone; the reader stops and continues.
    _, _, from_logs = result.stdout.partition("== 6. ")
    incidents = re.findall(r"^ERROR  (\w+): ([\w-]+)$", from_logs, re.MULTILINE)
    assert sorted(incidents) == [
        ("hanging_transaction", "late-append-after-end-of-transaction"),
        ("producer_fenced", "duplicate-transactional-id"),
    ]
    report = (tmp_path / "demo-output" / "doctor.html").read_text("utf-8")
    assert "EOS-TXN-001" in report
    assert not list((tmp_path / ".local" / "state").glob("eosctl/sandbox*/demo-*"))
