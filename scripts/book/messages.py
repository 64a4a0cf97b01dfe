"""Every error message of the product, read from its source: what, why, next step, and exit code.

A message is a call of `EosctlError` or a subclass. Texts are shown as templates with insertions in braces.
`tests/architecture/test_messages.py` checks their rules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from eosctl.errors import ExitCode
from scripts.book.cells import cell, code

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("eosctl", "spark_log_analytics")
PARTS = ("what", "why", "next_step")
BASE = "EosctlError"
EXIT_CODES = {1: "The operation failed", 2: "The command line or an input makes no sense", 4: "Evidence is missing"}


class Message(NamedTuple):
    """A place in the source that raises an error.

    Attributes:
        path: The module, relative to the project's root.
        line: The line.
        kind: The class of the error.
        what: Template of the first part; None if it is computed elsewhere.
        why: Template of the second part; empty without one.
        next_step: Template of the third part; empty without one.
    """

    path: str
    line: int
    kind: str
    what: str | None
    why: str | None
    next_step: str | None


class Kind(NamedTuple):
    """A class of errors: its base, and the exit code that it sets itself."""

    base: str
    exit_code: int | None


def syntax_trees(root: Path = ROOT) -> dict[str, ast.Module]:
    """Return the syntax trees of the product's modules that mention errors, by path, except the generated codec."""
    texts = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
        if "messages" not in path.parts
    }
    # Search the text first, since parsing every module takes seconds.
    names = {BASE}
    inherits = {
        (own, base) for text in texts.values() for own, base in re.findall(r"^class (\w+)\((\w+)\)", text, re.M)
    }
    while more := {own for own, base in inherits if base in names} - names:
        names |= more
    known = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    return {path: ast.parse(text) for path, text in texts.items() if known.search(text)}


def error_kinds(trees: dict[str, ast.Module]) -> dict[str, Kind]:
    """Return every direct or indirect subclass of EosctlError."""
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {BASE: Kind("", 1)}
    while more := {
        node.name: Kind(ast.unparse(base), own_exit_code(node))
        for node in classes
        for base in node.bases
        if node.name not in found and ast.unparse(base) in found and takes_three_parts(node)
    }:
        found |= more
    return found


def takes_three_parts(node: ast.ClassDef) -> bool:
    """Return whether a class is called like its base; one with other parameters is read where it builds its text."""
    own = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    return not own or [argument.arg for argument in own[0].args.args[1:4]] == list(PARTS)


def own_exit_code(node: ast.ClassDef) -> int | None:
    """Return the exit code set in a class body, as a member of `ExitCode`."""
    for statement in node.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "exit_code":
            return ExitCode[ast.unparse(statement.value).removeprefix("ExitCode.")].value
    return None


def exit_code_of(kind: str, kinds: dict[str, Kind]) -> int:
    """Return the exit code of a class, its own or inherited."""
    own = kinds[kind].exit_code
    return own if own is not None else exit_code_of(kinds[kind].base, kinds)


def messages_in(path: str, tree: ast.Module, kinds: dict[str, Kind]) -> Iterator[Message]:
    """Yield the messages of a module in line order."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda call: call.lineno):
        kind = node.func.id if isinstance(node.func, ast.Name) else ""
        if kind not in kinds or any(isinstance(argument, ast.Starred) for argument in node.args):
            continue
        given = dict(zip(PARTS, node.args, strict=False))
        given |= {word.arg: word.value for word in node.keywords if word.arg in PARTS}
        texts = [template(given[part]) if part in given else "" for part in PARTS]
        yield Message(path, node.lineno, kind, *texts)


def template(node: ast.expr) -> str | None:
    """Return a text with its insertions in braces; None if it is computed as a whole."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(template(value) or "" for value in values)
        case ast.FormattedValue(value=value):
            return "{" + ast.unparse(value).rpartition(".")[2].partition("(")[0] + "}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [template(left), template(right)]
            return None if parts == [None, None] else "".join("{...}" if part is None else part for part in parts)
        case _:
            return None


@cache
def all_messages() -> tuple[list[Message], dict[str, Kind]]:
    """Return every message of the product, and all classes of errors."""
    trees = syntax_trees()
    kinds = error_kinds(trees)
    return [message for path, tree in trees.items() for message in messages_in(path, tree, kinds)], kinds


def messages_page() -> str:
    """Return the page."""
    found, kinds = all_messages()
    lines = [
        "# Error messages\n",
        "An error says what happened, why, and what to do next; with `-o json` it is an object (`eosctl schema",
        "error`). What a message fills in stands in braces. Messages that pass on what a broker, a parser or the",
        "system said are not in the list, as they have no text of their own.\n",
    ]
    for exit_code, title in EXIT_CODES.items():
        of_code = {
            (message.what, message.why or "", message.next_step or "")
            for message in found
            if message.what and exit_code_of(message.kind, kinds) == exit_code
        }
        lines += [f"## Exit code {exit_code}: {title.lower()}\n", "| What | Why | Next |", "|---|---|---|"]
        lines += [f"| {' | '.join(_shown(text) for text in row)} |" for row in sorted(of_code)]
        lines += [""]
    return "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    return re.sub(r"\{[^}]*\}", lambda insertion: code(insertion[0]), cell(" ".join(text.split())))
