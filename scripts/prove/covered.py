"""The code that a test covers, and its digest: a result holds as long as the digest is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Final

from scripts.import_cycles import import_graph, module_name

PACKAGES: Final = ("eosctl", "spark_log_analytics", "config_profiles", "tests", "scripts")
OF_TESTS: Final = ("tests", "scripts")
#: Everything of the product runs behind the assembled program: it imports its commands and checks by name.
PROGRAM: Final = "eosctl.cli"
#: Decide which libraries a test runs with, and how.
ALWAYS: Final = ("pyproject.toml",)
#: The codec is generated from these tables and imported by name.
MESSAGE_TABLES: Final = "eosctl/wire/schema"


def covered_digests(root: Path, tests: Iterable[str]) -> dict[str, str]:
    """Return a digest for each test file, of the file and of everything that it imports, with the data next to it."""
    graph = import_graph(root, PACKAGES)
    return {test: _digest(root, covered_files(root, test, graph)) for test in set(tests)}


def own_digests(root: Path, tests: Iterable[str]) -> dict[str, str]:
    """Return a digest for each test file, of the file and of the tests' code that it imports, without the product."""
    graph = import_graph(root, PACKAGES)
    return {
        test: _digest(
            root, (one for one in covered_files(root, test, graph) if one.relative_to(root).parts[0] in OF_TESTS)
        )
        for test in set(tests)
    }


def covered_files(root: Path, test: str, graph: Mapping[str, Set[str]]) -> frozenset[Path]:
    """Return the test, its conftest files, what these import over any number of modules, and their data."""
    start = {module_name(Path(test))}
    for folder in Path(test).parents:
        start.add(module_name(folder / "conftest.py"))
    reached: set[str] = set()
    pending = [name for name in start if name in graph]
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            packages = [part for part in _packages(name) if part in graph]
            program = [one for one in graph if one.startswith("eosctl.")] if name == PROGRAM else []
            pending += [*graph[name], *packages, *program]
    modules = [_path(root, name) for name in reached]
    folders = {path.parent for path in modules}
    data = {
        one
        for folder in folders | {below for path in folders for below in path.iterdir() if _is_data(below)}
        for one in folder.iterdir()
        if one.is_file() and one.suffix not in {".py", ".pyc", ".so"}
    }
    data |= set((root / MESSAGE_TABLES).rglob("*.msg"))
    always = {root / name for name in ALWAYS if (root / name).exists()}
    return frozenset(modules) | data | always


def _digest(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def _packages(name: str) -> Iterator[str]:
    parts = name.split(".")
    for count in range(1, len(parts)):
        yield ".".join(parts[:count])


def _path(root: Path, name: str) -> Path:
    path = root.joinpath(*name.split("."))
    module = path.with_name(f"{path.name}.py")
    return module if module.exists() else path / "__init__.py"


def _is_data(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.glob("*.py*"))
