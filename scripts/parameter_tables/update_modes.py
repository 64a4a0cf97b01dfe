"""Write `eosctl/knowledge/settings/update_modes.json`: which broker settings change without a restart, by release.

Usage: python -m scripts.parameter_tables.update_modes FOLDER

FOLDER holds a file `<release>.tsv` per Kafka release, printed by `UpdateModes.java` with that release's jars on the
class path: `java -cp 'jars/*' UpdateModes.java > 4.3.1.tsv`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.parameter_tables.__main__ import TABLES


def main(arguments: list[str]) -> int:
    """Write the table."""
    modes = {
        ".".join(path.stem.split(".")[:2]): dict(line.split("\t") for line in path.read_text("utf-8").splitlines())
        for path in sorted(Path(arguments[0]).glob("*.tsv"))
    }
    (TABLES / "update_modes.json").write_text(json.dumps(modes, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
