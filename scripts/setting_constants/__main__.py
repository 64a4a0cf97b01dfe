"""Write `eosctl/knowledge/reference/setting_constants.tsv`: settings whose Java constant has another name.

Usage: python -m scripts.setting_constants RELEASE...

`ProducerConfig.TRANSACTION_TIMEOUT_CONFIG` is `transaction.timeout.ms`. Constants that are the setting's name in
capitals are left out. The jars are those of `scripts.absorb`; Java 17 is needed. Columns: constant, setting.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from eosctl.knowledge.parameter_tables import load_tables
from scripts.absorb.jars import fetch

TABLE: Final = Path(__file__).resolve().parents[2] / "eosctl" / "knowledge" / "reference" / "setting_constants.tsv"
_PROGRAM: Final = Path(__file__).with_name("Constants.java")


def main(releases: list[str]) -> int:
    """Write the table of all constants that one of the releases has."""
    known = {name for table in load_tables().values() for name in table.parameters}
    found = {pair for release in releases for pair in _constants(fetch(release))}
    rows = sorted(
        (constant, setting) for constant, setting in found if setting in known and not _is_spelling(constant, setting)
    )
    TABLE.write_text("".join(f"{constant}\t{setting}\n" for constant, setting in rows), encoding="utf-8")
    return 0 if releases else 2


def _constants(jars: Path) -> set[tuple[str, str]]:
    command = ["java", "-cp", f"{jars}/*", str(_PROGRAM)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {
        (cells[0], cells[1])
        for line in printed.splitlines()
        if len(cells := line.split("\t")) == len(("name", "setting"))
    }


def _is_spelling(constant: str, setting: str) -> bool:
    return constant.removesuffix("_CONFIG").lower() == setting.replace(".", "_").replace("-", "_")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
