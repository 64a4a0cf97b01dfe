"""Reading a baseline: the findings of an earlier day, by fingerprint."""

from __future__ import annotations

import json
from pathlib import Path

from eosctl.errors import ConfigFileError
from eosctl.findings.report import BASELINE_SCHEMA
from eosctl.input_file import read_input


def read_baseline(path: Path) -> frozenset[str]:
    """Return the fingerprints that a baseline holds; the JSON of an earlier doctor run serves too.

    Raises:
        ConfigFileError: The file is neither.
    """
    try:
        document = json.loads(read_input(path))
        schema = document["schema"]
        entries = document["findings" if schema == BASELINE_SCHEMA else "items"]
        if schema not in (BASELINE_SCHEMA, "eosctl.diagnosis"):
            raise ValueError(f"its schema is {schema}")
        return frozenset(str(entry["fingerprint"]) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigFileError(
            f"{path} is not a baseline: {why}.",
            "A baseline holds the fingerprints of known findings.",
            f"Write one: eosctl doctor --write-baseline {path}",
        ) from error
