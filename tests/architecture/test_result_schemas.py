"""Every list that a command prints as JSON has a schema in the documentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from eosctl.render.schemas import SHAPES

#: The functions that put a result into its envelope; the name of its schema is the first argument.
ENVELOPES = ("emit_list", "judged_listing", "listing")


def shape_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of schemas that a module prints, where they are written as texts."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ENVELOPES:
            name: ast.expr | None = node.args[0]
            if isinstance(name, ast.Name):
                name = constants.get(name.id)
            if isinstance(name, ast.Tuple):
                name = name.elts[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value


def test_every_list_that_is_printed_has_a_schema(project_root: Path) -> None:
    printed = {
        name
        for folder in ("commands", "render")
        for path in (project_root / "eosctl" / folder).rglob("*.py")
        for name in shape_names(ast.parse(path.read_text("utf-8")))
    }
    assert len(printed) > 30
    assert printed - SHAPES.keys() == set()


def test_a_planted_name_is_seen() -> None:
    planted = 'STATES = ("group-states", "states")\nemit_list(STATES, items)\nlisting("others", "command", 0, items)'
    assert list(shape_names(ast.parse(planted))) == ["group-states", "others"]
