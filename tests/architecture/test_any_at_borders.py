"""Public functions and fields of the sandbox's APIs, its coordinators, and the codec name their types: no `Any`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDERS = ("eosctl/sandbox/api", "eosctl/sandbox/coordinator", "eosctl/wire")
NOT_WRITTEN = ("eosctl/wire/generated/", "eosctl/wire/messages/")


def public_any(tree: ast.Module) -> Iterator[str]:
    """Yield each public function, method, and field of a module whose annotation names `Any`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (f"{node.name}.{name}" for name in _named(node.body))
        else:
            yield from _named([node])


def _named(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                arguments = node.args
                given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                given += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
                annotations = [*(one.annotation for one in given), node.returns]
            case ast.AnnAssign(target=ast.Name(id=name)):
                annotations = [node.annotation]
            case _:
                continue
        if not name.startswith("_") and any(map(_names_any, annotations)):
            yield name


def _names_any(annotation: ast.expr | None) -> bool:
    nodes = [] if annotation is None else list(ast.walk(annotation))
    return any(isinstance(node, ast.Name) and node.id == "Any" for node in nodes)


def found(root: Path) -> set[str]:
    """Return the places of the folders as ``file: name``."""
    return {
        f"{path.relative_to(root).as_posix()}: {name}"
        for folder in FOLDERS
        for path in (root / folder).rglob("*.py")
        if not path.relative_to(root).as_posix().startswith(NOT_WRITTEN)
        for name in public_any(ast.parse(path.read_text("utf-8")))
    }


def test_public_functions_name_their_types(project_root: Path) -> None:
    assert found(project_root) == set()


@pytest.mark.parametrize(
    "planted",
    [
        "def encode(value: Any) -> bytes: ...",
        "def decode(data: bytes) -> dict[str, Any]: ...",
        "class Record(NamedTuple):\n    value: Any | None",
        "class Coordinator:\n    def reply(self, *, response: Any) -> None: ...",
    ],
)
def test_a_planted_any_is_seen(planted: str) -> None:
    assert len(list(public_any(ast.parse(planted)))) == 1


@pytest.mark.parametrize("innocent", ["def _answered(response: Any) -> None: ...", "def encode(value: Struct): ..."])
def test_private_functions_and_named_types_are_not(innocent: str) -> None:
    assert list(public_any(ast.parse(innocent))) == []
