"""Which interpreters seeds are replayed with; the replay itself is `make prove replay-across-pythons`."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.replay_across_pythons import find_pythons, main, search_path


def make_python(folder: Path, version: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / f"python{version}"
    python.write_text(f"#!/bin/sh\necho {says}\n")
    python.chmod(0o755)
    return python


def test_the_first_working_python_of_each_version_is_used(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    make_python(one, "3.12", "pyenv: python3.12: command not found")
    expected = {"3.12": make_python(two, "3.12", "3.12"), "3.13": make_python(one, "3.13", "3.13")}
    make_python(two, "3.13", "3.13")
    make_python(two, "3.9", "3.9")
    assert find_pythons([one, two]) == expected


def test_our_own_python_is_found(tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / f"python{version}").symlink_to(sys.executable)
    assert version in find_pythons([*search_path(), tmp_path])


def test_fewer_than_two_prove_nothing(monkeypatch, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("scripts.replay_across_pythons.search_path", lambda: [tmp_path])
    assert main([]) == 2
    assert "Only none of Python 3.11" in capsys.readouterr().err
