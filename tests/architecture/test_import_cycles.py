"""No file imports itself through others, lazy and TYPE_CHECKING imports included."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.import_cycles import find_cycle, import_graph


@pytest.mark.quick
def test_the_product_has_no_import_cycle(project_root: Path) -> None:
    graph = import_graph(project_root)
    assert len(graph) > 1000
    assert find_cycle(graph) == ()


@pytest.mark.parametrize(
    "planted",
    [
        "import eosctl.second",
        "from eosctl import second",
        "def late() -> None:\n    from eosctl.second import x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from eosctl.second import x",
    ],
)
def test_a_planted_cycle_is_found(planted: str, tmp_path: Path) -> None:
    package = tmp_path / "eosctl"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")
    (package / "first.py").write_text(planted, "utf-8")
    (package / "second.py").write_text("from eosctl.first import late", "utf-8")
    assert set(find_cycle(import_graph(tmp_path))) == {"eosctl.first", "eosctl.second"}
