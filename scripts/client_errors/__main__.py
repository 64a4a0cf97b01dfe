"""Write `eosctl/knowledge/reference/client_errors.tsv`: each client's names of Kafka's errors.

Usage: python -m scripts.client_errors FOLDER

FOLDER contains the clients' declarations:

- `java-*.tsv`: printed by `Errors.java` with a release's jars on the class path (kafka-clients, kafka-streams,
  connect-api, connect-runtime, slf4j-api); of several releases the newest text is used, and removed names are kept.
- `kerr.go` of franz-go (pkg/kerr), `sarama.go` (errors.go of Sarama), `segmentio.go` (error.go of kafka-go).
- `kafkajs.js`: src/protocol/error.js of KafkaJS.

The names of librdkafka, kafka-python, and aiokafka are read from the installed packages. Columns: client, code (empty
or below -1 for an error that the client itself raises), name, text, parents (superclasses, Java only).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).resolve().parents[2] / "eosctl" / "knowledge" / "reference" / "client_errors.tsv"


class Row(NamedTuple):
    """A name of an error in a client."""

    client: str
    code: str
    name: str
    text: str = ""
    parents: str = ""


def main(arguments: list[str]) -> int:
    """Write the table."""
    folder = Path(arguments[0])
    rows = [
        *_java(sorted(folder.glob("java-*.tsv"))),
        *_librdkafka(),
        *_python("kafka-python", "kafka.errors"),
        *_python("aiokafka", "aiokafka.errors"),
        *_franz_go((folder / "kerr.go").read_text("utf-8")),
        *_sarama((folder / "sarama.go").read_text("utf-8")),
        *_segmentio((folder / "segmentio.go").read_text("utf-8")),
        *_kafkajs((folder / "kafkajs.js").read_text("utf-8")),
    ]
    lines = ["\t".join(" ".join(cell.split()) for cell in row).rstrip() for row in rows]
    TABLE.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    return 0


def _java(paths: list[Path]) -> Iterator[Row]:
    rows: dict[str, Row] = {}
    parents: dict[str, str] = {}
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            kind, *cells = line.split("\t")
            if kind == "class":
                parents[cells[0]] = cells[1]
                continue
            code, name, type_name, text = cells
            if code != "0":
                rows[name] = Row("kafka", code, name, text)
                if type_name:
                    rows[type_name] = Row("java", code, type_name, text)
    for name, chain in sorted(parents.items()):
        known = rows.get(name, Row("java", "", name))
        rows[name] = known._replace(parents=chain)
    yield from rows.values()


def _librdkafka() -> Iterator[Row]:
    from confluent_kafka import KafkaError

    for code in range(-200, 200):
        error = KafkaError(code)
        name = error.name()
        if name and code and not name.startswith("ERR_") and "?" not in name:
            yield Row("librdkafka", str(code), name, error.str())


def _python(client: str, module: str) -> Iterator[Row]:
    from importlib import import_module

    for error in vars(import_module(module)).values():
        if isinstance(error, type) and issubclass(error, Exception) and error.__module__ == module:
            code = getattr(error, "errno", None)
            if code != 0:
                text = getattr(error, "description", "") if isinstance(code, int) else ""
                yield Row(client, str(code) if isinstance(code, int) else "", error.__name__, text or "")


def _franz_go(text: str) -> Iterator[Row]:
    for name, code, message in re.findall(r'&Error\{"(\w+)", (-?\d+), \w+, "([^"]*)"', text):
        yield Row("franz-go", code, name, message)


def _sarama(text: str) -> Iterator[Row]:
    codes = dict(re.findall(r"(Err\w+)\s+KError = (-?\d+)", text))
    for name, message in re.findall(r'case (Err\w+):\s+return "([^"]*)"', text):
        if codes.get(name, "0") != "0":
            yield Row("sarama", codes[name], name, message)
    for name, message in re.findall(r'var (Err\w+) = errors\.New\("([^"]*)"\)', text):
        yield Row("sarama", "", name, message)


def _segmentio(text: str) -> Iterator[Row]:
    codes = dict(re.findall(r"^\t(\w+)\s+Error = (-?\d+)", text, re.MULTILINE))
    titles, _, descriptions = text.partition("func (e Error) Description")
    found = dict(re.findall(r'case (\w+):\s+return "([^"]*)"', descriptions))
    for name, title in re.findall(r'case (\w+):\s+return "([^"]*)"', titles):
        if name in codes:
            yield Row("segmentio", codes[name], title, found.get(name, ""))


def _kafkajs(text: str) -> Iterator[Row]:
    pattern = r"type: '(\w+)',\s+code: (-?\d+),\s+retriable: \w+,\s+message:\s+(?:'((?:[^'\\]|\\.)*)'|\"([^\"]*)\")"
    for name, code, single, double in re.findall(pattern, text):
        yield Row("kafkajs", code, name, single or double)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
