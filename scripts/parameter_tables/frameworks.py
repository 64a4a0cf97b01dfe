"""Write the tables of Spring Boot's and of Flink's own settings, which have releases of their own.

Usage: python -m scripts.parameter_tables.frameworks SPRING_FOLDER FLINK_FOLDER

SPRING_FOLDER holds jars of Spring Boot (`spring-boot-autoconfigure-3.5.8.jar`, from 4.0 on `spring-boot-kafka-*.jar`):
their metadata says which `spring.kafka` properties there are. FLINK_FOLDER holds `<release>.tsv` of each release of
Flink's Kafka connector, printed by `FlinkOptions.java`. Names, types, defaults and choices are taken; texts are not.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from scripts.parameter_tables.history import Declared, fold, release_numbers, write_table

METADATA: Final = "META-INF/spring-configuration-metadata.json"
CHOICES: Final = {
    "IsolationLevel": "read-uncommitted, read-committed",
    "Type": "single, batch",
    "AckMode": "record, batch, time, count, count-time, manual, manual-immediate",
    "ControlFlag": "required, requisite, sufficient, optional",
}
"""The constants of the enums that the metadata names; javap prints them."""
TYPES: Final = {"Integer": "int", "Long": "long", "Duration": "duration", "DataSize": "data size", "Map": "map"}
FLINK_TYPES: Final = {"integer": "int", "enum": "string"}


def main(arguments: list[str]) -> int:
    """Write both tables."""
    spring, flink = map(Path, arguments)
    _table("spring", "Spring Boot", [(jar.stem.rpartition("-")[2], _spring(jar)) for jar in spring.glob("*.jar")])
    _table("flink", "Flink's Kafka connector", [(tsv.stem, _flink(tsv)) for tsv in flink.glob("*.tsv")])
    return 0


def _table(component: str, software: str, releases: list[tuple[str, Iterator[Declared]]]) -> None:
    """Fold the releases; the last patch of each minor release counts."""
    by_label = {
        f"{release_numbers(text)[0]}.{release_numbers(text)[1]}": list(found) for text, found in sorted(releases)
    }
    labels = sorted(by_label, key=release_numbers)
    seen: dict[str, list[tuple[str, Declared]]] = {}
    for label in labels:
        for declared in by_label[label]:
            seen.setdefault(declared.name, []).append((label, declared))
    settings = {name: fold(found, labels) for name, found in sorted(seen.items())}
    write_table(component, {"software": software, "first": labels[0], "last": labels[-1], "settings": settings})


def _spring(jar: Path) -> Iterator[Declared]:
    with zipfile.ZipFile(jar) as archive:
        properties: list[dict[str, Any]] = json.loads(archive.read(METADATA))["properties"]
    for one in properties:
        if one["name"].startswith("spring.kafka.") and one.get("deprecation", {}).get("level") != "error":
            yield _declared(one)


def _declared(one: dict[str, Any]) -> Declared:
    whole = one["type"].partition("<")[0]
    simple = re.split(r"[.$]", whole)[-1]
    default = one.get("defaultValue")
    text = json.dumps(default).strip('"') if default is not None else None
    bounds = f"(relaxed) [{CHOICES[simple]}]" if simple in CHOICES and "kafka" in whole else ""
    kind = "string" if bounds else TYPES.get(simple, simple.lower())
    return Declared(one["name"], kind, text, False, bounds)


def _flink(tsv: Path) -> Iterator[Declared]:
    for line in tsv.read_text(encoding="utf-8").splitlines():
        name, kind, default, choices = line.split("\t")
        bounds = f"(case insensitive) [{choices}]" if choices else ""
        yield Declared(name, FLINK_TYPES.get(kind, kind), default[1:] if default else None, False, bounds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
