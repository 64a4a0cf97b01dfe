"""Write `eosctl/knowledge/settings/librdkafka.json` from librdkafka's own lists.

Usage: python -m scripts.parameter_tables FOLDER

FOLDER holds a file `<release>.md` per release of librdkafka, its own list:
`git show v2.15.0:CONFIGURATION.md > 2.15.0.md`. Types, defaults and bounds are taken; texts are not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.parameter_tables.history import Declared, fold, release_numbers, write_table


def main(arguments: list[str]) -> int:
    """Write the table."""
    write_table("librdkafka", _librdkafka_table(Path(arguments[0])))
    return 0


def _librdkafka_table(folder: Path) -> dict[str, object]:
    releases = sorted((release_numbers(path.stem), path) for path in folder.glob("*.md"))
    labels = [f"{release[0]}.{release[1]}" for release, _ in releases]
    seen: dict[str, list[tuple[str, Declared]]] = {}
    notes: dict[str, dict[str, str]] = {}
    for label, (_, path) in zip(labels, releases, strict=True):
        # Of a name that stands there twice, for all topics and for one, the last counts.
        rows = {declared.name: (declared, note) for declared, note in _librdkafka(path.read_text(encoding="utf-8"))}
        for name, (declared, note) in rows.items():
            seen.setdefault(name, []).append((label, declared))
            notes[name] = note
    settings = {name: {**fold(found, labels), **notes[name]} for name, found in sorted(seen.items())}
    return {"software": "librdkafka", "first": labels[0], "last": labels[-1], "settings": settings}


def _librdkafka(text: str) -> Iterator[tuple[Declared, dict[str, str]]]:
    """Yield each setting of one release with its owner and its alias."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) < 6 or cells[0] in ("Property", "") or set(cells[0]) <= {"-"}:
            continue
        name, owner, bounds, default = cells[:4]
        kind = re.search(r"\*Type: ([a-z ]+)", cells[-1])
        alias = re.search(r"Alias for `([^`]+)`", cells[-1])
        note: dict[str, str] = {}
        if owner in ("C", "P"):
            note["only"] = "consumer" if owner == "C" else "producer"
        if alias:
            note["alias"] = alias[1]
        # Which features are built in is a matter of the build.
        known = None if name == "builtin.features" else default or None
        yield Declared(name, kind[1].strip() if kind else "string", known, False, bounds), note


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
