"""Sources with one inverted comparison."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
INVERSE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(NamedTuple):
    """A module's source with one inverted comparison."""

    path: Path
    line: int
    tree: ast.Module

    def load(self, name: str) -> Any:
        """Return the object of the module with a name."""
        module = ModuleType(name)
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)
        return getattr(module, name)


def mutants(path: Path, source: str) -> Iterator[Mutant]:
    """Yield a mutant for each comparison of a source."""
    places = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)]
    for number, place in enumerate(places):
        for operand, operator in enumerate(place.ops):
            tree = ast.parse(source)
            twin = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)][number]
            twin.ops[operand] = INVERSE[type(operator)]()
            yield Mutant(path, place.lineno, ast.fix_missing_locations(tree))


def survives(mutant: Mutant, name: str, meets_all_cases: Callable[[Any], bool]) -> bool:
    """Return whether all cases have the same results with the mutant."""
    try:
        return meets_all_cases(mutant.load(name))
    except Exception:  # noqa: BLE001 - a mutant may fail in any way; each counts as noticed
        return False
