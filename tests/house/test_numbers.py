"""What was measured is told with what repeats it: a program that there is, a day, the commit."""

from __future__ import annotations

import json
import re
from pathlib import Path

from scripts.book.numbers import numbers_page

MEASURED = sorted((Path(__file__).parents[2] / "benchmarks" / "results").glob("*.md"))


def test_every_table_names_its_program_its_day_and_its_commit(project_root: Path) -> None:
    told = re.findall(r"^`python -m benchmarks\.(\w+)`, \d{4}-\d\d-\d\d, (.*)$", numbers_page(), re.MULTILINE)
    assert {name for name, _ in told} == {path.stem[11:].replace("-", "_") for path in MEASURED}
    assert all((project_root / "benchmarks" / f"{name}.py").exists() for name, _ in told)
    assert all(re.fullmatch(r"commit `[0-9a-f]{7,}`\.|before it was committed\.", kept) for _, kept in told)


def test_every_proof_is_told_with_its_outcome_and_its_commit(project_root: Path) -> None:
    records = {path.stem: json.loads(path.read_text("utf-8")) for path in project_root.glob("docs/proofs/*.json")}
    rows = dict(re.findall(r"^\| `([\w.-]+)` \|(.*)\|$", numbers_page(), re.MULTILINE))
    assert {name: (record["succeeded"], record["commit"][:10]) for name, record in records.items()} == {
        name: (row.split("|")[1].strip() == "yes", row.split("|")[3].strip(" `"))
        for name, row in rows.items()
        if name in records
    }
