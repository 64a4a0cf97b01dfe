"""What the build switch compiles is there to be compiled (building it all takes minutes: ``make test-compiled``)."""

from __future__ import annotations

import ast
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


def compiled_bases(source: str, compiled: set[str]) -> list[str]:
    """Return the classes of a module that inherit from a class of a compiled module."""
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and imported.get(base.id) in compiled for base in node.bases)
    ]


@pytest.mark.quick
def test_no_interpreted_class_inherits_from_a_compiled_one(project_root: Path) -> None:
    project = tomllib.loads((project_root / "pyproject.toml").read_text())
    compiled = set(project["tool"]["eosctl"]["compiled-modules"])
    planted = "from eosctl.sandbox.node import Node\nclass Mine(Node): ..."
    assert compiled_bases(planted, compiled) == ["Mine"]
    for path in sorted((project_root / "eosctl").rglob("*.py")):
        module = ".".join(path.relative_to(project_root).with_suffix("").parts)
        source = path.read_text("utf-8")
        if module not in compiled and "class " in source:
            assert compiled_bases(source, compiled) == [], f"{module}: mypyc refuses it when the class is made"


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
