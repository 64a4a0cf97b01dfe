"""Every line that texts about exactly-once quote has its category, whether Kafka prints it so or not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths

ROOT = Path(__file__).parents[2]

LINES = csv.reader((ROOT / "tests" / "fixtures" / "quoted-lines.tsv").read_text("utf-8").splitlines()[1:], "excel-tab")
QUOTED = [(row, category, words) for row, category, words in LINES]


@pytest.mark.parametrize(("row", "category", "words"), QUOTED)
def test_a_quoted_line_has_its_category(row: str, category: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"[2026-11-21 09:00:00,000] {words} (a.b.C)\n")
    (event,) = scan_paths([path]).events
    assert event.category == category, row
