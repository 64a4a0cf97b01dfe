"""The lines of Kafka's own tools that eosctl prints have options and commands that these tools have.

`python -m scripts.absorb.tools RELEASE` writes the tables from the help of each tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
TABLES: Final = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "tests/fixtures/tools").glob("*.json")
}
NEWEST: Final = "4.4.0"
_LINE: Final = re.compile(r"(kafka-[a-z-]+\.sh)([^\n`\"']*)")
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][A-Za-z.-]+[A-Za-z]")
_END: Final = re.compile(r"[;,.)](?:\s|$)|\s(?:#|and|or|lists|of)\s")


def printed() -> Iterator[tuple[str, str, str]]:
    """Yield the places in eosctl that name a tool, with the tool and what follows it on the line."""
    for path in sorted((ROOT / "eosctl").rglob("*")):
        if path.suffix in {".py", ".yaml", ".toml"} and path.is_file():
            for found in _LINE.finditer(path.read_text("utf-8")):
                yield str(path.relative_to(ROOT)), found[1], _END.split(found[2])[0]


def unknown(table: dict[str, dict[str, list[str]]], tool: str, line: str) -> list[str]:
    """Return the options of a line that its tool does not have, in any command that the line names."""
    commands = table[tool]
    named = [word for word in line.split() if word in commands]
    known = {option.rstrip("=") for command in ("", *(named or commands)) for option in commands[command]}
    return [option for option in _OPTION.findall(line) if option not in known]


def test_printed_options_exist_in_the_newest_release() -> None:
    table = TABLES[NEWEST]
    lines = [(place, tool, line) for place, tool, line in printed() if tool in table]
    assert len([line for _, _, line in lines if "--" in line]) > 20
    assert {(place, tool, tuple(bad)) for place, tool, line in lines if (bad := unknown(table, tool, line))} == set()


@pytest.mark.parametrize("release", TABLES)
def test_a_line_with_an_option_of_another_command_is_found(release: str) -> None:
    table = TABLES[release]
    abort = " --bootstrap-server b abort --topic t --partition 0 --start-offset 3"
    assert unknown(table, "kafka-transactions.sh", abort) == []
    assert unknown(table, "kafka-transactions.sh", f"{abort} --max-transaction-timeout 0") == [
        "--max-transaction-timeout"
    ]
    assert unknown(table, "kafka-topics.sh", " --describe --zookeeper z") == ["--zookeeper"]


def test_options_that_a_release_added() -> None:
    """4.x names the release of features by --release-version, and has a table of versions."""
    assert "version-mapping" in TABLES["4.4.0"]["kafka-features.sh"]
    assert "--under-replicated-partitions" in TABLES["4.4.0"]["kafka-topics.sh"][""]
    assert "--transactional-id-pattern=" in TABLES["4.4.0"]["kafka-transactions.sh"]["list"]
    assert "--transactional-id-pattern=" not in TABLES["3.9.2"]["kafka-transactions.sh"]["list"]
