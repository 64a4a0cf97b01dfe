"""Constructors name their values if there are more than five; modules that run for every record are exempt."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST_POSITIONS = 5
PACKAGES = ("eosctl", "spark_log_analytics")
#: Further modules whose calls keep positions, with the reason; compiled modules do, too.
EXEMPT = {
    "eosctl/logs/carriers/structured.py": "runs for every record",
    "eosctl/logs/records/scanner.py": "runs for every record",
    "eosctl/storage/producer_replay.py": "runs for every batch",
    "eosctl/wire/codec.py": "the parts of a generated codec, in its order",
    "eosctl/wire/records/legacy.py": "runs for every batch",
    "eosctl/wire/schema/table.py": "the columns of a line of a table, in their order",
    "spark_log_analytics/kafka_data/coordinator.py": "runs for every record",
    "spark_log_analytics/kafka_data/partition.py": "runs for every record",
}


def long_calls(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each constructor that is called with too many positions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONS:
            called = ast.unparse(node.func).rpartition(".")[2]
            if called[:1].isupper():
                yield node.lineno, called


def compiled(root: Path) -> set[str]:
    names = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["eosctl"]["compiled-modules"]
    return {f"{name.replace('.', '/')}.py" for name in names}


@pytest.mark.quick
def test_long_constructors_name_their_values(project_root: Path) -> None:
    exempt = EXEMPT.keys() | compiled(project_root)
    found = [
        f"{name}:{line}: {called}"
        for package in PACKAGES
        for path in sorted((project_root / package).rglob("*.py"))
        if (name := path.relative_to(project_root).as_posix()) not in exempt and "/generated/" not in name
        for line, called in long_calls(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("name", sorted(EXEMPT))
def test_an_exempt_module_needs_its_exemption(name: str, project_root: Path) -> None:
    assert list(long_calls((project_root / name).read_text("utf-8")))


def test_a_long_constructor_is_seen() -> None:
    assert list(long_calls("plan = model.Plan(1, 2, 3, 4, 5, 6)")) == [(1, "Plan")]
    assert list(long_calls("plan = model.Plan(1, 2, 3, 4, 5, last=6)")) == []
