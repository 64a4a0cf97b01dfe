"""Every measurement names how to repeat it: an existing program, a day, the commit."""

from __future__ import annotations

import json
import re
from pathlib import Path

from scripts.book.numbers import numbers_page

MEASURED = sorted((Path(__file__).parents[2] / "benchmarks" / "results").glob("*.md"))

# Tables without the command that repeats them; do not add any.
WITHOUT_COMMAND = {"compiled"}


def test_every_table_names_its_program_its_day_and_its_commit(project_root: Path) -> None:
    front = r"^(?:`python -m benchmarks\.(\w+)`,|Measured) \d{4}-\d\d-\d\d, (.*)$"
    tables = re.findall(front, numbers_page(), re.MULTILINE)
    topics = {path.stem[11:].replace("-", "_"): path for path in MEASURED}
    assert len(tables) == len(topics)
    for name in topics.keys() - {name for name, _ in tables} - WITHOUT_COMMAND:
        assert re.search(r"`[^`]*(?:python|make|eosctl) [^`]+`", topics[name].read_text("utf-8")), name
    assert all((project_root / "benchmarks" / f"{name}.py").exists() for name, _ in tables if name)
    assert all(re.fullmatch(r"commit `[0-9a-f]{7,}`\.|before it was committed\.", kept) for _, kept in tables)


def test_every_proof_is_listed_with_its_outcome_and_commit(project_root: Path) -> None:
    records = {path.stem: json.loads(path.read_text("utf-8")) for path in project_root.glob("docs/proofs/*.json")}
    rows = dict(re.findall(r"^\| `([\w.-]+)` \|(.*)\|$", numbers_page(), re.MULTILINE))
    assert {name: (record["succeeded"], record["commit"][:10]) for name, record in records.items()} == {
        name: (row.split("|")[1].strip() == "yes", row.split("|")[3].strip(" `"))
        for name, row in rows.items()
        if name in records
    }
