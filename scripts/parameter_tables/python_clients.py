"""Write the tables of kafka-python and of aiokafka from what their releases declare.

Usage: python -m scripts.parameter_tables.python_clients FOLDER

FOLDER holds an archive (wheel) of each release: `pip download --no-deps kafka-python==3.0.12`. Names and defaults are
those of the classes: kafka-python's `DEFAULT_CONFIG`, the parameters of aiokafka's constructors. Nothing of them is
run. A name that Kafka has with dots is written so.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from eosctl.settings.names.spellings import setting_meant
from scripts.parameter_tables.history import Declared, fold, write_table

CLASSES: Final = {
    "kafka-python": {"producer": "kafka/producer/kafka.py", "consumer": "kafka/consumer/group.py"},
    "aiokafka": {"producer": "aiokafka/producer/producer.py", "consumer": "aiokafka/consumer/consumer.py"},
}
# The constructor's replacement for the "not given" marker.
_WITHOUT_VALUE: Final = {("aiokafka", "acks"): "1"}
# Choices that both check in code, in the notation of Kafka's declarations.
_CHOICES: Final = {"acks": "[all, -1, 0, 1]", "isolation.level": "[read_uncommitted, read_committed]"}
_TYPES: Final = {bool: "boolean", int: "int", float: "int", str: "string"}
_INT_MAX: Final = "2147483647"


def main(arguments: list[str]) -> int:
    """Write both tables."""
    (folder,) = map(Path, arguments)
    for client, classes in CLASSES.items():
        archives = sorted((_release(path.name), path) for path in folder.glob(f"{client.replace('-', '_')}-*.whl"))
        labels = [f"{release[0]}.{release[1]}" for release, _ in archives]
        seen: dict[str, list[tuple[str, Declared]]] = {}
        owners: dict[str, set[str]] = {}
        for label, (_, path) in zip(labels, archives, strict=True):
            found: dict[str, Declared] = {}
            with zipfile.ZipFile(path) as archive:
                for role, file in classes.items():
                    for declared in _declared(client, archive.read(file).decode()):
                        found[declared.name] = declared
                        owners.setdefault(declared.name, set()).add(role)
            for name, declared in found.items():
                seen.setdefault(name, []).append((label, declared))
        settings = {name: fold(history, labels) for name, history in sorted(seen.items())}
        for name, roles in owners.items():
            if len(roles) == 1:
                settings[name]["only"] = roles.pop()
        write_table(client, {"software": client, "first": labels[0], "last": labels[-1], "settings": settings})
    return 0


def _release(file: str) -> tuple[int, int]:
    version = re.search(r"-(\d+)\.(\d+)", file)
    if version is None:
        raise SystemExit(f"{file} names no version.")
    return int(version[1]), int(version[2])


def _declared(client: str, source: str) -> Iterator[Declared]:
    for name, default in _constructor(source) if client == "aiokafka" else _table(source):
        value = _value(default)
        text = _WITHOUT_VALUE.get((client, name)) or _text(value)
        kafka = setting_meant(name) or name
        kind = "string" if kafka in _CHOICES else _TYPES.get(type(value), "string")
        yield Declared(kafka, kind, text, False, _CHOICES.get(kafka, ""))


def _table(source: str) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            (target,) = node.targets
            if isinstance(target, ast.Name) and target.id == "DEFAULT_CONFIG":
                for key, value in zip(node.value.keys, node.value.values, strict=True):
                    if isinstance(key, ast.Constant):
                        yield str(key.value), value


def _constructor(source: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of the first class's constructor, which is the client."""
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    client = next(one for one in classes if one.name in ("AIOKafkaProducer", "AIOKafkaConsumer"))
    start = next(node for node in client.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    for argument, default in zip(start.args.kwonlyargs, start.args.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def _value(node: ast.expr) -> object:
    """Return a default that is a constant or simple arithmetic; None for other expressions."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return left * right if isinstance(left, int) and isinstance(right, int) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        return math.inf
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _text(value: object) -> str | None:
    match value:
        case None | tuple() | list() | set() | dict() | bytes():
            return None
        case bool():
            return str(value).lower()
        case float() if math.isinf(value):
            return _INT_MAX
        case _:
            return str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
