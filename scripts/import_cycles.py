"""List import cycles among the files of the product, lazy and TYPE_CHECKING imports included.

    python -m scripts.import_cycles [DIRECTORY]

The exit status is 1 when a cycle exists.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGES = ("eosctl", "spark_log_analytics")


def import_graph(root: Path, packages: Sequence[str] = PACKAGES) -> dict[str, frozenset[str]]:
    """Return the imports of each module of the packages, anywhere in the file."""
    paths = {module_name(path.relative_to(root)): path for name in packages for path in (root / name).rglob("*.py")}
    return {module: frozenset(_imported(path, paths)) - {module} for module, path in paths.items()}


def find_cycle(graph: Mapping[str, Set[str]]) -> tuple[str, ...]:
    """Return the modules of a cycle in order, with the first one again at the end; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))
    return ()


def module_name(path: Path) -> str:
    """Return the name of the module in a file."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module


def main() -> int:
    """Print a cycle, if any."""
    cycle = find_cycle(import_graph(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    sys.stdout.write("\n  -> ".join(cycle) + "\n" if cycle else "No import cycle.\n")
    return 1 if cycle else 0


if __name__ == "__main__":
    sys.exit(main())
