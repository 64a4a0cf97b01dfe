"""Reading a baseline: the findings of an earlier day, by fingerprint."""

from __future__ import annotations

import json
from pathlib import Path

from eosctl.errors import ConfigFileError
from eosctl.findings.report import BASELINE_SCHEMA


def read_baseline(path: Path) -> frozenset[str]:
    """Return the fingerprints that a baseline holds; the JSON of an earlier doctor run serves too.

    Raises:
        ConfigFileError: The file is neither.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        schema = document["schema"]
        entries = document["findings" if schema == BASELINE_SCHEMA else "items"]
        if schema not in (BASELINE_SCHEMA, "eosctl.diagnosis"):
            raise ValueError(f"its schema is {schema}")
        return frozenset(str(entry["fingerprint"]) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigFileError(
            f"{path} is not a baseline: {error}.",
            "A baseline holds the fingerprints of known findings.",
            f"Write one: eosctl doctor --write-baseline {path}",
        ) from error
