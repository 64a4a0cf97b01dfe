"""The picture of imports shows at most twenty packages, and no arrow that goes up."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from scripts import import_picture
from scripts.import_cycles import import_graph
from scripts.import_picture import direct_only, layers, package_imports, render_picture, upward


@pytest.fixture(autouse=True)
def graph_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse the project once for all tests of this file."""
    monkeypatch.setattr(import_picture, "import_graph", graph_of)


@cache
def graph_of(root: Path) -> dict[str, frozenset[str]]:
    return import_graph(root)


def test_the_picture_shows_few_packages_and_no_arrow_goes_up(project_root: Path) -> None:
    rows = layers(project_root)
    drawn = [name for row in rows for name in row]
    assert {"commands", "services", "lab", "wire", "spark_log_analytics"} <= set(drawn)
    assert len(drawn) <= import_picture.MOST_PACKAGES
    assert upward(rows, package_imports(project_root, drawn)) == []


@pytest.mark.quick
def test_the_kept_picture_is_that_of_the_sources(project_root: Path) -> None:
    kept = (project_root / "docs" / "images" / "imports.svg").read_text("utf-8")
    assert kept == render_picture(project_root)


def test_an_import_that_goes_up_is_refused(project_root: Path, tmp_path: Path) -> None:
    shutil.copy(project_root / "pyproject.toml", tmp_path)
    for module, text in (("wire/planted", "import eosctl.checks.registry\n"), ("checks/registry", "")):
        path = tmp_path / "eosctl" / f"{module}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match="wire imports checks"):
        render_picture(tmp_path)


def test_an_import_that_others_imply_is_not_drawn() -> None:
    imports = {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset[str]()}
    assert direct_only(imports) == [("a", "b"), ("b", "c")]
