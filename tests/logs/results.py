"""Read the last published run of a job's result in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eosctl.model.log_tables import PUBLISHED, table_path


def json_rows(out: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table in the order in which they were written."""
    runs = _rows(out / table_path(PUBLISHED, ""))
    last = max(runs, key=lambda run: run["published_at"])["run_id"]
    return _rows(out / table_path(table, last))


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.rglob("part-*.json")) for line in file.read_text().splitlines()]
