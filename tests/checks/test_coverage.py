"""The page of what is expected names only what is there, and leaves nothing out."""

from __future__ import annotations

from eosctl.checks.registry import CATALOGUE
from scripts.check_coverage.page import exists, read_rows, render_coverage

EXPECTED_ROWS = 227
LEAST_CHECKS = 150


def test_every_answer_exists() -> None:
    assert [(row.number, a) for row in read_rows() for a in row.answers if not exists(a)] == []
    assert not exists("EOS-CFG-999")
    assert not exists("explain:no.such.setting")


def test_every_row_is_answered() -> None:
    rows = read_rows()
    assert len(rows) == EXPECTED_ROWS
    assert all(row.answers or row.reason for row in rows)


def test_the_catalogue_is_large_and_on_the_page() -> None:
    page = render_coverage()
    assert len(CATALOGUE) >= LEAST_CHECKS
    assert [check.id for check in CATALOGUE if f"[{check.id}]({check.id}.md) |" not in page] == []
