"""Copies of the project for tests that plant something in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("eosctl", "spark_log_analytics", "config_profiles")


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The project itself."""
    return ROOT


def copy_sources(target: Path) -> Path:
    """Copy what the packages and the wheel are made from, without caches."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "scripts" / "generate_wire", target / "scripts" / "generate_wire")
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "scripts/__init__.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture
def source_copy(tmp_path: Path) -> Path:
    """A copy of the packages that a test may change."""
    return copy_sources(tmp_path)


def append_to_module(links: Path, name: str, text: str) -> None:
    """Give a folder links to the package of a module, and the module itself with more text.

    A copy of the package takes seconds, and more to compile it.
    """
    original = ROOT / name
    for folder in reversed(Path(name).parents[:-1]):
        (links / folder).unlink(missing_ok=True)
        (links / folder).mkdir()
        for child in (ROOT / folder).iterdir():
            if child.name != "__pycache__":
                (links / folder / child.name).symlink_to(child)
    (links / name).unlink()
    (links / name).write_text(f"{original.read_text('utf-8')}\n{text}\n", "utf-8")


@pytest.fixture(scope="module")
def module_source_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all tests of one module together, without what a build generates: as in a fresh clone."""
    copy = copy_sources(tmp_path_factory.mktemp("project"))
    for path in (copy / "eosctl" / "wire" / "generated").glob("[a-z]*.py"):
        path.unlink()
    return copy
