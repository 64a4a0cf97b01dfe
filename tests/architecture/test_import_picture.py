"""The picture of imports shows at most twenty packages, and no arrow that goes up."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import import_picture
from scripts.import_picture import direct_only, layers, package_imports, render_picture, upward


def test_the_picture_shows_few_packages_and_no_arrow_goes_up(project_root: Path) -> None:
    rows = layers(project_root)
    drawn = [name for row in rows for name in row]
    assert {"commands", "services", "lab", "wire", "spark_log_analytics"} <= set(drawn)
    assert len(drawn) <= import_picture.MOST_PACKAGES
    assert upward(rows, package_imports(project_root, drawn)) == []


def test_the_kept_picture_is_that_of_the_sources(project_root: Path) -> None:
    kept = (project_root / "docs" / "images" / "imports.svg").read_text("utf-8")
    assert kept == render_picture(project_root)


def test_an_import_that_goes_up_is_refused(source_copy: Path) -> None:
    (source_copy / "eosctl" / "wire" / "planted.py").write_text("import eosctl.checks.registry\n", "utf-8")
    with pytest.raises(ValueError, match="wire imports checks"):
        render_picture(source_copy)


def test_an_import_that_others_imply_is_not_drawn() -> None:
    imports = {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset[str]()}
    assert direct_only(imports) == [("a", "b"), ("b", "c")]
