"""Find the texts that people read in a file of the project.

Code spans (between backquotes) and fenced blocks are left out: they quote commands, settings, and output.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r"^( *)(```|~~~).*?^ *\2 *$", re.MULTILINE | re.DOTALL)
_SPAN: Final = re.compile(r"``[^`]*``|`[^`\n]*`")
#: A number sign in a string begins no comment. Python's own tokenizer finds the same comments, more slowly.
_COMMENT_OR_STRING: Final = re.compile(
    r"""(?P<comment>\#[^\n]*)|(?P<quotes>\"{3}|'{3}|["'])(?:[^\\]|\\.)*?(?P=quotes)""", re.DOTALL
)
_WITH_NAMES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.Name)
_WHOLE: Final = frozenset({".md", ".yaml", ".yml", ".toml", ".j2", ".properties", ".java", ".sh", ""})


class Text(NamedTuple):
    """A text and the line of the file on which it starts."""

    line: int
    text: str


def texts_of(path: Path, *, literals: bool) -> list[Text]:
    """Return the texts of a file, without code in them; nothing for a kind of file that has no prose.

    Args:
        path: The file; its suffix decides how it is read.
        literals: Whether the string literals and variables of a Python file count: those of the product do, those of
            tests do not.
    """
    if path.suffix not in (".py", *_WHOLE):
        return []
    source = path.read_text("utf-8")
    found = _python(source, literals) if path.suffix == ".py" else [Text(1, source)]
    return [Text(line, _without_code(text)) for line, text in found]


def _without_code(text: str) -> str:
    """Blank out code, and keep every line break."""
    for pattern in (_FENCE, _SPAN) if "`" in text or "~~~" in text else ():
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def _python(source: str, literals: bool) -> Iterator[Text]:
    tree = ast.parse(source)
    comment, last, line, end = "", 0, 1, 0
    for match in _COMMENT_OR_STRING.finditer(source):
        if match["comment"] is None:
            continue
        line, end = line + source.count("\n", end, match.start()), match.start()
        words = match["comment"].lstrip("#: ")
        if comment and line != last + 1:
            yield Text(last - comment.count("\n"), comment)
            comment = ""
        comment, last = f"{comment}\n{words}" if comment else words, line
    if comment:
        yield Text(last - comment.count("\n"), comment)
    taken: set[int] = set()  # parts of an f-string and docstrings, which are not literals of their own
    for node in ast.walk(tree):
        if isinstance(node, _WITH_NAMES):
            if name := _name(node, literals):
                yield Text(node.lineno, name)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            taken.add(id(node.value))
            yield Text(node.lineno, node.value.value)
        elif isinstance(node, ast.JoinedStr):
            taken |= {id(part) for part in node.values}
            if literals:
                yield Text(node.lineno, "".join(_part(part) for part in node.values))
        elif literals and isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in taken:
            yield Text(node.lineno, node.value)


def _part(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"


def _name(node: ast.AST, literals: bool) -> str:
    """Return the words of a definition's name; a variable counts where it is assigned, and if it is a single word."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name.replace("_", " ")
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) if literals:
            return name
    return ""
