"""Text reaches a standard stream only behind the function that writes hidden characters out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

#: They make text inert: of remarks, of pages, of lines, and of JSON.
ESCAPING = {"visible", "lines_text", "utf8_text", "render_event", "render_failure", "get_help"}
#: What they write is the program's own, or that of a program that they start.
OWN = {
    "eosctl/cli.py": "its version, and a closed stream",
    "eosctl/command_line/former_options.py": "names of options",
    "eosctl/commands/demo.py": "the output of eosctl's own commands",
    "eosctl/commands/logs/warmup.py": "a path in the user's folder for caches",
    "eosctl/render/live.py": "pages, which `render_page` made inert",
}
#: Programs of their own, which clients and the demonstration run.
PROGRAMS = ("lab/verify/drivers", "demo/programs")


def unescaped_writes(source: str) -> Iterator[str]:
    """Yield the uses of a standard stream's `write` without an escaping function in the argument."""
    tree = ast.parse(source)
    calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or ast.unparse(node) not in ("sys.stdout.write", "sys.stderr.write"):
            continue
        call = calls.get(node)
        inner = () if call is None else (one for argument in call.args for one in ast.walk(argument))
        names = {ast.unparse(one).rpartition(".")[2] for one in inner if isinstance(one, ast.Name | ast.Attribute)}
        if not names & ESCAPING:
            yield ast.unparse(node if call is None else call)


def test_streams_receive_inert_text(project_root: Path) -> None:
    found = {
        (str(path.relative_to(project_root)), text)
        for path in (project_root / "eosctl").rglob("*.py")
        if not any(part in str(path) for part in PROGRAMS)
        for text in unescaped_writes(path.read_text("utf-8"))
    }
    assert {one for one in found if one[0] not in OWN} == set()
    assert {file for file, _ in found} == OWN.keys()


@pytest.mark.parametrize("planted", ["sys.stderr.write(prompt)", "dump(files, sys.stderr.write)"])
def test_an_unescaped_write_is_found(planted: str) -> None:
    assert len(list(unescaped_writes(planted))) == 1
    assert list(unescaped_writes("sys.stderr.write(visible(prompt))")) == []
