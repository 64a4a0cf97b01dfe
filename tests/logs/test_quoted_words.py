"""Every line that texts about exactly-once quote has its category, whether Kafka prints it so or not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.house.test_coverage_page import NODE_ID, ROW, missing_tests

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "logs" / "coverage.md").read_text("utf-8")

LINES = csv.reader((ROOT / "tests" / "fixtures" / "quoted-lines.tsv").read_text("utf-8").splitlines()[1:], "excel-tab")
QUOTED = [(row, category, words) for row, category, words in LINES]


@pytest.mark.parametrize(("row", "category", "words"), QUOTED)
def test_a_quoted_line_has_its_category(row: str, category: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"[2026-11-21 09:00:00,000] {words} (a.b.C)\n")
    (event,) = scan_paths([path]).events
    assert event.category == category, row


def test_the_page_answers_every_quoted_line_and_names_tests_that_exist() -> None:
    answers = {ident: (answer, shown) for ident, answer, shown in ROW.findall(PAGE)}
    assert {row for row, _, _ in QUOTED} <= answers.keys()
    for row, category, _ in QUOTED:
        assert category in answers[row][0], row
    assert all(NODE_ID.search(shown) for _, shown in answers.values())
    assert missing_tests(PAGE, ROOT / "tests") == []
