"""What the build switch compiles is there to be compiled (building it all takes minutes: ``make test-compiled``)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from scripts.test_compiled import LEFT_OUT_TESTS, PACKAGES, STARTED, compile_copy, not_compiled


def test_every_compiled_module_is_one_of_ours(project_root: Path) -> None:
    names = tomllib.loads((project_root / "pyproject.toml").read_text())["tool"]["eosctl"]["compiled-modules"]
    assert names == sorted(set(names))
    assert [name for name in names if not (project_root / f"{name.replace('.', '/')}.py").is_file()] == []
    assert [name for name in (*PACKAGES, *STARTED) if not (project_root / name).exists()] == []
    for left_out in LEFT_OUT_TESTS:
        path, _, function = left_out.partition("::")
        assert f"def {function}" in (project_root / path).read_text(), left_out


def test_only_a_module_that_still_runs_as_python_is_named(tmp_path: Path) -> None:
    names = ["_thread", "cramjam.cramjam", "interpreted"]  # part of the interpreter, a compiled file, a Python file
    (tmp_path / "pyproject.toml").write_text(f"[tool.eosctl]\ncompiled-modules = {names}\n")
    (tmp_path / "interpreted.py").touch()
    assert not_compiled(tmp_path) == ["interpreted"]


def test_a_build_that_fails_says_what_the_compiler_said(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "setup.py").write_text("raise SystemExit('no such type')\n")
    with pytest.raises(SystemExit, match="no such type"):
        compile_copy(tmp_path / "copy", source)


def test_hidden_fixtures_are_copied_too(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "fixtures").mkdir(parents=True)
    (source / "setup.py").touch()
    (source / ".venv").mkdir()
    (source / "fixtures/.kafka_cleanshutdown").touch()
    compile_copy(tmp_path / "copy", source)
    assert (tmp_path / "copy/fixtures/.kafka_cleanshutdown").exists()
    assert not (tmp_path / "copy/.venv").exists()
