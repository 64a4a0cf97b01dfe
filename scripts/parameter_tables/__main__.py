"""Write `eosctl/knowledge/settings/*.json` from the declarations of Kafka releases and of librdkafka.

Usage: python -m scripts.parameter_tables FOLDER [LIBRDKAFKA_FOLDER]

FOLDER holds a file `<release>.tsv` per Kafka release, printed by `Dump.java` with that release's jars on the class path
(kafka_2.13, kafka-streams, connect-runtime, connect-mirror): `java -cp 'jars/*' Dump.java > 4.3.1.tsv`. A class whose
libraries are missing is left out in silence: compare the numbers of lines. LIBRDKAFKA_FOLDER holds a file
`<release>.md` per release of librdkafka, its own list: `git show v2.15.0:CONFIGURATION.md > 2.15.0.md`. Types, defaults
and bounds are taken; texts are not.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TABLES = Path(__file__).resolve().parents[2] / "eosctl" / "knowledge" / "settings"
# A validator without words of its own prints its class and its address, which differ from run to run.
IDENTITY = re.compile(r"@[0-9a-f]+$")
MACHINE_DEPENDENT = {"state.dir", "ssl.enabled.protocols", "ssl.protocol", "auto.include.jmx.reporter"}


class Declared(NamedTuple):
    """One setting as one release declares it; `default` None means null, `required` that there is none."""

    name: str
    type: str
    default: str | None
    required: bool
    bounds: str


def main(arguments: list[str]) -> int:
    """Write every table."""
    folder, *librdkafka = map(Path, arguments)
    releases = sorted((_release(path.stem), path) for path in folder.glob("*.tsv"))
    by_component: dict[str, dict[str, list[tuple[str, Declared]]]] = {}
    labels = [f"{release[0]}.{release[1]}" for release, _ in releases]
    for label, (_, path) in zip(labels, releases, strict=True):
        for component, declared in _read(path):
            by_component.setdefault(component, {}).setdefault(declared.name, []).append((label, declared))
    for component, settings in by_component.items():
        table = {name: _history(seen, labels, name) for name, seen in sorted(settings.items())}
        _write(component, {"first": labels[0], "last": labels[-1], "settings": table})
    for own in librdkafka:
        _write("librdkafka", _librdkafka_table(own))
    return 0


def _release(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def _read(path: Path) -> Iterator[tuple[str, Declared]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        component, name, kind, default, bounds, internal = line.split("\t")
        if not internal:
            bounds = "" if IDENTITY.search(bounds) else bounds
            text = default[1:] if default.startswith("=") else None
            yield component, Declared(name, kind.lower(), text, default == "required", bounds)


def _history(seen: list[tuple[str, Declared]], labels: list[str], name: str) -> dict[str, object]:
    """Fold what the releases say into spans: each names the first release that says so."""
    last = seen[-1][1]
    spans: list[dict[str, object]] = []
    for label, declared in seen:
        span: dict[str, object] = {"default": None if name in MACHINE_DEPENDENT else declared.default}
        if declared.bounds:
            span["bounds"] = declared.bounds
        if declared.required:
            span["required"] = True
        if not spans or {k: v for k, v in spans[-1].items() if k != "since"} != span:
            spans.append({"since": label, **span})
    folded: dict[str, object] = {"type": last.type, "spans": spans}
    after = labels.index(seen[-1][0]) + 1
    if after < len(labels):
        folded["removed"] = labels[after]
    return folded


def _librdkafka_table(folder: Path) -> dict[str, object]:
    releases = sorted((_release(path.stem), path) for path in folder.glob("*.md"))
    labels = [f"{release[0]}.{release[1]}" for release, _ in releases]
    seen: dict[str, list[tuple[str, Declared]]] = {}
    notes: dict[str, dict[str, str]] = {}
    for label, (_, path) in zip(labels, releases, strict=True):
        # Of a name that stands there twice, for all topics and for one, the last counts.
        rows = {declared.name: (declared, note) for declared, note in _librdkafka(path.read_text(encoding="utf-8"))}
        for name, (declared, note) in rows.items():
            seen.setdefault(name, []).append((label, declared))
            notes[name] = note
    settings = {name: {**_history(found, labels, name), **notes[name]} for name, found in sorted(seen.items())}
    return {"software": "librdkafka", "first": labels[0], "last": labels[-1], "settings": settings}


def _librdkafka(text: str) -> Iterator[tuple[Declared, dict[str, str]]]:
    """Yield each setting of one release with what it says of its owner and of another name for it."""
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


def _write(component: str, table: dict[str, object]) -> None:
    TABLES.mkdir(exist_ok=True)
    (TABLES / f"{component}.json").write_text(json.dumps(table, indent=1, sort_keys=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
