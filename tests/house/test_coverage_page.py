"""The page that maps what is asked of the sandbox to tests: they exist, and no row is without an answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NODE_ID = re.compile(r"`([\w/]+\.py)::(\w+)`")
ROW = re.compile(r"\| ([SC]\d[\d-]*) \| ([^|]+) \| ([^|]+) \|")


@pytest.fixture(scope="module")
def page(project_root: Path) -> str:
    return (project_root / "docs" / "sandbox" / "coverage.md").read_text()


def missing_tests(page: str, tests: Path) -> list[str]:
    """Return the node ids of a page that name no test."""
    found = []
    for path, name in NODE_ID.findall(page):
        file = tests / path
        if not file.is_file() or not re.search(rf"^\s*(?:async )?def {name}\(", file.read_text(), re.MULTILINE):
            found.append(f"{path}::{name}")
    return found


def test_every_named_test_exists(page: str, project_root: Path) -> None:
    assert len(NODE_ID.findall(page)) > 180
    assert missing_tests(page, project_root / "tests") == []


def test_a_test_that_is_gone_is_noticed(project_root: Path) -> None:
    page = "`house/test_coverage_page.py::test_gone` `house/nowhere.py::test_x` `sandbox/test_cluster.py::test_a_port`"
    assert len(missing_tests(page, project_root / "tests")) == 3


def test_every_row_has_a_test_or_a_reason(page: str) -> None:
    rows = ROW.findall(page)
    for ident, _, shown in rows:
        assert NODE_ID.search(shown) or shown.startswith("Not here: "), ident
    ids = [ident for ident, _, _ in rows]
    assert len(ids) == len(set(ids)) == 29 + 154
    assert [ident for ident in ids if ident.startswith("C")] == [f"C{number:02}" for number in range(1, 30)]
